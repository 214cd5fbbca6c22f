import Errand
import ErrandHTTP
import Foundation
import Testing

@Suite(.serialized) struct TLSVersionTests {
  @Test(arguments: [TLSVersion.tls1_2, .tls1_3], TrustCarrier.allCases)
  func `old TLS versions are refused`(minimum: TLSVersion, carrier: TrustCarrier) async throws {
    let client = try TrustFixture.client("ERRAND_NGINX_TLS_1_1", carrier) { $0.minimumTLSVersion = minimum }
    let error = try await failure(client, BytesProbe(path: "/200b"))
    #expect(error.transportKind == .tlsVersion, "\(error)")
    #expect(error.message.contains("`minimumTLSVersion`"))
  }

  @Test(arguments: TrustCarrier.allCases)
  func `minimum TLS version is enforced`(carrier: TrustCarrier) async throws {
    let client = try TrustFixture.client("ERRAND_NGINX_TLS_1_2", carrier)
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
    let strict = try TrustFixture.client("ERRAND_NGINX_TLS_1_2", carrier) { $0.minimumTLSVersion = .tls1_3 }
    #expect(try await failure(strict, BytesProbe(path: "/200b")).transportKind == .tlsVersion)
  }
}
