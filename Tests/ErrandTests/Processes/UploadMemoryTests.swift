import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct UploadMemoryTests {
  /// 512 MiB each, or 4 GiB if `ERRAND_SOAK` is set; less for compressed bodies, which are slow. The measured memory is
  /// the growth of the process beyond its peak after a small upload.
  @Test(arguments: ["file", "form", "pieces", "source", "gzip"])
  func `large upload needs constant memory`(mode: String) async throws {
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
