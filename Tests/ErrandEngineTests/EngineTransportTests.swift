#if os(Linux)
  import ErrandSupport
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  struct EngineTransportTests {
    @Test func `a request that would break a line is rejected`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let url = try HTTPURL(server.url)
      let transport = EngineTransport()
      let requests = [
        HTTPRequest(method: "GET /x\r\nA: b", url: url), HTTPRequest(method: "", url: url),
        HTTPRequest(method: "G T", url: url), HTTPRequest(url: url, fields: ["X: y\r\nA": "b"]),
        HTTPRequest(url: url, fields: ["": "b"]), HTTPRequest(url: url, fields: ["A": "b\r\nC: d"]),
        HTTPRequest(url: url, fields: ["A": "b\0"]), HTTPRequest(url: url, fields: ["host": "evil"]),
        HTTPRequest(url: url, fields: ["Content-Length": "7"]), HTTPRequest(url: url, fields: ["TE": "trailers"]),
        HTTPRequest(url: url, fields: ["Connection": "close"]),
        HTTPRequest(method: .head, url: url, body: HTTPBody(Data([1]))),
      ]
      for request in requests {
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure?.kind == .unsupported && failure?.isCertainlyNotSent == true)
      }
      #expect(server.connectionCount == 0)
    }

    @Test func `a failure never contains a secret`() async throws {
      let nobody = try RefusingPort()
      var request = try HTTPRequest(url: nobody.url + "/path?token=s3cret")
      request.fields = ["Authorization": "Bearer s3cret"]
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: EngineTransport())
      #expect(failure.map { "\($0)".contains("s3cret") } == false)
    }

    @Test func `the lookup of a name is measured`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let transport = EngineTransport()
      let metrics = try await TransportConformance.get(transport, "http://localhost:\(server.port)/").metrics
      let lookup = try #require(metrics.nameLookup)
      let connect = try #require(metrics.connect)
      #expect(lookup > .zero && lookup <= connect)
      #expect(metrics.remoteAddress == "127.0.0.1")
      let again = try await TransportConformance.get(transport, "http://localhost:\(server.port)/").metrics
      #expect(again.nameLookup == nil && again.connect == nil && again.isConnectionReused == true)
    }

    @Test(.enabled(if: (try? RefusingPort(address: .ipv6)) != nil, "this machine has no IPv6"))
    func `IPv6 addresses work`() async throws {
      let server = try LoopbackServer(LoopbackOptions(address: .ipv6)) { _ in .ok("six") }
      let transport = EngineTransport()
      for _ in 0..<2 { #expect(try await TransportConformance.get(transport, server.url).text == "six") }
      #expect(server.connectionCount == 1)
    }

    @Test func `a URL without a path requests the root path`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      for (tail, target) in [("", "/"), ("?a=b", "/?a=b"), ("/x?a#b", "/x?a")] {
        _ = try await TransportConformance.get(EngineTransport(), server.url + tail)
        #expect(server.requests.last?.target == target)
      }
    }

    @Test func `cookies are sent back with their original bytes`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let fields = HTTPFields([HTTPField(.cookie, "a=\u{F7E9}"), HTTPField("X", "\u{F7E9}")])
      _ = try await EngineTransport().send(Exchange(request: HTTPRequest(url: server.url, fields: fields)))
      let head = try #require(server.requests.first).head
      #expect(head.firstRange(of: Array("Cookie: a=".utf8) + [0xE9, 13, 10]) != nil)
      #expect(head.firstRange(of: Array("X: \u{F7E9}\r\n".utf8)) != nil)
    }

    @Test func `a GET is sent again if its idle connection closes`() async throws {
      for fault in [LoopbackAnswer.closeBeforeAnswer, .resetBeforeAnswer, .raw("HTTP/1.1 20")] {
        for method in [HTTPMethod.get, .head] {
          let server = try LoopbackServer()
          server.enqueue(.ok("first"), fault, .ok("third"))
          let transport = EngineTransport()
          _ = try await TransportConformance.get(transport, server.url)
          let response = try await transport.send(Exchange(request: HTTPRequest(method: method, url: server.url)))
          #expect(response.text == (method == .get ? "third" : ""))
          #expect(server.requests.count == 3)
        }
      }
    }

    @Test func `a connection is reused only if the server allows it`() async throws {
      for (answer, count) in [
        (LoopbackAnswer.ok("x"), 1), (LoopbackAnswer.ok("x").setting("Connection", to: "close"), 3),
        (.ok("x").setting("Connection", to: "x, Close"), 3),
        (.raw("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", thenCloses: false), 3),
        (.raw("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", thenCloses: false), 1),
      ] {
        let server = try LoopbackServer { _ in answer }
        let transport = EngineTransport()
        for _ in 0..<3 { #expect(try await TransportConformance.get(transport, server.url).text == "x") }
        #expect(server.connectionCount == count)
      }
    }

    @Test func `a connection that ends with its response is not kept`() async throws {
      let gate = Gate()
      let answer = LoopbackAnswer.raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", thenCloses: true)
      let server = try LoopbackServer { _ in answer.held(at: gate) }
      let transport = EngineTransport()
      let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
      async let response = TransportConformance.get(transport, server.url)
      try await gate.reached(times: 1)
      // The loop waits until the end of the stream has arrived, too.
      let isWaiting = Latch()
      let hasEnded = DispatchSemaphore(value: 0)
      _ = timers.schedule(at: timers.now) {
        isWaiting.open()
        hasEnded.wait()
      }
      try await isWaiting.wait()
      gate.open()
      try await server.wait { $0.openConnectionCount == 0 }
      hasEnded.signal()
      #expect(try await response.text == "x")
      let count = await withCheckedContinuation { continuation in
        _ = timers.schedule(at: timers.now) { continuation.resume(returning: timers.loop.pool.count) }
      }
      #expect(count == 0)
    }

    @Test func `lines of a folded field become one field`() async throws {
      let head = "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\t c\r\nContent-Length: 2\r\nY:\r\n  d\r\n\r\nab"
      let server = try LoopbackServer { _ in .raw(head, thenCloses: false) }
      let transport = EngineTransport()
      for _ in 0..<3 {
        let response = try await TransportConformance.get(transport, server.url)
        #expect(response.text == "ab" && response.fields["X"] == "a b c" && response.fields["Y"] == "d")
      }
      #expect(server.connectionCount == 1)
    }

    @Test func `a folded first line is malformed, and harmless`() async throws {
      let server = try LoopbackServer { request in
        request.path == "/next" ? .ok("right") : .raw("HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 2\r\n\r\nok")
      }
      let transport = EngineTransport()
      for _ in 0..<3 {
        _ = try await TransportConformance.get(transport, server.url + "/next")
        let failure = await TransportConformance.failure(
          of: Exchange(request: try HTTPRequest(url: server.url)), over: transport)
        #expect(failure?.kind == .malformedResponse)
      }
      #expect(try await TransportConformance.get(transport, server.url + "/next").text == "right")
    }

    @Test func `the timers run on the loop's thread`() async throws {
      try await ThreadChecks.timersRunInOrder(of: EngineTransport())
    }

    @Test func `an invalid setting is rejected`() throws {
      var none = EngineConfiguration()
      none.maximumIdleConnections = 0
      var socket = EngineConfiguration()
      socket.unixSocket = "relative"
      let transport = EngineTransport()
      for configuration in [none, socket] {
        #expect(throws: EngineConfiguration.Invalid.self) { try transport.update(configuration) }
      }
      #expect(transport.configuration == EngineConfiguration())
    }

    @Test func `a text in another normal form is a change`() throws {
      let transport = EngineTransport()
      for text in ["ad\u{e1}", "ada\u{301}"] {
        var configuration = EngineConfiguration()
        configuration.unixSocket = "/" + text
        try transport.update(configuration)
        #expect(transport.configuration.unixSocket.map { Array($0.utf8) } == Array("/\(text)".utf8))
      }
      for text in ["ad\u{e1}", "ada\u{301}"] {
        var configuration = EngineConfiguration()
        configuration.proxy = .url("http://h:80", user: "u", password: text)
        try transport.update(configuration)
        guard case .url(_, _, let password?) = transport.configuration.proxy else { throw CancellationError() }
        #expect(password.utf8.elementsEqual(text.utf8))
      }
    }

    @Test func `a changed setting applies to later exchanges`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let transport = EngineTransport()
      #expect(try await TransportConformance.get(transport, server.url).text == "here")
      var configuration = EngineConfiguration()
      configuration.addressPolicy = .publicOnly
      try transport.update(configuration)
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: transport)
      #expect(failure?.kind == .forbiddenAddress)
      try await server.wait { $0.openConnectionCount == 0 }
      try transport.update(EngineConfiguration())
      #expect(try await TransportConformance.get(transport, server.url).text == "here")
    }
  }
#endif
