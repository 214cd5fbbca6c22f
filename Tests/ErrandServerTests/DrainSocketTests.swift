import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

#if os(Linux)
  import ErrandEngine
#endif

/// Draining over real sockets.
struct DrainSocketTests {
  private struct Ask: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/\(number)" }
  }

  private struct Stored: APIRequest {
    typealias Response = String
    var path: Path { "/stored" }
    var cache: CachePolicy { .http }
  }

  #if os(Linux)
    /// A client with connections of its own.
    private func client(_ server: LoopbackServer) throws -> APIClient {
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.transport = .own(try EngineTransport(EngineConfiguration()))
      configuration.overlap.joining = .never
      // The calls may need a minute on a slow machine, and after the deadline of draining they have five seconds.
      configuration.timers = ManualClock()
      return APIClient(configuration)
    }

    @Test func `thousand calls end before the connections close`() async throws {
      let gate = Gate()
      let server = try LoopbackServer { .ok($0.path).held(at: gate) }
      let client = try client(server)
      let calls = (0..<1_000).map { number in Task { await client.outcome(of: Ask(number: number)) } }
      #expect(await eventually { client.running.count == 1_000 })
      try await gate.reached(times: 64)
      let drain = Task { await client.drain(within: .seconds(60)) }
      #expect(await eventually { client.isDraining })
      #expect(await client.outcome(of: Ask(number: -1)).error?.code == .draining)
      gate.open()
      for (number, call) in calls.enumerated() { #expect(await call.value.value == "/\(number)") }
      let report = await drain.value
      #expect((report.finished, report.cancelled, report.refused) == (1_000, 0, 1))
      #expect(report.isComplete)
      #expect(server.requests.count == 1_000)
      #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test func `thousand calls are cancelled after the deadline`() async throws {
      let gate = Gate()
      let server = try LoopbackServer { .ok($0.path).held(at: gate) }
      let client = try client(server)
      let calls = (0..<1_000).map { number in Task { await client.outcome(of: Ask(number: number)) } }
      #expect(await eventually { client.running.count == 1_000 })
      try await gate.reached(times: 64)
      let report = await client.drain(within: .zero)
      #expect((report.finished, report.cancelled, report.unfinished) == (0, 1_000, 0))
      for call in calls { #expect(await call.value.error?.code == .cancelled) }
      gate.open()
    }
  #endif

  @Test func `background refresh and its write end`() async throws {
    let gate = Gate()
    let folder = FileManager.default.temporaryDirectory.appending(path: "drain-\(UUID())")
    defer { discardFolder(folder) }
    let server = try LoopbackServer { request in
      let fields: LoopbackHeaders = ["Cache-Control": "max-age=0, stale-while-revalidate=600"]
      return request.number == 1
        ? .text("old", fields: fields) : .text("new", fields: fields).held(at: gate)
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.cache.store = .disk(at: folder)
    // A call waits at most 250 ms for the disk. With a clock that stands still, a slow machine does not matter.
    configuration.timers = ManualClock()
    let client = APIClient(configuration)
    #expect(try await client.send(Stored()) == "old")
    #expect(try await client.send(Stored()) == "old")
    try await gate.reached()
    let drain = Task { await client.drain(within: .seconds(60)) }
    #expect(await eventually { client.isDraining })
    gate.open()
    #expect(await drain.value.isComplete)
    await client.cache?.close()
    configuration.cache.store = .disk(at: folder)
    let next = APIClient(configuration)
    #expect(try await next.send(Stored(), options: .cache(.cacheOnlyAtAnyAge)) == "new")
    await next.cache?.close()
  }
}
