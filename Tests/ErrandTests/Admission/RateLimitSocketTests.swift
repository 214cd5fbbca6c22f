import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// The field `RateLimit` over a real socket, with each transport.
struct RateLimitSocketTests {
  private struct Page: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/page/\(number)" }
  }

  @Test(arguments: Carrier.allCases) func `server is not asked beyond its limit`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      .ok(request.path).setting("RateLimit", to: "\"hour\";r=100;t=3600, \"second\";r=0;t=60")
    }
    defer { server.stop() }
    let clock = ManualClock()
    let transport = carrier.transport()
    let client = transport.client(at: server) {
      $0.timers = clock
      $0.admission.rates = [.followingServer("127.0.0.1")]
    }
    #expect(try await client.send(Page(number: 1)) == "/page/1")
    let second = Task { await client.outcome(of: Page(number: 2)) }
    #expect(await eventually { client.admission.waiting == 1 })
    #expect(server.requests.count == 1)
    clock.advance(by: .seconds(60))
    #expect(await second.value.value == "/page/2")
    #expect(server.requests.count == 2)
    transport.expectToHaveCarriedAll(of: server)
  }

  /// A server that keeps the body of `/page/0` open until the gate opens. Other responses end at
  /// once. The texts are the values of `RateLimit`.
  private func server(_ gate: Gate, stream: String, other: String) throws -> LoopbackServer {
    try LoopbackServer { request in
      request.path == "/page/0"
        ? .chunked(["one", "two"]).setting("RateLimit", to: stream).dripped(3, of: .body, through: gate)
        : .ok(request.path).setting("RateLimit", to: other)
    }
  }

  private func client(
    _ server: LoopbackServer, _ carrier: Carrier, _ clock: ManualClock
  ) -> (APIClient, transport: CarrierTransport) {
    let transport = carrier.transport()
    let client = transport.client(at: server) {
      $0.timers = clock
      $0.admission.rates = [.followingServer("127.0.0.1")]
    }
    return (client, transport)
  }

  @Test(arguments: Carrier.allCases) func `headers of a stream limit other calls`(carrier: Carrier) async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try server(gate, stream: "a;r=0;t=30", other: "a;r=9;t=30")
    defer { server.stop() }
    let (client, transport) = client(server, carrier, clock)
    let stream = try await client.stream(Page(number: 0))
    let calls = (1...5).map { number in Task { await client.outcome(of: Page(number: number)) } }
    #expect(await eventually { client.admission.waiting == 5 })
    clock.advance(by: .seconds(30))
    for call in calls { #expect(await call.value.error == nil) }
    clock.advance(by: .seconds(5))
    gate.open()
    for try await _ in stream {}
    #expect(await eventually { client.admission.running == 0 })
    let last = Task { await client.outcome(of: Page(number: 6)) }
    #expect(await eventually { server.requests.count == 7 }, "the end of the stream brings no old numbers back")
    clock.advance(by: .seconds(60))
    #expect(await last.value.error == nil)
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases) func `other policy lifts a distant limit`(carrier: Carrier) async throws {
    let (gate, clock) = (Gate(), ManualClock())
    gate.open()
    let server = try server(gate, stream: "search;r=0;t=3600", other: "core;r=4999;t=60")
    defer { server.stop() }
    let (client, transport) = client(server, carrier, clock)
    _ = try await client.send(Page(number: 0))
    let calls = (1...5).map { number in Task { await client.outcome(of: Page(number: number)) } }
    #expect(await eventually { client.admission.waiting == 5 })
    // The limit counts from the response headers: the real time that the body took is subtracted from the manual clock.
    clock.advance(by: .seconds(5))
    #expect(server.requests.count == 1)
    clock.advance(by: .seconds(5))
    for call in calls { #expect(await call.value.error == nil) }
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases) func `open streams take no requests`(carrier: Carrier) async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try server(gate, stream: "a;r=5;t=30", other: "a;r=1;t=30")
    defer { server.stop() }
    let (client, transport) = client(server, carrier, clock)
    var streams: [ResponseStream] = []
    for _ in 1...3 { streams.append(try await client.stream(Page(number: 0))) }
    for number in 1...3 { #expect(try await client.send(Page(number: number)) == "/page/\(number)") }
    #expect(client.admission.running == 3)
    gate.open()
    for stream in streams { for try await _ in stream {} }
    transport.expectToHaveCarriedAll(of: server)
  }
}
