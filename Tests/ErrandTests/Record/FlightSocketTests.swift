import Errand
import ErrandEngine
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Decisions of calls over real sockets: shared exchanges, the admission queue, several servers, downloads, connections.
struct FlightSocketTests {
  private typealias Get = FlightFixture.Get

  private func client(_ url: String, _ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: url)
    configuration.record = .ring(calls: 10)
    change(&configuration)
    return APIClient(configuration)
  }

  @Test func `joined call names the other`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("value").held(at: gate) }
    let client = client(server.url)
    let first = client.start(Get(joining: .safe))
    #expect(await eventually { client.services.joining.counts.waiting == 1 })
    let second = client.start(Get(joining: .safe))
    #expect(await eventually { client.services.joining.counts.waiting == 2 })
    gate.open()
    #expect(await eventually { client.flightRecord.calls.count == 2 })
    let joined = try #require(client.flightRecord.call(second.info.id))
    #expect(joined.decisions.contains { $0.decision == .joined(call: first.info.id) })
    #expect(joined.exchanges.count == 1, "the exchange of the other call explains this one, too")
    #expect(try #require(client.flightRecord.call(first.info.id)).decisions.count == 1)
  }

  @Test func `waiting call names who is ahead`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("value").held(at: gate) }
    let client = client(server.url) { $0.admission = AdmissionLimits(perHost: 1) }
    let first = client.start(Get())
    #expect(await eventually { client.admission.running == 1 })
    let second = client.start(Get())
    #expect(await eventually { client.admission.waiting == 1 })
    gate.open()
    #expect(await eventually { client.flightRecord.calls.count == 2 })
    let call = try #require(client.flightRecord.call(second.info.id))
    let sentence = try #require(call.decisions.first).decision.description
    #expect(sentence.hasPrefix("waited "))
    #expect(sentence.hasSuffix(": 1 of 1 places at 127.0.0.1 were taken by call \(first.info.id)"), "\(sentence)")
    #expect(try #require(client.flightRecord.call(first.info.id)).decisions.count == 1)
  }

  @Test func `fail-over names both servers`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try LoopbackServer { _ in .ok("ok") })
    let client = client(first.url) { $0.servers.current.fallbackURLs = [second.url] }
    #expect(try await client.send(Get()) == "ok")
    #expect(client.flightRecord.decisions == ["sent to \(second.url) instead: \(first.url) failed (status 503)"])
  }

  @Test func `hedge names its delay`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.number == 1 ? .ok("slow").held(at: gate) : .ok("fast") }
    let client = client(server.url) {
      $0.retries = RetryPolicy(attempts: 1, hedging: .after(.milliseconds(20)))
    }
    #expect(try await client.send(Get()) == "fast")
    #expect(client.flightRecord.decisions == ["sent a second time in parallel: no response within 20 ms"])
    gate.open()
  }

  @Test func `download names the byte`() async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.record = .ring(calls: 10)
    let fixture = try DownloadFixture(configuration: configuration) { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    _ = try await fixture.send().result.get()
    #expect(
      fixture.client.flightRecord.decisions == [
        "requested the whole file: there is no partial file with a record",
        "resumed the download at byte 1000000 of 3000000",
      ])
  }

  @Test func `second call reuses the connection`() async throws {
    let server = try LoopbackServer { _ in .ok("ok") }
    let client = client(server.url)
    for _ in 0..<2 { _ = try await client.send(Get()) }
    let lines = client.flightRecord.calls.map(\.why)
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("sent by EngineTransport (the transport of the platform) on a new connection to "))
    #expect(lines[1].hasPrefix("sent by EngineTransport (the transport of the platform) on a reused connection to "))
  }

  @Test func `recorded call shows its exchange`() async throws {
    let server = try LoopbackServer { _ in .ok("answer").setting("X-Kind", to: "page") }
    let client = client(server.url) { $0.record = .ring(calls: 2, detail: .everything, bodyLimit: 4) }
    let options = CallOptions(tag: "tagged")
    _ = await client.outcome(of: Get(path: "/a?q=1", method: .post, body: .text("question")), options: options)
    let call = try #require(client.flightRecord.calls.first)
    #expect(call.requestType == "Get" && call.tag == "tagged" && call.attempts == 1)
    #expect(call.url == "\(server.url)/a?q=1" && call.method == .post)
    #expect(call.outcome == .success(status: 200, .network))
    let exchange = try #require(call.exchanges.first)
    #expect(exchange.requestBody == "ques" && exchange.responseBody == "answ")
    #expect(exchange.status == 200 && exchange.responseHeaders.contains { $0.name == "X-Kind" && $0.value == "page" })
    #expect(call.description.hasPrefix("#\(call.number) Get POST \(server.url)/a?q=1 → 200 from network, "))
  }

  @Test func `nothing is recorded by default`() async throws {
    let server = try LoopbackServer { _ in .ok("ok") }
    let client = client(server.url) { $0.record = .off }
    _ = try await client.send(Get())
    #expect(client.flightRecord.calls.isEmpty)
    client.configure { $0.record = .ring(calls: 1) }
    for _ in 0..<2 { _ = try await client.send(Get()) }
    #expect(client.flightRecord.calls.count == 1)
    client.flightRecord.removeAll()
    #expect(client.flightRecord.calls.isEmpty)
  }
}
