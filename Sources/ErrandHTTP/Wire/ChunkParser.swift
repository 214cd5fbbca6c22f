/// Finds the data in a chunked body (RFC 9112 section 7.1).
///
/// Bare line feeds, blanks before or within a size, and endless extensions and trailers are errors.
package struct ChunkParser {
  /// What stands at the front of the bytes: so many bytes of the body, or of framing.
  package enum Step: Equatable {
    case data(Int)
    case framing(Int)
  }

  private enum State {
    case size, sizeBlanks, extensions, sizeEnd, data, dataEnd, dataEndFeed, trailer, done
  }

  /// The most bytes that all extensions of a body may take.
  package static let extensionLimit = 4096

  private var state = State.size
  private var left: Int64 = 0
  private var digits = 0
  private var extensionBytes = 0
  private var line: [UInt8] = []
  private var trailerBytes = 0
  private let trailerLimit: Int
  private var fields: FieldCollector

  /// Whether bytes came behind the end of the body.
  package private(set) var hasExcess = false

  package init(limits: ResponseLimits) {
    trailerLimit = limits.headBytes
    fields = FieldCollector(limit: limits.fieldCount)
  }

  /// Whether the last chunk and the trailers have come.
  package var isDone: Bool { state == .done }

  /// The trailers, once the body is done.
  package mutating func takeTrailers() -> HTTPFields { fields.take() }

  /// Takes back the end of the last run of data, which comes again.
  package mutating func giveBack(_ count: Int) {
    guard count > 0 else { return }
    left += Int64(count)
    state = .data
  }

  /// Looks at the front of bytes that are not empty.
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
      guard byte == 0x0A else { throw .malformed("the line of a chunk's size does not end with CR LF") }
      digits = 0
      state = left == 0 ? .trailer : .data
    case .dataEnd:
      guard byte == 0x0D else { throw .malformed("a chunk is longer than its size") }
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

  /// Blanks may follow a size, before an extension or the end of the line (RFC 9110 section 5.6.3).
  private mutating func takeBlank(_ byte: UInt8) throws(TransportFailure) {
    switch byte {
    case 0x20, 0x09: try countExtension()
    case 0x0D: state = .sizeEnd
    case 0x3B: state = .extensions
    default: throw .malformed("the size of a chunk is followed by something that is no extension")
    }
  }

  private mutating func countExtension() throws(TransportFailure) {
    extensionBytes += 1
    guard extensionBytes <= Self.extensionLimit else {
      throw .tooLarge("its chunk extensions are longer than \(Self.extensionLimit) bytes")
    }
  }

  private mutating func takeExtension(_ byte: UInt8) throws(TransportFailure) {
    try countExtension()
    if byte == 0x0D {
      state = .sizeEnd
    } else if byte == 0x0A || byte == 0 {
      throw .malformed("a chunk extension holds a control character")
    }
  }

  /// Takes the collected line; true where it is the blank one.
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
      throw .tooLarge("its trailers are longer than \(trailerLimit) bytes")
    }
    line.append(byte)
    guard byte == 0x0A else { return }
    if try takeTrailerLine() { state = .done }
    line.removeAll(keepingCapacity: true)
  }
}
