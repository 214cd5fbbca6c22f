#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  struct EngineProxyTests {
    private static func transport(_ proxy: TransportProxy) throws -> EngineTransport {
      var configuration = EngineConfiguration()
      configuration.proxy = proxy
      return try EngineTransport(configuration)
    }

    private static func failure(_ url: String, over proxy: String) async throws -> TransportFailure? {
      let exchange = Exchange(request: try HTTPRequest(url: url))
      return await TransportConformance.failure(of: exchange, over: try transport(.url(proxy)))
    }

    // MARK: - Requests

    @Test func `a proxy receives the whole URL`() async throws {
      let server = try LoopbackServer { request in
        request.headers["Proxy-Authorization"] == nil
          ? .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"a\""]) : .ok(request.target)
      }
      let transport = try Self.transport(.url(server.url, user: "ada", password: "open:sesame"))
      let urls = ["http://one.example/a?b=c", "http://two.example:8080", "http://one.example/a?b=c"]
      for (url, target) in zip(urls, ["http://one.example/a?b=c", "http://two.example:8080/", urls[0]]) {
        #expect(try await TransportConformance.get(transport, url).text == target)
      }
      let fields = server.requests.map(\.headers)
      #expect(fields.map { $0["Host"] } == ["one.example", "one.example", "two.example:8080", "one.example"])
      let word = "Basic YWRhOm9wZW46c2VzYW1l"
      #expect(fields.map { $0["Proxy-Authorization"] } == [nil, word, word, word])
      #expect(server.connectionCount == 2)
    }

    @Test func `a tunnel is requested for https`() async throws {
      let server = try LoopbackServer { _ in .status(403) }
      let failure = try await Self.failure("https://one.example/secret?token=a", over: server.url)
      #expect(failure?.kind == .proxy && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.contains("CONNECT tunnel failed, response 403") == true)
      let request = try #require(server.requests.first)
      #expect(request.method == "CONNECT" && request.target == "one.example:443")
      #expect(request.headers["Host"] == "one.example:443" && request.headers["Proxy-Authorization"] == nil)
    }

    @Test(arguments: [
      LoopbackAnswer.closeBeforeAnswer, .resetBeforeAnswer, .raw("SSH-2.0-OpenSSH_9.2\r\n"),
      .raw("HTTP/1.1 200 OK\r\n\r\nbytes of the proxy", thenCloses: false),
    ])
    func `a faulty proxy is reported`(answer: LoopbackAnswer) async throws {
      let server = try LoopbackServer { _ in answer }
      let failure = try await Self.failure("https://one.example/", over: server.url)
      #expect(failure?.kind == .proxy && failure?.isCertainlyNotSent == true)
    }

    @Test func `a silent proxy meets the connect time-out`() async throws {
      let gate = Gate()
      defer { gate.open() }
      let server = try LoopbackServer { _ in .stall(until: gate) }
      let exchange = Exchange(
        request: try HTTPRequest(url: "https://one.example/"), connectTimeout: .milliseconds(100))
      let failure = await TransportConformance.failure(of: exchange, over: try Self.transport(.url(server.url)))
      #expect(failure?.kind == .connectTimeout && failure?.isCertainlyNotSent == true)
    }

    @Test func `an unreachable proxy is reported`() async throws {
      let nobody = try RefusingPort()
      for url in ["http://one.example/", "https://one.example/"] {
        for proxy in [nobody.url, "http://no-such-host.invalid:3128"] {
          let failure = try await Self.failure(url, over: proxy)
          #expect(failure?.kind == .proxy && failure?.isCertainlyNotSent == true)
        }
      }
    }

    @Test func `status 407 of a proxy is no response`() async throws {
      let server = try LoopbackServer { _ in .status(407) }
      for url in ["http://one.example/", "https://one.example/"] {
        let failure = try await Self.failure(url, over: server.url)
        #expect(failure?.kind == .proxyCredentials && failure?.isCertainlyNotSent == true)
      }
    }

    // MARK: - The choice of the proxy

    private static func choice(_ url: String, _ variables: [String: String]) throws -> EngineProxy? {
      try EngineProxy.of(.environment, for: HTTPURL(url).origin) { variables[$0] }
    }

    @Test func `the environment chooses by scheme`() throws {
      let variables = [
        "http_proxy": "http://a:1", "HTTPS_PROXY": "b:2", "all_proxy": "http://c:3", "HTTP_PROXY": "d:4",
      ]
      #expect(try Self.choice("http://x.example", variables)?.origin.description == "http://a:1")
      #expect(try Self.choice("https://x.example", variables)?.origin.description == "http://b:2")
      #expect(try Self.choice("https://x.example", ["ALL_PROXY": "c"])?.origin.description == "http://c:1080")
      #expect(try Self.choice("http://x.example", ["HTTP_PROXY": "d:4"]) == nil)
      let empty = ["http_proxy": "", "all_proxy": "c:3", "no_proxy": "", "NO_PROXY": "y.example"]
      #expect(try Self.choice("http://x.example", empty)?.origin.description == "http://c:3")
      #expect(try Self.choice("http://y.example", empty) == nil)
    }

    @Test func `credentials in the environment are decoded`() throws {
      let proxy = try Self.choice("http://x.example", ["http_proxy": "http://ada:p%40ss%3A@a.example:1/"])
      #expect(proxy?.origin.description == "http://a.example:1")

      let noScheme = try Self.choice("http://x.example", ["http_proxy": "ada@a.example:1"])
      #expect(noScheme?.credentials == ProxyCredentials("ada", nil))
    }

    @Test func `proxies that are not HTTP proxies are unsupported`() throws {
      for url in ["socks5://a:1", "socks4a://a", "https://a:1"] {
        let failure = #expect(throws: TransportFailure.self) {
          try Self.choice("http://x.example", ["http_proxy": url])
        }
        #expect(failure?.kind == .unsupported && failure?.isCertainlyNotSent == true)
      }
    }

    @Test func `an invalid proxy names its variable`() throws {
      for scheme in ["http", "https"] {
        for url in ["http://ada:secret@a:port", "ftp://ada:secret@a:1", "a:"] {
          let failure = #expect(throws: TransportFailure.self) {
            try Self.choice("\(scheme)://x.example", ["\(scheme)_proxy": url])
          }
          #expect(failure?.kind == .proxy && failure?.isCertainlyNotSent == true)
          #expect(failure?.description.contains("variable \(scheme)_proxy") == true)
          #expect(failure?.description.contains("secret") == false)
        }
      }
    }

    @Test(arguments: [
      ("*", "a.example", true), ("a.example", "a.example", true), ("a.example", "b.a.example", true),
      ("a.example", "xa.example", false), (".a.example", "a.example", true), (".a.example", "b.a.example", true),
      ("A.Example.", "a.example", true), ("a.example", "a.example.", true), ("b.a.example", "a.example", false),
      ("x.example, a.example", "a.example", true), ("x.example a.example", "a.example", true), ("", "a.example", false),
      (".", "a.example", false), ("*.a.example", "b.a.example", false), ("10.0.0.1", "10.0.0.1", true),
      ("10.0.0.1", "10.0.0.11", false), ("10.0.0.0/8", "10.200.1.2", true), ("10.0.0.0/8", "11.0.0.1", false),
      ("10.0.0.0/9", "10.127.0.1", true), ("10.0.0.0/9", "10.128.0.1", false), ("10.0.0.0/33", "10.0.0.0", false),
      ("10.0.0.0/x", "10.0.0.0", false), ("b.example", "a.example", false), ("longer.a.example", "a.example", false),
      ("::1", "[::1]", true), ("[::1]", "[::1]", true),
      ("fd00::/8", "[fd12::1]", true), ("fd00::/8", "[fe80::1]", false), ("0.1", "10.0.0.1", false),
      ("10.0.0.0/64", "[a00::1]", false), ("a00::/8", "10.0.0.1", false),
    ])
    func `exceptions follow the rules of libcurl`(text: String, host: String, isExcepted: Bool) {
      #expect(ProxyExceptions(text).contain(host) == isExcepted)
    }

    @Test func `exceptions apply to the environment`() throws {
      let variables = ["http_proxy": "http://a:1", "NO_PROXY": "other.example,x.example"]
      #expect(try Self.choice("http://x.example", variables) == nil)
      #expect(try Self.choice("http://y.example", variables) != nil)
    }
  }
#endif
