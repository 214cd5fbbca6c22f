import Errand
import ErrandHTTP
import ErrandTesting
import Testing

/// Tests that a scripted transport can be chosen by its name.
struct ScriptedNameTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path { "/words" }
  }

  @Test func `registered name selects scripted transport`() async throws {
    let server = try LoopbackServer { _ in .ok("over a socket") }
    let script = ScriptedTransport { _ in .text("by the script") }
    TransportRegistry.shared.register(ScriptedTransport.name) { script }
    let client = APIClient(baseURL: server.url)
    #expect(try await client.send(Get()) == "over a socket")
    client.configure { $0.transport = .named("scripted") }
    #expect(try await client.send(Get()) == "by the script")
    #expect(server.requests.count == 1 && script.requests.count == 1)
  }
}
