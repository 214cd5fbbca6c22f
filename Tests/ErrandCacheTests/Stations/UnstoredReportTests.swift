import Errand
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// What is told of answers that a store does not keep.
@Suite struct UnstoredReportTests {
  @Test func `answer that is too large is not stored`() async throws {
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

  @Test func `large answer may lie in the tier below`() {
    let entry = Sample.entry("/a", body: String(repeating: "x", count: 100_000))
    let memory = MemoryStore(limit: 1 << 20)
    #expect(!memory.takes(entry))
    #expect(TieredStore(memory: memory, base: MemoryStore(limit: 16 << 20)).takes(entry))
    let disk = SQLiteStore(folder: TestFolder().url, limit: 16 << 20)
    #expect(disk.takes(entry))
    #expect(!disk.takes(Sample.entry("/a", body: String(repeating: "x", count: 1 << 20))))
  }

  @Test func `store that cannot be used is told`() async throws {
    let folder = TestFolder()
    try Data("file".utf8).write(to: folder.url)
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    let fixture = CacheFixture(store: store) { _, _ in .text("new") }
    let response = try await fixture.client.response(Page())
    #expect(response.value == "new" && response.metrics.cache?.miss == .unavailable)
    // Until the write has failed, what waits is found.
    await store.flush()
    #expect(await fixture.miss() == .unavailable)
  }
}
