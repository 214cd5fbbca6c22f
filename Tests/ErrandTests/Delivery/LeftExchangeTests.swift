import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The metrics of an exchange that a call leaves by a cancel or its deadline, for a separate exchange and for one that
/// other calls may join.
struct LeftExchangeTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path { "/thing" }
  }

  private func client(_ server: LoopbackServer, _ joining: JoinRule) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.overlap.joining = joining
    configuration.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    return APIClient(configuration)
  }

  private func isIdle(_ client: APIClient) async -> Bool {
    await eventually { client.running.isEmpty && client.admission == (0, 0) }
  }

  @Test(arguments: [JoinRule.never, .safe])
  func `deadline measures the running exchange`(joining: JoinRule) async {
    let fixture = AdmissionFixture { $0.overlap.joining = joining }
    let client = fixture.client
    async let outcome = client.outcome(of: AdmissionFixture.Named(name: "a"), options: .deadline(.seconds(5)))
    await fixture.latch.reached()
    fixture.clock.advance(by: .seconds(5))
    let ended = await outcome
    #expect(ended.error?.stage == .deadline && ended.error?.attempts == 1)
    #expect(ended.metrics.attempts == 1 && ended.metrics.exchanges.map(\.total) == [.seconds(5)])
    await fixture.finish()
  }

  @Test(arguments: [JoinRule.never, .safe])
  func `cancel measures the time in the queue`(joining: JoinRule) async {
    let fixture = AdmissionFixture { $0.overlap.joining = joining }
    let client = fixture.client
    await fixture.start("first")
    let second = Task { await client.outcome(of: AdmissionFixture.Named(name: "second")) }
    #expect(await eventually { client.admission == (1, 1) })
    fixture.clock.advance(by: .seconds(3))
    second.cancel()
    let ended = await second.value
    #expect(ended.error?.stage == .cancelled)
    #expect(ended.metrics.queue == .seconds(3))
    #expect(ended.metrics.attempts == 0 && ended.metrics.exchanges.isEmpty)
    await fixture.finish()
  }

  @Test(arguments: [JoinRule.never, .safe])
  func `cancel measures a silent server`(joining: JoinRule) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let client = client(server, joining)
    let task = Task { await client.outcome(of: Get()) }
    try await gate.reached()
    task.cancel()
    let ended = await task.value
    #expect(ended.error?.stage == .cancelled && ended.metrics.exchanges.count == 1)
    let exchange = try #require(ended.metrics.exchanges.first)
    #expect(exchange.queue != nil && exchange.connect != nil && exchange.isConnectionReused == false)
    #expect(exchange.remoteAddress == "127.0.0.1")
    #expect(exchange.firstByte == nil && exchange.total != nil)
    #expect(await isIdle(client))
    gate.open()
  }

  @Test(arguments: [JoinRule.never, .safe])
  func `cancel measures a started response`(joining: JoinRule) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("whole").stalled(after: 2, until: gate) }
    let client = client(server, joining)
    let progress = ProgressStream(.download)
    let task = Task { await client.outcome(of: Get(), options: CallOptions(accessories: [progress])) }
    for await _ in progress.reports { break }
    task.cancel()
    let ended = await task.value
    #expect(ended.error?.stage == .cancelled && ended.metrics.exchanges.count == 1)
    #expect(ended.metrics.exchanges.first?.firstByte != nil)
    #expect(await isIdle(client))
    gate.open()
  }

  @Test(arguments: [JoinRule.never, .safe])
  func `earlier attempts stay in the metrics`(joining: JoinRule) async throws {
    let gate = Gate()
    let refusals = Recorded(["503"])
    let server = try LoopbackServer { _ in
      refusals.takeFirst() == nil ? .ok("late").held(at: gate) : .status(503, headers: ["Retry-After": "0"])
    }
    let client = client(server, joining)
    let task = Task { await client.outcome(of: Get()) }
    try await gate.reached()
    task.cancel()
    let ended = await task.value
    #expect(ended.error?.stage == .cancelled && ended.metrics.attempts == 2)
    #expect(ended.metrics.exchanges.map { $0.firstByte != nil } == [true, false])
    #expect(ended.metrics.retries.map(\.reason) == [.status(503)])
    #expect(await isIdle(client))
    gate.open()
  }
}
