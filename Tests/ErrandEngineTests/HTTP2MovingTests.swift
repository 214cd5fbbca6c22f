#if os(Linux)
  import CTLSServer
  import Dispatch
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import Synchronization
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Requests that a server certainly has not processed, and limits on concurrent streams.
  struct HTTP2MovingTests {
    @Test(arguments: [HTTPMethod.get, .post, "DELETE"])
    func `a refused stream moves to another connection`(method: HTTPMethod) async throws {
      let server = try FrameServer { peer, server in
        try peer.start()
        try peer.serve { request in
          if !request.endsStream { _ = try peer.body(of: request.stream) }
          if peer.number == 1, request.path != "/ok" { return peer.reset(request.stream, 7) }
          server.process(request.path)
          peer.respond(request.stream, "ok")
        }
      }
      let transport = try HTTP2.transport()
      _ = try await TransportConformance.get(transport, server.url + "ok")
      let body = method == .post ? HTTPBody(Data("body".utf8)) : nil
      let request = try HTTPRequest(method: method, url: server.url + "x", body: body)
      #expect(try await transport.send(Exchange(request: request)).text == "ok")
      #expect(server.processed == ["/ok", "/x"] && server.connections == 2)
    }

    @Test func `streams above the last one of GOAWAY move`() async throws {
      let server = try FrameServer { peer, server in
        try peer.start()
        var waiting: [Frame] = []
        try peer.serve { request in
          server.process(request.path)
          if peer.number > 1 { return peer.respond(request.stream, "second") }
          waiting.append(request)
          guard waiting.count == 4 else { return }
          // The first two requests are processed, the others are not.
          peer.goAway(last: waiting[1].stream)
          for request in waiting.prefix(2) { peer.respond(request.stream, "first") }
        }
      }
      let transport = try HTTP2.transport()
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<4 {
          group.addTask {
            let request = try HTTPRequest(method: .post, url: server.url + "\(number)", body: HTTPBody(Data([1])))
            return try await transport.send(Exchange(request: request)).text
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts.sorted() == ["first", "first", "second", "second"])
      #expect(server.processed.count == 6 && Set(server.processed).count == 4 && server.connections == 2)
      // The client closes the connection when its last stream has ended.
      let isClosed = await eventually { server.openConnections == 1 }
      #expect(isClosed)
    }

    /// Closes each connection after seven requests, as nginx does.
    private static func retiring() throws -> FrameServer {
      try FrameServer { peer, server in
        try peer.start()
        var (count, last) = (0, 0)
        while true {
          let request = try peer.nextRequest()
          guard count < 7 else { continue }  // a client that has not seen GOAWAY yet
          count += 1
          last = request.stream
          server.process(request.path)
          if count == 7 { peer.goAway(last: last) }
          peer.respond(request.stream, request.path)
        }
      }
    }

    @Test(arguments: [0, 5, 40_000]) func `a retiring server processes each request once`(size: Int) async throws {
      let server = try Self.retiring()
      let transport = try HTTP2.transport()
      let url = server.url
      let failures = await HTTP2.send400(size, over: transport) { ("\(url)\($0)", "/\($0)") }
      #expect(failures == [] && server.connections >= 400 / 7)
      #expect(server.processed.count == 400 && Set(server.processed).count == 400)
    }

    /// With RST_STREAM and with GOAWAY (RFC 9113 section 7).
    @Test(arguments: [false, true]) func `a server can require HTTP 1.1`(byGoAway: Bool) async throws {
      let frames = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          if byGoAway { peer.goAway(last: 0, 13) } else { peer.reset(request.stream, 13) }
        }
      }
      let processed = Counter()
      let server = try TLSServer(identity: TLSIdentity { tls_server_choose($0, "\u{2}h2\u{8}http/1.1") }) { peer in
        guard peer.accept() else { return }
        if peer.protocolName == "h2" { return peer.relay(to: frames.port) }
        while let request = peer.readRequest() {
          if request.hasPrefix("POST") { _ = peer.read(4) }
          processed.add()
          peer.answer("ok")
        }
      }
      let transport = try server.transport()
      let request = try HTTPRequest(method: .post, url: server.url, body: HTTPBody(Data("body".utf8)))
      for _ in 0..<3 {
        let response = try await transport.send(Exchange(request: request))
        #expect(response.text == "ok" && response.head.version == .http1_1)
      }
      // Later requests use HTTP/1.1 at once.
      #expect(processed.value == 3 && server.connections == 2)
    }

    @Test func `required HTTP 1.1 can be a failure`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in peer.reset(request.stream, 13) }
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      let failure = await TransportConformance.failure(of: exchange, over: try HTTP2.transport())
      #expect(failure?.kind == .http2 && failure?.description.contains("HTTP_1_1_REQUIRED") == true)
      #expect(server.connections == 1)
    }

    @Test func `a server that always refuses is a failure`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in peer.reset(request.stream, 7) }
      }
      let request = try HTTPRequest(method: .post, url: server.url)
      let begun = ContinuousClock.now
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: try HTTP2.transport())
      #expect(failure?.kind == .closedBeforeResponse)
      #expect(server.connections == EngineExchange.mostRefusals + 1)
      #expect(ContinuousClock.now - begun >= .milliseconds(20 + 40 + 80 + 160 + 320))
    }

    /// With GOAWAY and with RST_STREAM.
    @Test(arguments: [true, false])
    func `an unprocessed request without a next server is not sent`(byGoAway: Bool) async throws {
      let server = try FrameServer { peer, server in
        try peer.start()
        let first = try peer.nextRequest()
        peer.respond(first.stream, "ok")
        let second = try peer.nextRequest()
        server.refuseConnections()
        if byGoAway { peer.goAway(last: first.stream) } else { peer.reset(second.stream, 7) }
        _ = try peer.next { $0.kind == .goAway }
      }
      let transport = try HTTP2.transport()
      _ = try await TransportConformance.get(transport, server.url)
      let post = try HTTP2.post(server.url, HTTPBody(Data([1])))
      let failure = await TransportConformance.failure(of: post, over: transport)
      #expect(failure?.kind == .refused && failure?.isCertainlyNotSent == true)
    }

    @Test func `a refusal does not undo an earlier attempt`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let first = try peer.nextRequest()
        if peer.number == 1 {
          peer.respond(first.stream, "ok")
          // The server may have processed this request before it closes the connection.
          return _ = try peer.nextRequest()
        }
        peer.reset(first.stream, 7)
        try peer.serve { peer.reset($0.stream, 7) }
      }
      let transport = try HTTP2.transport()
      _ = try await TransportConformance.get(transport, server.url)
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      let failure = await TransportConformance.failure(of: exchange, over: transport)
      #expect(failure?.kind == .closedBeforeResponse && failure?.isCertainlyNotSent == false)
      #expect(server.connections == EngineExchange.mostRefusals + 2)
    }

    @Test func `the wait after a refusal doubles`() {
      let waits = [0, 0, 20, 40, 80, 160, 320, 640]
      for (count, milliseconds) in waits.enumerated() {
        #expect(EngineExchange.pause(afterRefusals: count) == .milliseconds(milliseconds))
      }
      #expect(EngineExchange.pause(afterRefusals: .max) < .seconds(2))
    }

    @Test func `a call that waits after a refusal can be stopped`() async throws {
      let server = try FrameServer { peer, server in
        try peer.start()
        try peer.serve { request in
          server.process(request.path)
          // A later attempt has no response, so the call does not end by itself if the test is slow.
          if server.processed.count <= 3 { peer.reset(request.stream, 7) }
        }
      }
      let call = CallState()
      let exchange = Exchange(request: try HTTPRequest(url: server.url + "x"), call: call)
      let transport = try HTTP2.transport()
      let sending = Task { try await transport.send(exchange) }
      #expect(await eventually { server.processed.count >= 3 })
      call.stop(.cancelled)
      await #expect(throws: CallState.Stopped.self) { try await sending.value }
    }

    @Test func `a used body does not move`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          _ = try peer.body(of: request.stream)
          peer.reset(request.stream, 7)
        }
      }
      let body = HTTPBody.stream { flow in PieceSource([.bytes([1])], PieceSource.Log(), flow) { _ in } }
      let exchange = try HTTP2.post(server.url, body)
      let failure = await TransportConformance.failure(of: exchange, over: try HTTP2.transport())
      #expect(failure?.kind == .closedBeforeResponse && server.connections == 1)
    }

    @Test func `the limit on concurrent streams is kept`() async throws {
      // Each connection has one request, so all of them arrive only over five connections.
      let arrived = Counter()
      let arrivals = DispatchGroup()
      for _ in 0..<5 { arrivals.enter() }
      let server = try FrameServer { peer, _ in
        try peer.start([(id: 3, value: 1)])
        try peer.serve { request in
          if request.path != "/ok", arrived.add() <= 5 { arrivals.leave() }
          let isTogether = request.path == "/ok" || arrivals.wait(timeout: .now() + 30) == .success
          peer.respond(request.stream, isTogether ? "ok" : "alone")
        }
      }
      let transport = try HTTP2.transport()
      _ = try await TransportConformance.get(transport, server.url + "ok")
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<5 { group.addTask { try await TransportConformance.get(transport, server.url).text } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts == [String](repeating: "ok", count: 5) && server.connections == 5)
    }

    /// The server accepts one connection with two streams, and both are in use.
    @Test(arguments: ["response", "responses at once", "limit", "goodbye"])
    func `a call without a second connection waits for a stream`(release: String) async throws {
      let isFull = Latch()
      let areAllWaiting = DispatchSemaphore(value: 0)
      let server = try FrameServer { peer, server in
        try peer.start([(id: 3, value: 2)])
        if peer.number > 1 { return try peer.serve { peer.respond($0.stream, "ok") } }
        peer.respond(try peer.nextRequest().stream, "ok")
        let streams = try [peer.nextRequest().stream, peer.nextRequest().stream]
        server.refuseConnections()
        isFull.open()
        areAllWaiting.wait()
        if release == "responses at once" {
          try server.acceptConnectionsAgain()
          peer.send(raw: streams.flatMap { FramePeer.response($0, "ok") })
          return try peer.serve { peer.respond($0.stream, "ok") }
        }
        if release == "goodbye" { peer.goAway(last: streams[1]) }
        if release == "limit" {
          peer.send(settings: [(id: 3, value: 5)])
          for _ in 0..<3 { peer.respond(try peer.nextRequest().stream, "ok") }
        }
        for stream in streams { peer.respond(stream, "ok") }
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let transport = try HTTP2.transport()
      let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
      let url = server.url
      @Sendable func get(_ count: Int) async -> [String] {
        await withTaskGroup(of: String.self) { group in
          for _ in 0..<count {
            group.addTask { (try? await TransportConformance.get(transport, url).text) ?? "failure" }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
      }
      #expect(await get(1) == ["ok"])
      async let held = get(2)
      try await isFull.wait()
      let impatient = Exchange(request: try HTTPRequest(url: url), connectTimeout: .milliseconds(50))
      #expect(await TransportConformance.failure(of: impatient, over: transport)?.kind == .connectTimeout)
      async let waiting = get(3)
      let origin = try HTTPURL(url).origin
      let end = ContinuousClock.now + .seconds(30)
      var areWaiting = false
      while !areWaiting, .now < end {
        areWaiting = await withCheckedContinuation { continuation in
          _ = timers.schedule(at: timers.now) {
            continuation.resume(returning: timers.loop.crowds[origin]?.count == 3)
          }
        }
      }
      #expect(areWaiting)
      areAllWaiting.signal()
      #expect(await held == ["ok", "ok"])
      #expect(await waiting == [String](repeating: release == "goodbye" ? "failure" : "ok", count: 3))
      #expect(server.connections == 1)
    }

    @Test(arguments: [true, false])
    func `a connection that takes no streams is not kept`(beforeResponse: Bool) async throws {
      let goodbyes = Counter()
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        if beforeResponse { peer.send(settings: [(id: 3, value: 0)]) }
        peer.respond(request.stream, "ok")
        if !beforeResponse { peer.send(settings: [(id: 3, value: 0)]) }
        _ = try peer.next { $0.kind == .goAway }
        goodbyes.add()
      }
      let transport = try HTTP2.transport()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      let isClosed = await eventually { server.openConnections == 0 }
      #expect(isClosed && goodbyes.value == 1)
    }

    @Test func `an idle connection is closed by its age`() async throws {
      let goodbyes = Counter()
      let server = try FrameServer { peer, _ in
        try peer.start()
        while true {
          let frame = try peer.next()
          if frame.kind == .goAway { goodbyes.add() }
          if frame.kind == .headers { peer.respond(frame.stream, "ok") }
        }
      }
      let transport = try HTTP2.transport { $0.maximumIdleAge = .milliseconds(100) }
      _ = try await TransportConformance.get(transport, server.url)
      let isClosed = await eventually { server.openConnections == 0 }
      #expect(isClosed && goodbyes.value == 1)
      #expect(try await TransportConformance.get(transport, server.url).metrics.isConnectionReused == false)
    }

    /// On the loop's thread, the second request begins before the loop checks the ages.
    @Test func `a connection above its age takes no request`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let transport = try HTTP2.transport { $0.maximumIdleAge = .nanoseconds(1) }
      let isReused = try await withTaskExecutorPreference(transport.executor) {
        _ = try await TransportConformance.get(transport, server.url)
        return try await TransportConformance.get(transport, server.url).metrics.isConnectionReused
      }
      #expect(isReused == false)
    }

    @Test func `an idle connection that the server closed is not used`() async throws {
      let server = try FrameServer { peer, server in
        try peer.start()
        let request = try peer.nextRequest()
        server.process(request.path)
        peer.respond(request.stream, "ok")
        peer.goAway(last: request.stream)
      }
      let transport = try HTTP2.transport()
      for number in 0..<20 {
        let request = try HTTPRequest(method: .post, url: server.url + "\(number)")
        #expect(try await transport.send(Exchange(request: request)).text == "ok")
        let isClosed = await eventually { server.openConnections == 0 }
        #expect(isClosed)
      }
      #expect(server.processed.count == 20 && server.connections == 20)
    }
  }
#endif
