import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

struct AddressPolicyTests {
  private func transport(
    _ policy: AddressPolicy, _ carrier: TrustCarrier, _ overrides: [String: String] = [:],
    resolver: (any NameResolver)? = nil
  ) throws -> any TrustTransport {
    try carrier.transport(resolver: resolver) {
      $0.addressPolicy = policy
      $0.addressOverrides = overrides
    }
  }

  @Test(
    arguments: ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1"],
    TrustCarrier.allCases)
  func `loopback is refused in every notation`(host: String, carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = TrustFixture.client("http://\(host):\(server.port)", try transport(.publicOnly, carrier))
    let error = try await failure(client, BytesProbe(path: "/"))
    #expect(error.transportKind == .forbiddenAddress, "\(error)")
    #expect(error.message.contains(host))
    #expect(error.message.contains("`addressPolicy`"))
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `redirect to a forbidden address is refused`(carrier: TrustCarrier) async throws {
    for place in ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[fd00:ec2::254]/"] {
      let server = try LoopbackServer { _ in .redirect(to: place) }
      let client = TrustFixture.client(server.url, try transport(.only([.loopback]), carrier))
      let error = try await failure(client, BytesProbe(path: "/"))
      #expect(error.transportKind == .forbiddenAddress)
      #expect(error.request?.url.string == place)
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `DNS rebinding is refused`(carrier: TrustCarrier) async throws {
    // The server closes the connection, so the next request needs a new one.
    let server = try LoopbackServer { _ in .ok().closing() }
    let resolver = SteppingResolver(["127.0.0.1"], ["10.0.0.1"])
    let transport = try transport(.only([.loopback]), carrier, resolver: resolver)
    let client = TrustFixture.client("http://rebinding.example:\(server.port)", transport)
    #expect(try await client.response(BytesProbe(path: "/")).status == 200)
    let error = try await failure(client, BytesProbe(path: "/"))
    #expect(error.transportKind == .forbiddenAddress)
    #expect(error.message.contains("10.0.0.1"))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `allowed address among forbidden ones is used`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let transport = try transport(.only([.loopback]), carrier, ["two.example:\(server.port)": "10.0.0.1,127.0.0.1"])
    let client = TrustFixture.client("http://two.example:\(server.port)", transport)
    #expect(try await client.response(BytesProbe(path: "/")).status == 200)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `refused connection is not a forbidden address`(carrier: TrustCarrier) async throws {
    let port = try RefusingPort()
    defer { withExtendedLifetime(port) {} }
    let transport = try transport(.only([.loopback]), carrier, ["two.example:\(port.port)": "10.0.0.1,127.0.0.1"])
    let error = try await failure(
      TrustFixture.client("http://two.example:\(port.port)", transport), BytesProbe(path: "/"))
    #expect(error.transportKind == .refused)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `address policy excludes a proxy`(carrier: TrustCarrier) throws {
    for proxy in [TransportProxy.url("http://127.0.0.1:3128"), .environment] {
      let refusal = try TrustFixture.refusal(carrier) {
        $0.addressPolicy = .publicOnly
        $0.proxy = proxy
      }
      #expect(refusal?.contains("`addressPolicy`") == true)
    }
  }
}
