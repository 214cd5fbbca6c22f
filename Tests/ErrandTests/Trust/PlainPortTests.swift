import Errand
import ErrandTesting
import Testing

/// A URL with https for a port that speaks plain HTTP.
struct PlainPortTests {
  @Test(arguments: TrustCarrier.allCases)
  func `https to a plain port is explained`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { _ in .ok() }
    defer { server.stop() }
    let client = APIClient(baseURL: "https" + server.url.dropFirst("http".count))
    let transport = try carrier.transport()
    client.configure { $0.transport = .own(transport) }
    let error = await client.outcome(of: OneOff(.get, "/")).error
    #expect(error?.code == .tls)
    #expect(
      error?.message.contains(
        "does not speak TLS on this port, but probably plain HTTP; use http in the URL, or the port for https") == true)
  }
}
