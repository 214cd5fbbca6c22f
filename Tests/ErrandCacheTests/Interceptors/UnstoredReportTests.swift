import Errand
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// The reports about responses that a store does not keep.
struct UnstoredReportTests {
  @Test func `oversized response is reported unstored`() async throws {
    let large = String(repeating: "x", count: 100_000)
    let fixture = CacheFixture(store: MemoryStore(limit: 1 << 20)) { request, _ in
      .text(request.url.path == "/large" ? large : "small")
    }
    let response = try await fixture.client.response(Page(name: "large"))
    #expect(response.metrics.cache?.status == "Errand; fwd=miss; fwd-status=200; detail=missing")
    let small = try await fixture.client.response(Page(name: "small"))
    #expect(small.metrics.cache?.status == "Errand; fwd=miss; fwd-status=200; stored; detail=missing")
    #expect(fixture.client.cache?.statistics.stored == 1)
  }

  @Test func `oversized response may fit the lower tier`() {
    let entry = Sample.entry("/a", body: String(repeating: "x", count: 100_000))
    let memory = MemoryStore(limit: 1 << 20)
    #expect(!memory.takes(entry))
    #expect(TieredStore(memory: memory, base: MemoryStore(limit: 16 << 20)).takes(entry))
    let disk = SQLiteStore(folder: TestFolder().url, limit: 16 << 20)
    #expect(disk.takes(entry))
    #expect(!disk.takes(Sample.entry("/a", body: String(repeating: "x", count: 1 << 20))))
  }

  @Test func `unusable store is reported`() async throws {
    let folder = TestFolder()
    try Data("file".utf8).write(to: folder.url)
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    let fixture = CacheFixture(store: store) { _, _ in .text("new") }
    let response = try await fixture.client.response(Page())
    #expect(response.value == "new" && response.metrics.cache?.miss == .unavailable)
    let reason = "The request was sent to the server: the cache store cannot be used ("
    #expect(response.metrics.cache?.reason.hasPrefix(reason) == true, "\(response.metrics.cache?.reason ?? "")")
    // A pending entry is found until its write fails.
    await store.flush()
    #expect(await fixture.miss() == .unavailable)
  }
}
