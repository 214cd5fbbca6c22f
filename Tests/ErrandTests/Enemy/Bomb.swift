import CZlib
import ErrandTesting

/// Coded bodies that are very small on the wire and never end.
enum Bomb {
  /// Every four bytes expand to 128 KiB of zeros (RFC 8878 section 3.1.1.2: blocks of one repeated byte).
  static let zstd = answer(
    "zstd", head: [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38],
    again: (0..<1_024).flatMap { _ in [0x02, 0x00, 0x10, 0x00] as [UInt8] })

  /// Every kilobyte expands to 1 MiB of zeros, in deflate blocks that are independent of each other.
  static let gzip = answer("gzip", head: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF], again: mebibyteDeflated())

  private static func answer(_ coding: String, head: [UInt8], again: [UInt8]) -> LoopbackAnswer {
    LoopbackAnswer([
      .head(status: 200, headers: ["Content-Encoding": coding]), .body(head), .body(again, times: nil),
    ])
  }

  private static func mebibyteDeflated() -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var plain = [UInt8](repeating: 0, count: 1 << 20)
    var coded = [UInt8](repeating: 0, count: 1 << 16)
    let count = plain.withUnsafeMutableBufferPointer { input in
      coded.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        _ = deflate(&stream, Z_FULL_FLUSH)
        return Int(stream.total_out)
      }
    }
    return Array(coded.prefix(count))
  }
}
