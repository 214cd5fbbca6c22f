import ErrandCache
import Foundation

/// The length and the checksum of a body. Redis stores both next to the body, to detect damage.
struct BodyChecksum: Sendable, Equatable {
  let length: Int
  let checksum: UInt64

  init(_ body: Data) {
    length = body.count
    checksum = body.withUnsafeBytes { Checksum64.of($0) }
  }

  /// Decodes sixteen bytes: the length and the checksum, eight bytes each, least significant byte first.
  init?(encoded: Data) {
    guard encoded.count == 16 else { return nil }
    let words = encoded.withUnsafeBytes { bytes in
      (0..<2).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
    }
    guard let length = Int(exactly: words[0]) else { return nil }
    self.length = length
    checksum = words[1]
  }

  var encoded: Data {
    var data = Data()
    for word in [UInt64(length), checksum] { withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) } }
    return data
  }
}
