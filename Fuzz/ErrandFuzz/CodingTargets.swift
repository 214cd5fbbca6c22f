@testable import ErrandCore
@testable import ErrandHTTP
@testable import ErrandCurl
@testable import ErrandDecoding
import Foundation

/// Bodies with a content coding, through the body that the transport uses.
enum CodingTargets {
  private static let limit = 64 << 10
  private static let origin = HTTPURL.Origin(scheme: .http, host: "h.example", port: 80)
  // Like the transport's: one for its thread.
  nonisolated(unsafe) private static let scratch = UnsafeMutableRawBufferPointer.allocate(  // one thread only
    byteCount: 16 << 10, alignment: 16)

  /// The first byte says in pieces of which size the rest comes: that must make no difference.
  static func decode(_ input: FuzzInput, _ coding: String) {
    guard let (choice, rest) = input.choice else { return }
    let whole = decoded(rest.bytes, coding, piece: max(rest.bytes.count, 1))
    check(whole.count <= limit, "the limit on decoded bytes holds")
    let pieces = decoded(rest.bytes, coding, piece: Int(choice & 0x3F) + 1)
    check(pieces.isWhole == whole.isWhole, "the size of pieces makes no difference")
    if whole.isWhole { check(pieces.data == whole.data, "the size of pieces makes no difference to the bytes") }
  }

  private static func decoded(
    _ bytes: UnsafeRawBufferPointer, _ coding: String, piece: Int
  ) -> (data: Data, count: Int, isWhole: Bool) {
    guard
      var body = try? CurlBody(
        framing: .untilClose, contentEncoding: coding, destination: .memory(limit: limit), limits: ResponseLimits(),
        scratch: scratch)
    else { fatalError("no decoder for \(coding)") }
    var isWhole = true
    do {
      var start = 0
      while start < bytes.count {
        let end = min(start + piece, bytes.count)
        var budget = DecodingBudget()
        while try !body.take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), &budget) {
          check(body.isOutOfBudget, "memory never pauses")
          budget = DecodingBudget()
        }
        start = end
      }
      try body.finish(from: origin)
      check(body.wireBytes == bytes.count, "every byte is counted")
    } catch {
      isWhole = false
    }
    let data = body.takeMemory()
    return (data, data.count, isWhole)
  }

  /// The value of `Content-Encoding`.
  static func names(_ input: FuzzInput) {
    _ = try? ContentCoding.decoder(for: input.text)
  }
}
