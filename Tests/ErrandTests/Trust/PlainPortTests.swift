import Errand
import ErrandTesting
import Testing

/// A URL with https for a port that speaks plain HTTP.
@Suite(.timeLimit(.minutes(1))) struct PlainPortTests {
  @Test func `https to a plain port is explained`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    defer { server.stop() }
    let client = APIClient(baseURL: "https" + server.url.dropFirst("http".count))
    client.configure { $0.transport = .own(CurlTransport()) }
    let error = await client.outcome(of: OneOff(.get, "/")).error
    #expect(error?.code == .tls)
    #expect(
      error?.message.contains(
        "does not speak TLS on this port, but probably plain HTTP; use http in the URL, or the port for https") == true)
  }
}
