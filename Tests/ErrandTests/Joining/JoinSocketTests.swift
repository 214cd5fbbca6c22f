import ErrandSupport
import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Shared exchanges over real sockets.
@Suite(.serialized) struct JoinSocketTests {
  private static let many = isSanitized ? 200 : 1_000

  /// Sends a call many times at once. The server responds when all of them wait.
  private func outcomes(
    _ count: Int, _ client: APIClient, _ gate: Gate,
    _ request: @escaping @Sendable (Int) -> JoinText = { _ in JoinText() }
  ) async -> [Outcome<String>] {
    await withTaskGroup(of: Outcome<String>.self) { group in
      for number in 0..<count { group.addTask { await client.outcome(of: request(number)) } }
      #expect(await eventually(turns: 2_000_000) { client.services.joining.counts.waiting == count })
      gate.open()
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func isIdle(_ client: APIClient) async -> Bool {
    await eventually {
      client.running.isEmpty && client.services.joining.counts == (0, 0) && client.admission == (0, 0)
    }
  }

  @Test func `a thousand equal calls share one exchange`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("value").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let outcomes = await outcomes(Self.many, client, gate)
    #expect(outcomes.count == Self.many && outcomes.allSatisfy { $0.value == "value" })
    #expect(server.requests.count == 1)
    #expect(server.connectionCount == 1)
    #expect(outcomes.filter(\.metrics.isJoined).count == Self.many - 1)
    #expect(await isIdle(client))
  }

  @Test func `shared response is stored once`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("value").setting("Cache-Control", to: "max-age=60").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let outcomes = await outcomes(50, client, gate) { _ in JoinText(cache: .http) }
    #expect(outcomes.allSatisfy { $0.value == "value" })
    #expect(server.requests.count == 1)
    #expect(client.cache?.statistics.stored == 1)
    #expect(await client.cache?.entries().count == 1)
  }

  @Test func `failure reaches a thousand calls`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      LoopbackAnswer([.head(status: 200, headers: ["Content-Length": "5"]), .wait(gate), .reset])
    }
    let client = APIClient(baseURL: server.url)
    let outcomes = await outcomes(Self.many, client, gate)
    #expect(outcomes.allSatisfy { $0.error?.stage == .transport && $0.error?.attempts == 1 })
    #expect(server.requests.count == 1)
    #expect(await isIdle(client))
  }

  @Test func `languages are requested separately`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { .ok($0.headers["Accept-Language"] ?? "none").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let languages = ["de", "en", "zh"]
    let outcomes = await outcomes(30, client, gate) {
      JoinText(headers: ["Accept-Language": .text(languages[$0 % 3])])
    }
    for language in languages { #expect(outcomes.filter { $0.value == language }.count == 10) }
    #expect(server.requests.count == 3)
  }

  @Test func `POSTs are sent separately`() async throws {
    let server = try LoopbackServer { _ in .ok("value") }
    let client = APIClient(baseURL: server.url)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask { #expect(await client.outcome(of: JoinText(method: .post)).metrics.isJoined == false) }
      }
    }
    #expect(server.requests.count == 20)
  }

  @Test func `last leave closes the connection`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let client = APIClient(baseURL: server.url)
    let calls = (0..<10).map { _ in Task { await client.outcome(of: JoinText()) } }
    try await server.request(number: 1)
    #expect(await eventually { client.services.joining.counts.waiting == 10 })
    for call in calls.prefix(9) { call.cancel() }
    for call in calls.prefix(9) { #expect(await call.value.told == "cancelled") }
    #expect(server.openConnectionCount == 1)
    calls[9].cancel()
    #expect(await calls[9].value.told == "cancelled")
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(server.requests.count == 1)
    #expect(await isIdle(client))
  }

  @Test func `caller reads its own write`() async throws {
    let written = Recorded<String>(["old"])
    let gate = Gate()
    let server = try LoopbackServer { request in
      if request.method == "PUT" {
        written.append("new")
        return .status(204)
      }
      let value = written.all.last ?? "none"
      return value == "old" ? .ok(value).held(at: gate) : .ok(value)
    }
    let client = APIClient(baseURL: server.url)
    let before = Task { await client.outcome(of: JoinText()) }
    try await gate.reached()
    #expect(await client.outcome(of: JoinText(method: .put)).error == nil)
    #expect(await client.outcome(of: JoinText()).value == "new")
    gate.open()
    #expect(await before.value.value == "old")
  }

  @Test func `random endings happen once each`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/1" ? .ok("value").dripped(of: .body, every: .milliseconds(1)) : .ok("value")
    }
    let client = APIClient(baseURL: server.url)
    let stages = Locked<[String: Int]>([:])
    var random = SeededNumbers(seed: 1)
    for _ in 0..<max(rounds / 5, 2) {
      let left = Recorded<Int>()
      let ended = Latch()
      for number in 0..<100 {
        let total: TimeLimit = number.isMultiple(of: 3) ? .milliseconds(random.next(below: 21)) : .never
        let request = JoinText(path: "/\(number % 3)", method: number.isMultiple(of: 10) ? .put : .get)
        let call = client.start(outcomeOf: request, on: .inPlace, options: .deadline(total)) { outcome in
          stages.withLock { $0[outcome.told, default: 0] += 1 }
          left.append(number)
          if left.count == 100 { ended.open() }
        }
        if number.isMultiple(of: 4) { call.cancel() }
        if number.isMultiple(of: 7) { Task { call.change(priority: .high) } }
        if number.isMultiple(of: 5) { Task { call.cancel() } }
      }
      await ended.waitStubbornly()
      #expect(Set(left.all).count == 100)
      #expect(await isIdle(client))
    }
    let told = stages.withLock { $0 }
    #expect(Set(told.keys).isSubset(of: ["success", "cancelled", "deadline"]), "\(told)")
    #expect(server.requests.count < told.values.reduce(0, +))
  }
}
