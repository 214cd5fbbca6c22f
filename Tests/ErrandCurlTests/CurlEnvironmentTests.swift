#if os(Linux)
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Proxies that environment variables name.
  struct CurlEnvironmentTests {
    /// A transport whose environment contains only the given variables.
    private static func transport(
      _ environment: @escaping @Sendable (String) -> String?
    ) throws -> CurlTransport {
      var configuration = CurlConfiguration()
      configuration.proxy = .environment
      return CurlTransport(over: CurlLoop(configuration, try CurlTrust(configuration), environment: environment))
    }

    @Test(arguments: ["http", "https"])
    func `credentials follow a Digest challenge`(scheme: String) async throws {
      let digest = "Digest realm=\"door\", qop=\"auth\", algorithm=SHA-256, nonce=\"n1\""
      let proxy = try LoopbackServer { request in
        request.headers["Proxy-Authorization"] == nil
          ? .status(407, fields: ["Proxy-Authenticate": "\(digest)"]) : .status(403)
      }
      let variables = ["\(scheme)_proxy": "http://ada:open%40sesame@127.0.0.1:\(proxy.port)/"]
      let transport = try Self.transport { variables[$0] }
      let exchange = Exchange(request: try HTTPRequest(url: "\(scheme)://one.example/a"))
      if scheme == "http" {
        #expect(try await transport.send(exchange).status == 403)
      } else {
        #expect(await TransportConformance.failure(of: exchange, over: transport)?.kind == .proxy)
      }
      let fields = proxy.requests.map { $0.headers["Proxy-Authorization"] }
      #expect(fields.count == 2 && fields[0] == nil)
      #expect(fields[1]?.hasPrefix("Digest username=\"ada\"") == true)
    }

    @Test func `each request has its own proxy`() async throws {
      let direct = try LoopbackServer { _ in .ok("direct") }
      let proxy = try LoopbackServer { _ in .ok("proxied") }
      let variables = ["http_proxy": "127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1"]
      let transport = try Self.transport { variables[$0] }
      for _ in 0..<3 {
        #expect(try await TransportConformance.get(transport, direct.url).text == "direct")
        #expect(try await TransportConformance.get(transport, "http://one.example/").text == "proxied")
      }
      #expect(direct.connectionCount == 1 && proxy.connectionCount == 1)
    }

    @Test func `changed variables apply to later requests`() async throws {
      let direct = try LoopbackServer { _ in .ok("direct") }
      let proxy = try LoopbackServer { _ in .ok("proxied") }
      let nobody = try RefusingPort()
      let variables = Locked<[String: String]>([:])
      let transport = try Self.transport { name in variables.withLock { $0[name] } }
      #expect(try await TransportConformance.get(transport, direct.url).text == "direct")
      variables.withLock { $0["all_proxy"] = "socks5h://ada:sesame@127.0.0.1:\(nobody.port)" }
      let exchange = Exchange(request: try HTTPRequest(url: direct.url))
      #expect(await TransportConformance.failure(of: exchange, over: transport)?.kind == .proxy)
      variables.withLock { $0["http_proxy"] = proxy.url }
      #expect(try await TransportConformance.get(transport, direct.url).text == "proxied")
      #expect(proxy.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
      variables.withLock { $0 = [:] }
      #expect(try await TransportConformance.get(transport, direct.url).text == "direct")
    }
  }
#endif
