import Errand
import ErrandTesting
import Foundation
import Testing

/// The field `Priority` (RFC 9218), which tells the server the priority of a call.
struct PriorityFieldTests {
  private struct Page: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var priority: CallPriority = .normal
    var headers: RequestHeaders = [:]
  }

  private static let table: [(Page, String?)] = [
    (Page(), nil), (Page(priority: .high), "u=1"), (Page(priority: .low), "u=5"),
    (Page(priority: .high, headers: ["Priority": "u=2, i"]), "u=2, i"), (Page(headers: ["Priority": "i"]), "i"),
  ]

  @Test(arguments: Carrier.allCases) func `priority is sent to the server`(carrier: Carrier) async throws {
    let server = try LoopbackServer { _ in .ok("page") }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server)
    for (page, _) in Self.table { _ = try await client.send(page) }
    #expect(server.requests.map { $0.headers["Priority"] } == Self.table.map(\.1))
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test func `options of the call win`() async throws {
    let bench = ScriptedClient()
    let sent = try await bench.sent(Page(priority: .high), options: CallOptions(priority: .low))
    #expect(sent?.fields.values(of: "Priority") == ["u=5"])
  }

  @Test func `later attempt has the changed priority`() async throws {
    let held = Latch()
    let transport = ScriptedTransport { _ in
      try await held.wait()
      return .status(503)
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.retries = RetryPolicy(attempts: 2, firstDelay: .zero, busyDelay: .zero)
    let client = APIClient(configuration)
    await withCheckedContinuation { continuation in
      let call = client.start(outcomeOf: Page(), on: .inPlace) { _ in continuation.resume() }
      Task {
        await held.reached()
        call.change(priority: .high)
        held.open()
      }
    }
    #expect(transport.requests.map { $0.fields["Priority"] } == [nil, "u=1"])
  }

  @Test func `error shows the sent field`() async {
    let bench = ScriptedClient(answers: [.status(404)])
    let error = await bench.failure(of: Page(priority: .high))
    #expect(error?.request?.fields["Priority"] == "u=1")
  }
}
