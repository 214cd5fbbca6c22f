@testable import ErrandCore
import Errand
import ErrandHTTP
import ErrandTesting
import Testing

/// The retry budget of a server that failed, after another server has responded to the same call.
struct FailOverBudgetTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path { "/thing" }
    var overlap: Overlap { Overlap(joining: .never) }
  }

  @Test(arguments: [(200, true), (404, true), (429, false), (500, false)])
  func `only a healthy server refunds the attempt`(status: Int, isRefunded: Bool) async throws {
    let transport = ScriptedTransport { request in
      request.url.host == "first.example" ? .status(503) : .status(status)
    }
    var configuration = ClientConfiguration(baseURL: "http://first.example")
    configuration.servers.current.fallbackURLs = ["http://second.example"]
    configuration.transport = .own(transport)
    configuration.timers = ManualClock()
    let client = APIClient(configuration)
    _ = await client.outcome(of: Get())
    #expect(transport.requests.map(\.url.host) == ["first.example", "second.example"])
    let origin = try HTTPURL("http://first.example").origin
    #expect(client.services.retrying.pay(500, at: origin) == isRefunded, "a full budget has 500 tokens")
  }
}
