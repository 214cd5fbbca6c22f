import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// Admission and the repeat rules over real sockets, with a manual clock.
struct AdmissionSocketTests {
  private struct Ask: APIRequest {
    typealias Response = String
    let name: String
    var path: Path { "/\(name)" }
  }

  private let clock = ManualClock()
  private let told = Recorded<String>()

  private func client(_ server: LoopbackServer, _ limits: AdmissionLimits = AdmissionLimits()) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.admission = limits
    configuration.timers = clock
    configuration.overlap.joining = .never
    return APIClient(configuration)
  }

  /// Starts a call that must wait for its turn.
  private func wait(_ name: String, _ client: APIClient) async -> Call {
    let waiting = client.admission.waiting
    let call = client.start(outcomeOf: Ask(name: name), on: .inPlace) { told.append("\(name) \($0.told)") }
    #expect(await eventually { client.admission.waiting == waiting + 1 })
    return call
  }

  private func isIdle(_ client: APIClient) async -> Bool {
    await eventually { client.registry.running.isEmpty && client.admission == (0, 0) && clock.pending == 0 }
  }

  @Test func `busy host gets no more requests`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/first" ? .status(429, headers: ["Retry-After": "30"]) : .ok(request.path)
    }
    let client = client(server, AdmissionLimits(rates: [HostRate("127.0.0.1", requests: 1, burst: 5)]))
    #expect(await client.outcome(of: Ask(name: "first")).error?.status == 429)
    _ = await wait("second", client)
    // The pause counts from the response headers. The real time that the body took is subtracted from the manual clock,
    // so the end of the pause is not known to the millisecond.
    clock.advance(by: .seconds(20))
    #expect(client.admission == (0, 1))
    #expect(server.requests.map(\.path) == ["/first"])
    clock.advance(by: .seconds(11))
    #expect(await isIdle(client))
    #expect(told.all == ["second success"])
    #expect(server.requests.map(\.path) == ["/first", "/second"])
  }

  @Test func `full queue sends nothing`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { .ok($0.path).held(at: gate) }
    let client = client(server, AdmissionLimits(perHost: 1, waiting: 1))
    async let first = client.outcome(of: Ask(name: "first"))
    try await gate.reached()
    _ = await wait("second", client)
    let error = await client.outcome(of: Ask(name: "third")).error
    #expect(error?.stage == .admission && error?.code == .queueFull)
    gate.open()
    #expect(await first.value == "/first")
    #expect(await isIdle(client))
    #expect(told.all == ["second success"])
    #expect(server.requests.map(\.path) == ["/first", "/second"])
  }

  @Test func `changed priority changes the order`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { .ok($0.path).held(at: gate) }
    let client = client(server, AdmissionLimits(perHost: 1))
    async let first = client.outcome(of: Ask(name: "first"))
    try await gate.reached()
    _ = await wait("second", client)
    let third = await wait("third", client)
    third.change(priority: .high)
    gate.open()
    #expect(await first.value == "/first")
    #expect(await isIdle(client))
    #expect(server.requests.map(\.path) == ["/first", "/third", "/second"])
  }

  @Test func `debounced calls do not reach the server`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { .ok($0.target).held(at: gate) }
    let client = client(server)
    let pause = RepeatRule.debounce(.milliseconds(300))
    for text in ["a", "ab", "abc"] {
      client.start(outcomeOf: RepeatedSearch(text: text, repeats: pause), on: .inPlace) {
        told.append("\(text) \($0.told)")
      }
      #expect(await eventually { clock.pending == 2 }, "the debounce timer and the deadline timer")
      clock.advance(by: .milliseconds(299))
    }
    #expect(await eventually { Set(told.all) == ["a cancelled", "ab cancelled"] })
    #expect(server.requests.isEmpty)
    clock.advance(by: .milliseconds(1))
    try await gate.reached()
    let refused = await client.outcome(of: RepeatedSearch(text: "b", repeats: .ignoreNew)).error
    #expect(refused?.stage == .admission && refused?.code == .repeated)
    gate.open()
    #expect(await isIdle(client))
    #expect(told.count == 3 && told.all.last == "abc success")
    #expect(server.requests.map(\.target) == ["/search?q=abc"])
  }
}
