import Errand
import ErrandCurl
import ErrandHTTP
import Foundation
import Testing

@Suite(.serialized) struct ProxyTests {
  private func proxy(_ user: String? = "ada", _ password: String? = "opensesame") throws -> TransportProxy {
    .url(try Servers.address("ERRAND_DOOR_PROXY"), user: user, password: password)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `https uses a proxy`(carrier: TrustCarrier) async throws {
    let proxy = try proxy()
    let client = try TrustFixture.client("ERRAND_DOOR_TLS", carrier) { $0.proxy = proxy }
    let fields = try await client.send(Inquiry("/"))["fields"]
    #expect(fields["Host"]?.stringValue?.hasPrefix("localhost:") == true)
    #expect(fields["Proxy-Authorization"] == nil)
    #expect(fields["Authorization"] == nil)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `http uses a proxy`(carrier: TrustCarrier) async throws {
    let proxy = try proxy()
    let client = try TrustFixture.client("ERRAND_NGINX", carrier) { $0.proxy = proxy }
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
  }

  @Test(arguments: ["ERRAND_DOOR_TLS", "ERRAND_NGINX"], TrustCarrier.allCases)
  func `proxy is the peer in metrics`(variable: String, carrier: TrustCarrier) async throws {
    let proxy = try proxy()
    let client = try TrustFixture.client(variable, carrier) { $0.proxy = proxy }
    let exchange = try #require(await client.outcome(of: BytesProbe(path: "/200b")).metrics.exchanges.last)
    #expect(exchange.remoteAddress == "127.0.0.1")
    #expect(exchange.remotePort == (try HTTPURL(Servers.address("ERRAND_DOOR_PROXY")).port))
  }

  @Test(arguments: ["ERRAND_DOOR_TLS", "ERRAND_NGINX"], TrustCarrier.allCases)
  func `missing proxy credentials are reported`(variable: String, carrier: TrustCarrier) async throws {
    for (user, password) in [("ada", "wrong-word"), (nil, nil)] as [(String?, String?)] {
      let proxy = try proxy(user, password)
      let error = try await failure(
        TrustFixture.client(variable, carrier) { $0.proxy = proxy }, BytesProbe(path: "/200b"))
      #expect(error.transportKind == .proxyCredentials, "\(error)")
      #expect(error.message.contains("`password`"))
      #expect(!"\(error)".contains("wrong-word"))
    }
  }

  @Test(arguments: TrustCarrier.allCases)
  func `trust settings apply through a proxy`(carrier: TrustCarrier) async throws {
    let pin = try TrustFixture.pin("server")
    let open = TransportProxy.url(try Servers.address("ERRAND_DOOR_OPEN_PROXY"))
    for (keys, kind) in [
      ([pin, TrustFixture.sparePin], TransportFailure.Kind?.none),
      ([TrustFixture.strangePin, TrustFixture.sparePin], .pinMismatch),
    ] {
      let client = try TrustFixture.client("ERRAND_DOOR_TLS", carrier) {
        $0.proxy = open
        $0.pins = [PublicKeyPins(host: "localhost", sha256: keys)]
      }
      #expect(await client.outcome(of: Inquiry("/")).error?.transportKind == kind)
    }
    let expired = try TrustFixture.client("ERRAND_NGINX_EXPIRED", carrier) { $0.proxy = open }
    #expect(try await failure(expired, BytesProbe(path: "/200b")).transportKind == .certificateExpired)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `unreachable proxy is reported`(carrier: TrustCarrier) async throws {
    let client = try TrustFixture.client("ERRAND_DOOR_TLS", carrier) { $0.proxy = .url("http://127.0.0.1:1") }
    #expect(try await failure(client, Inquiry("/")).transportKind == .proxy)
  }

  @Test(arguments: ["https://127.0.0.1:1", "socks5h://127.0.0.1:1"], ["ERRAND_DOOR_TLS", "ERRAND_NGINX"])
  func `engine refuses other proxies`(proxy: String, variable: String) async throws {
    let client = try TrustFixture.client(variable, .engine) { $0.proxy = .url(proxy) }
    let error = try await failure(client, Inquiry("/"))
    #expect(error.transportKind == .unsupported)
    #expect(error.message.contains("choose the transport \"curl\""), "\(error)")
  }

  @Test(arguments: TrustCarrier.allCases)
  func `unusable proxies are refused`(carrier: TrustCarrier) throws {
    for proxy in ["proxy", "ftp://proxy", "http://", "http://user:pw@proxy:1", "http://proxy:", "http://proxy:99999"] {
      let refusal = try TrustFixture.refusal(carrier) { $0.proxy = .url(proxy) }
      #expect(refusal?.contains("http://host:port") == true, "\(proxy): \(refusal ?? "accepted")")
      #expect(refusal?.contains("pw") != true)
    }
  }

  @Test func `custom authority applies to a proxy`() async throws {
    let proxy = TransportProxy.url(try Servers.address("ERRAND_NGINX_TLS"))
    let client = try TrustFixture.curlClient("ERRAND_NGINX") { $0.proxy = proxy }
    #expect(try await client.send(BytesProbe(path: "/200b")).count == 200)
    let stranger = try TrustFixture.data("stranger.pem")
    let strict = try TrustFixture.curlClient("ERRAND_NGINX") {
      $0.proxy = proxy
      $0.certificateAuthority = .certificates(stranger)
    }
    let error = try await failure(strict, BytesProbe(path: "/200b"))
    #expect(error.transportKind == .proxy && error.message.contains("local issuer"), "\(error)")
  }

  @Test func `minimum TLS version applies to a proxy`() async throws {
    let proxy = TransportProxy.url(try Servers.address("ERRAND_NGINX_TLS_1_2"))
    for (version, kind) in [(TLSVersion.tls1_2, TransportFailure.Kind?.none), (.tls1_3, .proxy)] {
      let client = try TrustFixture.curlClient("ERRAND_NGINX") {
        $0.proxy = proxy
        $0.minimumTLSVersion = version
      }
      let error = await client.outcome(of: BytesProbe(path: "/200b")).error
      #expect(error?.transportKind == kind, "\(error?.message ?? "no error")")
    }
  }
}
