import CZlib
public import ErrandCore

/// The method by which a request body is compressed while it is sent.
public struct BodyCompression: Sendable, Hashable {
  let level: Int

  /// The format gzip (RFC 1952). Most servers that accept compressed bodies support it.
  public static let gzip = gzip(level: 6)

  /// The format gzip with a level from 1 (fastest) to 9 (smallest). Other levels are clamped to this range.
  public static func gzip(level: Int) -> BodyCompression { BodyCompression(level: min(max(level, 1), 9)) }
}

extension RequestBody {
  /// Returns a body that is compressed while it is sent, with the field `Content-Encoding`. Use it only if the server
  /// is known to accept compressed requests. A client cannot ask the server in advance, and many servers reject such
  /// requests with status 415.
  ///
  /// The compressed length is known in advance only for bodies in memory of up to 16 KiB. Other bodies are sent in
  /// chunks over HTTP/1.1, and their progress counts compressed bytes without a total.
  public func compressed(_ compression: BodyCompression = .gzip) -> RequestBody {
    coded(BodyCoding(name: "gzip") { source in try GzipBodySource(source, level: compression.level) })
  }
}

/// Compresses a request body while it is sent.
///
/// A read that has produced output does not compress another piece of the body. Otherwise one read could block the
/// transport's thread, which also serves other transfers, for a long time.
final class GzipBodySource: BodySource {
  private static let pieceSize = 64 << 10

  private let source: any BodySource
  private let deflater: Deflater
  private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
  private var rest: Range<Int> = 0..<0
  private var hasAll = false
  private var isDone = false

  init(_ source: any BodySource, level: Int) throws {
    self.source = source
    deflater = try Deflater(level: level)
  }

  deinit { piece.deallocate() }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while !isDone, count < room.count {
      if rest.isEmpty, !hasAll {
        if count > 0 { break }
        guard try refill() else { return .later }
      }
      let step = try deflater.deflate(
        UnsafeMutableRawBufferPointer(rebasing: piece[rest]), isLast: hasAll,
        into: UnsafeMutableRawBufferPointer(rebasing: room[count...]))
      rest = (rest.lowerBound + step.used)..<rest.upperBound
      count += step.produced
      isDone = step.isDone
    }
    return count > 0 ? .bytes(count) : .end
  }

  /// Reads the next piece from the source. Returns false if the source has no bytes available now.
  private func refill() throws -> Bool {
    switch try source.read(into: piece) {
    case .bytes(let count): rest = 0..<count
    case .end: hasAll = true
    case .later: return false
    }
    return true
  }
}

/// Compresses pieces of bytes to a gzip stream (RFC 1952).
final class Deflater {
  private let stream: UnsafeMutablePointer<z_stream>

  /// Makes a compressor for one gzip stream.
  /// - Parameter level: The compression level, from 1 (fastest) to 9 (smallest).
  init(level: Int) throws(TransportFailure) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    self.stream = stream
    let size = Int32(MemoryLayout<z_stream>.size)
    let windowBits: Int32 = 15 + 16  // 15 is the largest window; 16 adds the gzip header and trailer.
    let code = deflateInit2_(
      stream, Int32(clamping: level), Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    guard code == Z_OK else {
      throw TransportFailure(.bodySource, "zlib does not have enough memory to compress the body.")
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Compresses bytes from the start of `input` into `output`. Returns the number of bytes read and written, and
  /// whether the stream has ended. The stream can end only if `isLast` is true.
  func deflate(
    _ input: UnsafeMutableRawBufferPointer, isLast: Bool, into output: UnsafeMutableRawBufferPointer
  ) throws(TransportFailure) -> (used: Int, produced: Int, isDone: Bool) {
    stream.pointee.next_in = input.assumingMemoryBound(to: UInt8.self).baseAddress
    stream.pointee.avail_in = UInt32(clamping: input.count)
    stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
    stream.pointee.avail_out = UInt32(clamping: output.count)
    let offered = Int(stream.pointee.avail_in)
    let room = Int(stream.pointee.avail_out)
    let code = CZlib.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
    guard code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END else {
      throw TransportFailure(.bodySource, "zlib failed to compress the body (code \(code)).")
    }
    return (offered - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out), code == Z_STREAM_END)
  }
}
