#if os(Linux)
  import ErrandSupport
  import ErrandCore
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  struct CurlTransportTests {
    @Test func `request that libcurl would alter is refused`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let url = try HTTPURL(server.url)
      let transport = CurlTransport()
      let requests = [
        HTTPRequest(method: "GET /x\r\nA: b", url: url), HTTPRequest(method: "", url: url),
        HTTPRequest(method: "G T", url: url),
        HTTPRequest(url: url, fields: ["X: y\r\nA": "b"]), HTTPRequest(url: url, fields: ["": "b"]),
        HTTPRequest(url: url, fields: ["A": "b\r\nC: d"]), HTTPRequest(url: url, fields: ["A": "b\nC: d"]),
        HTTPRequest(url: url, fields: ["A": "b\0"]), HTTPRequest(url: url, fields: ["A": "b\r"]),
        HTTPRequest(url: url, fields: ["host": "evil"]), HTTPRequest(url: url, fields: ["Content-Length": "7"]),
        HTTPRequest(url: url, fields: ["Transfer-Encoding": "chunked"]),
        HTTPRequest(url: url, fields: ["Connection": "close"]), HTTPRequest(url: url, fields: ["TE": "trailers"]),
        HTTPRequest(url: url, fields: ["Expect": "100-continue"]),
        HTTPRequest(method: .head, url: url, body: HTTPBody(Data([1]))),
      ]
      for request in requests {
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure?.kind == .unsupported)
        #expect(failure?.isCertainlyNotSent == true)
        #expect(failure?.description.contains("evil") == false)
      }
      #expect(server.connectionCount == 0)
    }

    @Test func `failures contain no secret`() async throws {
      let nobody = try RefusingPort()
      var request = try HTTPRequest(url: nobody.url + "/path?token=s3cret")
      request.fields = ["Authorization": "Bearer s3cret", "X": "s3cret\r\n"]
      let refused = await TransportConformance.failure(of: Exchange(request: request), over: CurlTransport())
      request.fields = ["Authorization": "Bearer s3cret"]
      let failed = await TransportConformance.failure(of: Exchange(request: request), over: CurlTransport())
      for failure in [refused, failed] {
        #expect(failure.map { "\($0)".contains("s3cret") } == false)
      }
    }

    @Test func `name lookup is measured`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let metrics = try await TransportConformance.get(CurlTransport(), "http://localhost:\(server.port)/").metrics
      let lookup = try #require(metrics.nameLookup)
      let connect = try #require(metrics.connect)
      #expect(lookup > .zero && lookup <= connect)
    }

    @Test func `silent TLS server is a connect time-out`() async throws {
      var options = LoopbackOptions()
      options.greeting = { _ in .stall() }
      let server = try LoopbackServer(options) { _ in .ok() }
      // Takes the best of up to ten rounds, because other load on the machine delays some of them. Handshakes one after
      // the other would take four seconds.
      var best = Duration.seconds(60)
      for _ in 0..<10 where best >= .milliseconds(3_500) {
        best = min(best, await Self.timeOfEight(on: server))
      }
      if !isSanitized { #expect(best < .milliseconds(3_500)) }
    }

    /// Starts eight exchanges at once. The others wait for the connection of the first one and must not wait one after
    /// the other.
    private static func timeOfEight(on server: LoopbackServer) async -> Duration {
      let transport = CurlTransport()
      let start = MonotonicInstant.now
      await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            guard let request = try? HTTPRequest(url: "https://127.0.0.1:\(server.port)/") else { return }
            let exchange = Exchange(request: request, connectTimeout: .milliseconds(500))
            let failure = await TransportConformance.failure(of: exchange, over: transport)
            #expect(start.duration(to: .now) >= .milliseconds(500))
            #expect(failure?.kind == .connectTimeout)
            #expect(failure?.isCertainlyNotSent == true)
          }
        }
      }
      return start.duration(to: .now)
    }

    @Test func `stop ends a TLS handshake`() async throws {
      let greeted = Gate()
      var options = LoopbackOptions()
      options.greeting = { _ in LoopbackAnswer([.reach(greeted), .wait(Gate())]) }
      let server = try LoopbackServer(options) { _ in .ok() }
      let transport = CurlTransport()
      let call = CallState()
      let exchange = Exchange(request: try HTTPRequest(url: "https://127.0.0.1:\(server.port)/"), call: call)
      async let stopped = TransportConformance.stop(of: exchange, over: transport)
      try await greeted.reached()
      call.stop(.cancelled)
      #expect(await stopped == .cancelled)
      try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test func `GET is resent after its kept connection dies`() async throws {
      for fault in [LoopbackAnswer.closeBeforeAnswer, .resetBeforeAnswer, .raw("HTTP/1.1 20")] {
        for method in [HTTPMethod.get, .head] {
          let server = try LoopbackServer()
          server.enqueue(.ok("first"), fault, .ok("third"))
          let transport = CurlTransport()
          _ = try await TransportConformance.get(transport, server.url)
          let response = try await transport.send(Exchange(request: HTTPRequest(method: method, url: server.url)))
          #expect(response.text == (method == .get ? "third" : ""))
          #expect(server.requests.count == 3)
        }
      }
    }

    @Test func `plain HTTP on a TLS port fails`() async throws {
      var options = LoopbackOptions()
      options.greeting = { _ in .ok("plain").closing() }
      let server = try LoopbackServer(options) { _ in .ok() }
      let request = try HTTPRequest(method: .post, url: "https://127.0.0.1:\(server.port)/")
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: CurlTransport())
      #expect(failure?.kind == .tls)
      #expect(failure?.isCertainlyNotSent == true)
    }

    @Test(arguments: [HTTPMethod.get, .post], [false, true])
    func `aborted handshake sends nothing`(method: HTTPMethod, isReset: Bool) async throws {
      var options = LoopbackOptions()
      options.greeting = { $0 == 1 ? isReset ? .resetBeforeAnswer : .closeBeforeAnswer : nil }
      let server = try LoopbackServer(options) { _ in .ok("right") }
      let transport = CurlTransport()
      let request = try HTTPRequest(method: method, url: "https://127.0.0.1:\(server.port)/")
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      // A reset that arrives before libcurl checks the new connection counts as a refused connection.
      let isExpected = failure?.kind == .closedBeforeResponse || isReset && failure?.kind == .refused
      #expect(isExpected && failure?.isCertainlyNotSent == true, "\(String(describing: failure))")
      #expect(try await TransportConformance.get(transport, server.url).text == "right")
    }

    @Test func `refused upload with a paused source has a time-out`() async throws {
      let server = try LoopbackServer()
      server.enqueue(
        LoopbackAnswer([.head(status: 413, headers: ["Content-Length": "5"]), .wait(Gate())]), reception: .never)
      let body = HTTPBody.stream(length: 10) { flow in
        PieceSource([.bytes([1]), .later], PieceSource.Log(), flow) { _ in }
      }
      let timers = SharedTimers.shared
      let exchange = Exchange(
        request: try HTTPRequest(method: .post, url: server.url, body: body),
        call: CallState(deadline: timers.now.advanced(by: .seconds(30)), timers: timers),
        idleTimeout: .milliseconds(100))
      #expect(await TransportConformance.failure(of: exchange, over: CurlTransport())?.kind == .idleTimeout)
    }

    @Test func `paused source does not hide status 407`() async throws {
      let proxy = try LoopbackServer()
      proxy.enqueue(
        LoopbackAnswer([.head(status: 407, headers: ["Content-Length": "0"]), .wait(Gate())]), reception: .never)
      var configuration = CurlConfiguration()
      configuration.proxy = .url(proxy.url)
      let body = HTTPBody.stream(length: 10) { flow in
        PieceSource([.bytes([1]), .later], PieceSource.Log(), flow) { _ in }
      }
      let exchange = Exchange(request: try HTTPRequest(method: .post, url: "http://one.example/", body: body))
      let failure = await TransportConformance.failure(of: exchange, over: try CurlTransport(configuration))
      #expect(failure?.kind == .proxyCredentials)
    }

    @Test func `timers run on the loop's thread`() async throws {
      try await ThreadChecks.timersRunInOrder(of: CurlTransport())
    }

    @Test func `timers are on time during transfers`() async throws {
      let server = try LoopbackServer { _ in .endless() }
      let transport = CurlTransport()
      let timers = try #require(transport.timers)
      let call = CallState(timers: timers)
      let request = try HTTPRequest(url: server.url)
      async let stopped = TransportConformance.stop(
        of: Exchange(request: request, call: call, sink: RecordingSink(keeps: false)), over: transport)
      // Takes the best of up to twenty rounds, because other load on the machine delays some of them.
      var best = Duration.seconds(60)
      for _ in 0..<20 where best >= .milliseconds(100) {
        let lateness = await Self.lateness(of: timers)
        #expect(lateness.count == 50)
        best = min(best, lateness[25])
      }
      call.stop(.cancelled)
      #expect(await stopped == .cancelled)
      if !isSanitized { #expect(best < .milliseconds(100)) }
      withExtendedLifetime(server) {}
    }

    /// The lateness of 50 timers that are five milliseconds apart, in order.
    private static func lateness(of timers: any Timers) async -> [Duration] {
      let late = Locked<[Duration]>([])
      let allRan = Latch()
      let start = timers.now
      for number in 1...50 {
        let moment = start.advanced(by: .milliseconds(5 * number))
        _ = timers.schedule(at: moment) {
          let count = late.withLock { late in
            late.append(moment.duration(to: .now))
            return late.count
          }
          if count == 50 { allRan.open() }
        }
      }
      await allRan.waitStubbornly()
      return late.withLock { $0.sorted() }
    }

    @Test func `invalid proxy is refused`() throws {
      let refused = [
        "", "proxy", "ftp://proxy", "http://", "http://user:pw@proxy:1", "http://a\r\nb", "http://proxy:99999",
        "http://proxy:http", "http://proxy:", "http://:3128", "http://[::1", "http://[::1]x", "http://a b:1",
        "http:///", "http://user@\u{301}proxy:1", "http://proxy:\u{301}1",
      ]
      for proxy in refused.map({ TransportProxy.url($0) }) + [.url("http://proxy", user: "a\0b")] {
        var configuration = CurlConfiguration()
        configuration.proxy = proxy
        #expect(throws: CurlConfiguration.Invalid.self, "\(proxy)") { try CurlTransport(configuration) }
      }
      for proxy in ["http://proxy", "http://proxy:3128/", "SOCKS5H://[::1]:1080", "https://10.0.0.1:1"] {
        var configuration = CurlConfiguration()
        configuration.proxy = .url(proxy)
        #expect(throws: Never.self, "\(proxy)") { try CurlTransport(configuration) }
      }
    }

    @Test func `unusable setting is refused`() throws {
      var missing = CurlConfiguration()
      missing.certificateAuthority = .file(path: "/no/such/file.pem")
      var none = CurlConfiguration()
      none.maximumIdleConnections = 0
      var override = CurlConfiguration()
      override.addressOverrides = ["host": "127.0.0.1"]
      let transport = CurlTransport()
      for configuration in [missing, none, override] {
        #expect(throws: CurlConfiguration.Invalid.self) { try transport.update(configuration) }
      }
      #expect(transport.configuration == CurlConfiguration())
    }

    @Test(arguments: [
      ("foo.test:1", "localhost"), ("foo.test:https", "127.0.0.1"), ("foo.test:1", "127.0.0.1:8080"),
      ("foo.test:70000", "127.0.0.1"), ("foo.test:0", "127.0.0.1"), ("[::1]:443", "127.0.0.1"),
      ("foo.test:1", "127.0.0.1,"), (":1", "127.0.0.1"), ("foo.test:\u{301}x:1", "127.0.0.1"),
    ])
    func `unreadable address override is refused`(place: String, address: String) throws {
      var configuration = CurlConfiguration()
      configuration.addressOverrides = [place: address]
      let error = #expect(throws: CurlConfiguration.Invalid.self) { try CurlTransport(configuration) }
      #expect(error?.description.contains(place) == true)
    }

    @Test func `overrides work for IPv4 and IPv6`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      var configuration = CurlConfiguration()
      configuration.addressOverrides = [
        "one.example:\(server.port)": "127.0.0.1,::1", "two.example:\(server.port)": "[::1],127.0.0.1",
      ]
      let transport = try CurlTransport(configuration)
      for host in ["one", "two"] {
        let answer = try await TransportConformance.get(transport, "http://\(host).example:\(server.port)/")
        #expect(answer.text == "here")
      }
    }

    @Test func `empty coded body is empty`() async throws {
      let server = try LoopbackServer { _ in
        .chunked([String]()).setting("Content-Encoding", to: "gzip")
      }
      #expect(try await TransportConformance.get(CurlTransport(), server.url).text == "")
    }

    @Test func `changed setting applies to later exchanges`() async throws {
      let direct = try LoopbackServer { _ in .ok("direct") }
      let proxy = try LoopbackServer { request in
        request.headers["Proxy-Authorization"] == nil
          ? .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"a\""]) : .ok("proxied")
      }
      let transport = CurlTransport()
      #expect(try await TransportConformance.get(transport, direct.url).text == "direct")
      var configuration = CurlConfiguration()
      configuration.proxy = .url(proxy.url, user: "me", password: "s3cret")
      try transport.update(configuration)
      #expect(try await TransportConformance.get(transport, direct.url + "/x").text == "proxied")
      let seen = try #require(proxy.requests.last)
      #expect(seen.target == direct.url + "/x")
      #expect(seen.headers["Proxy-Authorization"] == "Basic " + Data("me:s3cret".utf8).base64EncodedString())
      try transport.update(CurlConfiguration())
      #expect(try await TransportConformance.get(transport, direct.url).text == "direct")
      #expect(!"\(configuration)".contains("s3cret"))
    }

    @Test func `refusing proxy fails the exchange`() async throws {
      let proxy = try LoopbackServer { _ in .status(407) }
      var configuration = CurlConfiguration()
      configuration.proxy = .url(proxy.url)
      let transport = try CurlTransport(configuration)
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: "https://example.com/")), over: transport)
      #expect(failure?.kind == .proxyCredentials)
      #expect(failure?.isCertainlyNotSent == true)
    }

    @Test func `address override replaces name lookup`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      var configuration = CurlConfiguration()
      configuration.addressOverrides = ["api.example.com:\(server.port)": "127.0.0.1"]
      let transport = try CurlTransport(configuration)
      #expect(try await TransportConformance.get(transport, "http://api.example.com:\(server.port)/").text == "here")
      #expect(server.requests.last?.headers["Host"] == "api.example.com:\(server.port)")
    }

    @Test(.enabled(if: (try? RefusingPort(address: .ipv6)) != nil, "this machine has no IPv6"))
    func `IPv6 server is reached`() async throws {
      let server = try LoopbackServer(LoopbackOptions(address: .ipv6)) { _ in .ok("six") }
      let transport = CurlTransport()
      for _ in 0..<2 { #expect(try await TransportConformance.get(transport, server.url).text == "six") }
      #expect(server.connectionCount == 1)
    }
  }
#endif
