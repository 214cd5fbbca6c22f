import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct UploadMemoryTests {
  /// 512 MiB each, and 4 GiB where `ERRAND_SOAK` is set; compressed less, since that is slow. The memory is what the
  /// process holds at most beyond what it held after a small upload.
  @Test(arguments: ["file", "form", "pieces", "source", "gzip"])
  func `a great file takes no memory`(mode: String) async throws {
    let isSoaking = ProcessInfo.processInfo.environment["ERRAND_SOAK"] != nil
    let length: UInt64 = mode == "gzip" ? 64 << 20 : isSoaking ? 4 << 30 : 512 << 20
    let folder = try UploadFolder()
    let file = try folder.sparse("f", length)
    let server = try LoopbackServer(.uploads(keeping: 0)) { _ in .ok("taken") }
    let (growth, end) = try await MemoryProbe.run(mode, server.url, file)
    #expect(end == "answer")
    print("\(mode): \(growth >> 10) KiB more")
    if !isSanitized { #expect(growth <= 4 << 20, "\(growth)") }
    let seen = try await server.request(number: 2)
    #expect(mode == "gzip" ? seen.bodyLength > 1_000 : seen.bodyLength >= Int(length))
  }
}
