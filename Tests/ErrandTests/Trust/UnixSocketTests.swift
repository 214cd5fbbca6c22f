import Errand
import ErrandHTTP
import Foundation
import Testing

@Suite(.serialized) struct UnixSocketTests {
  private func client(_ socket: String, _ carrier: TrustCarrier, _ base: String = "http://any.example") throws
    -> APIClient
  {
    let transport = try carrier.transport {
      $0.unixSocket = socket
      // Address policies concern IP addresses, and a Unix socket has none.
      $0.addressPolicy = .publicOnly
    }
    return TrustFixture.client(base, transport)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `requests work over a Unix socket`(carrier: TrustCarrier) async throws {
    let client = try client(Servers.address("ERRAND_NGINX_SOCKET"), carrier)
    for _ in 0..<3 { #expect(try await client.send(BytesProbe(path: "/200b")).count == 200) }
    let response = try await client.response(BytesProbe(path: "/empty"))
    #expect(response.status == 204)
    let exchange = try #require(response.metrics.exchanges.last)
    #expect(try exchange.remoteAddress == Servers.address("ERRAND_NGINX_SOCKET") && exchange.remotePort == nil)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `concurrent requests work over a Unix socket`(carrier: TrustCarrier) async throws {
    let client = try client(Servers.address("ERRAND_NGINX_SOCKET"), carrier)
    let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await client.send(BytesProbe(path: "/200b")).count } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sizes == Array(repeating: 200, count: 50))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `TLS over a Unix socket is validated`(carrier: TrustCarrier) async throws {
    let socket = try Servers.address("ERRAND_NGINX_TLS_SOCKET")
    func client(_ base: String, authority: String) throws -> APIClient {
      let transport = try TrustFixture.transport(carrier) { configuration in
        configuration.unixSocket = socket
        configuration.certificateAuthority = .file(path: try TrustFixture.path(authority))
      }
      return TrustFixture.client(base, transport)
    }
    #expect(try await client("https://localhost", authority: "ca.pem").send(BytesProbe(path: "/200b")).count == 200)
    let wrongHost = try await failure(client("https://other.example", authority: "ca.pem"), BytesProbe(path: "/200b"))
    #expect(wrongHost.transportKind == .wrongHost)
    let stranger = try await failure(client("https://localhost", authority: "stranger.pem"), BytesProbe(path: "/200b"))
    #expect(stranger.transportKind == .unknownAuthority)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `missing Unix socket is named`(carrier: TrustCarrier) async throws {
    let error = try await failure(client("/no/such/socket", carrier), BytesProbe(path: "/"))
    #expect(error.transportKind == .refused)
    #expect(error.message.contains("/no/such/socket"))
    #expect((error.cause as? TransportFailure)?.isCertainlyNotSent == true)
    #expect(error.metrics?.exchanges.last?.remoteAddress == nil)
  }

  @Test(
    arguments: ["", "relative.sock", "/" + String(repeating: "x", count: 107), "/with\nline"], TrustCarrier.allCases)
  func `unusable path is refused`(path: String, carrier: TrustCarrier) {
    #expect { try client(path, carrier) } throws: { $0 is any InvalidSettings }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `Unix socket excludes a proxy`(carrier: TrustCarrier) throws {
    let refusal = try TrustFixture.refusal(carrier) {
      $0.unixSocket = "/run/some.sock"
      $0.proxy = .environment
    }
    #expect(refusal?.contains("`unixSocket` and `proxy`") == true)
  }
}
