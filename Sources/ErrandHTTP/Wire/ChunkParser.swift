/// Finds the data in a chunked body (RFC 9112 section 7.1).
///
/// The following are errors: line feeds without CR, spaces or tabs before or within a chunk size, and extensions or
/// trailers that exceed the limits.
package struct ChunkParser {
  /// Says what the first bytes of a buffer are: bytes of the body (`data`), or other bytes of the chunked coding, such
  /// as a chunk size (`framing`). The associated value is the number of these bytes.
  package enum Step: Equatable {
    case data(Int)
    case framing(Int)
  }

  private enum State {
    case size, sizeBlanks, extensions, sizeEnd, data, dataEnd, dataEndFeed, trailer, done
  }

  /// The maximum total length in bytes of all chunk extensions of a body.
  package static let extensionLimit = 4096

  private var state = State.size
  private var left: Int64 = 0
  private var digits = 0
  private var extensionBytes = 0
  private var line: [UInt8] = []
  private var trailerBytes = 0
  private let trailerLimit: Int
  private var fields: FieldCollector

  /// True if bytes arrived after the end of the chunked body.
  package private(set) var hasExcess = false

  package init(limits: ResponseLimits) {
    trailerLimit = limits.headBytes
    fields = FieldCollector(limit: limits.fieldCount)
  }

  /// True if the last chunk and the trailers have arrived, which means that the body is complete.
  package var isDone: Bool { state == .done }

  /// Returns the trailers. They are complete when the body is complete.
  package mutating func takeTrailers() -> HTTPFields { fields.take() }

  /// Takes back the last `count` data bytes, which the caller did not use and passes again later.
  package mutating func giveBack(_ count: Int) {
    guard count > 0 else { return }
    left += Int64(count)
    state = .data
  }

  /// Finds out whether the first bytes of a buffer are data of the body, and returns their number. The buffer must not
  /// be empty.
  package mutating func next(_ bytes: UnsafeRawBufferPointer) throws(TransportFailure) -> Step {
    switch state {
    case .data:
      let count = Int(min(Int64(bytes.count), left))
      left -= Int64(count)
      if left == 0 { state = .dataEnd }
      return .data(count)
    case .done:
      hasExcess = true
      return .framing(bytes.count)
    default:
      var used = 0
      while used < bytes.count, state != .data, state != .done {
        try take(bytes[used])
        used += 1
      }
      return .framing(used)
    }
  }

  private mutating func take(_ byte: UInt8) throws(TransportFailure) {
    switch state {
    case .size: try takeSize(byte)
    case .sizeBlanks: try takeBlank(byte)
    case .extensions: try takeExtension(byte)
    case .sizeEnd:
      guard byte == 0x0A else { throw .malformed("the line with the size of a chunk does not end with CR LF") }
      digits = 0
      state = left == 0 ? .trailer : .data
    case .dataEnd:
      guard byte == 0x0D else { throw .malformed("a chunk has more bytes than its announced size") }
      state = .dataEndFeed
    case .dataEndFeed:
      guard byte == 0x0A else { throw .malformed("a chunk does not end with CR LF") }
      state = .size
    case .trailer: try takeTrailer(byte)
    case .data, .done: break
    }
  }

  private mutating func takeSize(_ byte: UInt8) throws(TransportFailure) {
    if let value = ASCII.hexValue(byte) {
      digits += 1
      guard digits <= 16, left <= Int64.max >> 4 else { throw .malformed("the size of a chunk is too large") }
      left = left << 4 | Int64(value)
      return
    }
    guard digits > 0 else { throw .malformed("a chunk has no size") }
    switch byte {
    case 0x0D: state = .sizeEnd
    case 0x3B: state = .extensions
    case 0x20, 0x09:
      state = .sizeBlanks
      try countExtension()
    default: throw .malformed("the size of a chunk is not a hexadecimal number")
    }
  }

  /// Handles a byte after spaces or tabs that follow a chunk size. Only an extension or the end of the line may follow
  /// these spaces and tabs (RFC 9110 section 5.6.3).
  private mutating func takeBlank(_ byte: UInt8) throws(TransportFailure) {
    switch byte {
    case 0x20, 0x09: try countExtension()
    case 0x0D: state = .sizeEnd
    case 0x3B: state = .extensions
    default: throw .malformed("the size of a chunk is followed by an invalid character")
    }
  }

  private mutating func countExtension() throws(TransportFailure) {
    extensionBytes += 1
    guard extensionBytes <= Self.extensionLimit else {
      throw .tooLarge("the chunk extensions of the body are longer than \(Self.extensionLimit) bytes")
    }
  }

  private mutating func takeExtension(_ byte: UInt8) throws(TransportFailure) {
    try countExtension()
    if byte == 0x0D {
      state = .sizeEnd
    } else if byte == 0x0A || byte == 0 {
      throw .malformed("a chunk extension contains a control character")
    }
  }

  /// Parses the collected trailer line. Returns true if the line is blank, which ends the trailers.
  private mutating func takeTrailerLine() throws(TransportFailure) -> Bool {
    let result = line.withUnsafeBytes { bytes -> Result<Bool, TransportFailure> in
      do throws(TransportFailure) {
        let content = try HeadLine.content(bytes)
        if content.isEmpty { return .success(true) }
        try fields.append(content)
        return .success(false)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private mutating func takeTrailer(_ byte: UInt8) throws(TransportFailure) {
    trailerBytes += 1
    guard trailerBytes <= trailerLimit else {
      throw .tooLarge("the trailers are longer than \(trailerLimit) bytes", raise: "headBytes")
    }
    line.append(byte)
    guard byte == 0x0A else { return }
    if try takeTrailerLine() { state = .done }
    line.removeAll(keepingCapacity: true)
  }
}
