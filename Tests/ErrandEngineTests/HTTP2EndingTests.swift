#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// The ways in which a stream or a connection ends.
  struct HTTP2EndingTests {
    private static let cancel = 8

    /// A body that never ends: it has one byte, then none until the test is over.
    private static func endless() -> HTTPBody {
      .stream { flow in PieceSource([.bytes([1]), .later], PieceSource.Log(), flow) { _ in } }
    }

    /// A server that answers each request, and the error codes of the RST_STREAM frames that it receives.
    private static func server(
      _ answer: @escaping @Sendable (FramePeer, Frame) -> Void
    ) throws -> (server: FrameServer, resets: Recorded<Int>) {
      let resets = Recorded<Int>()
      let server = try FrameServer { peer, _ in
        try peer.start()
        while true {
          let frame = try peer.next()
          if frame.kind == .reset { resets.append(frame.number) }
          if frame.kind == .headers { answer(peer, frame) }
        }
      }
      return (server, resets)
    }

    @Test(arguments: [true, false]) func `an empty body that claims gzip is empty`(withData: Bool) async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          let fields = [(":status", "200"), ("content-encoding", "gzip")]
          peer.headers(request.stream, fields, ends: !withData)
          if withData { peer.data(request.stream, [], ends: true) }
        }
      }
      let response = try await TransportConformance.get(HTTP2.transport(), server.url)
      #expect(response.status == 200 && response.body.isEmpty && response.metrics.version == .http2)
    }

    @Test(arguments: [true, false])
    func `a whole response ends an unfinished upload`(withReset: Bool) async throws {
      let (server, resets) = try Self.server { peer, frame in
        peer.respond(frame.stream, "early")
        if withReset { peer.reset(frame.stream, 0) }
      }
      let transport = try HTTP2.transport()
      let bodies = [Self.endless(), HTTPBody(randomBytes(500_000, seed: 1)), HTTPBody(Data([1]))]
      for round in 0..<30 {
        let response = try await transport.send(HTTP2.post(server.url, bodies[round % 3]))
        #expect(response.text == "early" && response.metrics.isConnectionReused == (round > 0))
      }
      #expect(server.connections == 1)
      guard !withReset else { return }
      // The client gives up the rest of the request.
      let isCancelled = await eventually { resets.count >= 20 }
      #expect(isCancelled && Set(resets.all) == [Self.cancel])
    }

    @Test func `a response before the body went out is the response`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { peer.respond($0.stream, "early", [("content-length", "5")]) }
      }
      let transport = try HTTP2.transport()
      for _ in 0..<300 {
        let response = try await transport.send(HTTP2.post(server.url, HTTPBody(Data("name=value".utf8))))
        #expect(response.text == "early")
      }
      #expect(server.connections == 1)
    }

    @Test(arguments: [0, 1, 2, 8, 11, 13, 77])
    func `a reset before the response is a failure`(code: Int) async throws {
      let server = try FrameServer { peer, server in
        try peer.start()
        try peer.serve { request in
          server.process(request.path)
          if request.path == "/ok" { peer.respond(request.stream, "ok") } else { peer.reset(request.stream, code) }
        }
      }
      let transport = try HTTP2.transport()
      _ = try await TransportConformance.get(transport, server.url + "ok")
      for method in [HTTPMethod.get, .post] {
        let request = try HTTPRequest(method: method, url: server.url)
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure?.kind == .http2 && failure?.isCertainlyNotSent == false)
        #expect(failure?.description.contains(HTTP2Session.name(of: UInt32(code))) == true)
      }
      #expect(try await TransportConformance.get(transport, server.url + "ok").metrics.isConnectionReused == true)
      #expect(server.processed == ["/ok", "/", "/", "/ok"] && server.connections == 1)
    }

    @Test func `a reset within the body is a failure`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          peer.headers(request.stream, [(":status", "200")])
          peer.data(request.stream, [1, 2, 3])
          peer.reset(request.stream, 7)
        }
      }
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: try HTTP2.transport())
      #expect(failure?.kind == .http2 && failure?.metrics?.bytesReceived ?? 0 > 3)
      #expect(failure?.metrics?.version == .http2 && server.connections == 1)
      #expect(failure?.metrics?.status == 200)
    }

    @Test func `a malformed response ends only its stream`() async throws {
      let (server, resets) = try Self.server { peer, frame in
        switch frame.path {
        case "/ok": peer.respond(frame.stream, "ok")
        case "/length": peer.respond(frame.stream, "too long", [("content-length", "3")])
        case "/short": peer.respond(frame.stream, "x", [("content-length", "3")])
        case "/upper": peer.respond(frame.stream, "x", [("X-Upper", "3")])
        case "/close": peer.respond(frame.stream, "x", [("connection", "close")])
        default: peer.headers(frame.stream, [("server", "x")], ends: true)
        }
      }
      let transport = try HTTP2.transport()
      for path in ["length", "short", "upper", "close", "status"] {
        let request = try HTTPRequest(url: server.url + path)
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure?.kind == .malformedResponse)
        #expect(try await TransportConformance.get(transport, server.url + "ok").text == "ok")
      }
      #expect(server.connections == 1 && Set(resets.all) == [1])
    }

    @Test func `a closed connection fails or repeats by method`() async throws {
      for (stage, getKind, postKind) in [
        ("request", nil, .closedBeforeResponse), ("head", .truncated, .truncated), ("body", .truncated, .truncated),
      ] as [(String, TransportFailure.Kind?, TransportFailure.Kind)] {
        for method in [HTTPMethod.get, .post] {
          let server = try FrameServer { peer, server in
            try peer.start()
            try peer.serve { request in
              server.process(request.path)
              if request.path == "/ok" || peer.number > 1 { return peer.respond(request.stream, "ok") }
              if stage == "head" { peer.headers(request.stream, [(":status", "103")]) }
              if stage == "body" { peer.headers(request.stream, [(":status", "200")]) }
              throw SocketFault(call: "closed by the test")
            }
          }
          let transport = try HTTP2.transport()
          _ = try await TransportConformance.get(transport, server.url + "ok")
          let exchange = Exchange(request: try HTTPRequest(method: method, url: server.url))
          if let kind = method == .get ? getKind : postKind {
            let failure = await TransportConformance.failure(of: exchange, over: transport)
            #expect(failure?.kind == kind && failure?.isCertainlyNotSent == false)
            #expect(server.processed == ["/ok", "/"])
          } else {
            let response = try await transport.send(exchange)
            #expect(response.text == "ok" && response.metrics.isConnectionReused == false)
            #expect(server.processed == ["/ok", "/", "/"] && server.connections == 2)
          }
        }
      }
    }

    @Test func `a cancelled call leaves the connection usable`() async throws {
      let reached = Latch()
      let (server, resets) = try Self.server { peer, frame in
        if frame.path == "/ok" {
          peer.respond(frame.stream, "ok")
        } else {
          peer.headers(frame.stream, [(":status", "200")])
          peer.data(frame.stream, [1, 2])
        }
      }
      let transport = try HTTP2.transport()
      let sink = RecordingSink(onPiece: { _, _ in
        reached.open()
        return true
      })
      let call = CallState()
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call, sink: sink)
      async let stop = TransportConformance.stop(of: exchange, over: transport)
      try await reached.wait()
      call.stop(.cancelled)
      #expect(await stop == .cancelled)
      let response = try await TransportConformance.get(transport, server.url + "ok")
      #expect(response.metrics.isConnectionReused == true && server.connections == 1)
      #expect(resets.all == [Self.cancel])
    }

    @Test func `a silent stream times out despite PING frames`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        _ = try peer.nextRequest()
        while true {
          peer.send(.ping, 0, [UInt8](repeating: 1, count: 8))
          _ = try peer.next { $0.kind == .ping && $0.flags & 1 == 1 }
          usleep(5000)  // the pace of the PING frames; without it they would count as a flood
        }
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: .milliseconds(200))
      let begun = ContinuousClock.now
      let failure = await TransportConformance.failure(of: exchange, over: try HTTP2.transport())
      #expect(failure?.kind == .idleTimeout && ContinuousClock.now - begun >= .milliseconds(200))
    }

    @Test func `a silent stream times out next to an upload`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let streams = try [peer.nextRequest(), peer.nextRequest()]
        guard let upload = streams.first(where: { $0.path == "/upload" })?.stream else { return }
        // The upload continues until the other call ends, for ten seconds at most.
        for _ in 0..<2_000 {
          for stream in [0, upload] { peer.send(window: 1000, on: stream) }
          usleep(5000)  // the pace of the upload
          if try peer.next(where: { $0.kind == .reset || ($0.kind == .data && $0.stream == upload) }).kind == .reset {
            break
          }
        }
        for stream in streams { peer.respond(stream.stream, "ok") }
        _ = try peer.next { $0.kind == .goAway }
      }
      let transport = try HTTP2.transport()
      let silent = Exchange(
        request: try HTTPRequest(method: .post, url: server.url + "silent", body: HTTPBody(Data([1]))),
        idleTimeout: .milliseconds(200))
      async let failure = TransportConformance.failure(of: silent, over: transport)
      let upload = try HTTP2.post(server.url + "upload", HTTPBody(Data(count: 2 << 20)))
      #expect(try await transport.send(upload).text == "ok")
      #expect(await failure?.kind == .idleTimeout)
    }

    /// A server whose first connection sends no byte after its first response, and a transport that has received this
    /// response and notices the silence soon.
    private static func silentServer(
      pinged: Latch = Latch()
    ) async throws -> (server: FrameServer, transport: EngineTransport) {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let first = try peer.nextRequest()
        peer.respond(first.stream, "ok")
        if peer.number == 1 { return peer.drain { pinged.open() } }
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let transport = try HTTP2.transport {
        $0.pingAfter = .zero
        $0.pingWait = .milliseconds(100)
      }
      _ = try await TransportConformance.get(transport, server.url)
      return (server, transport)
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a connection without an answer to PING is broken`(method: HTTPMethod) async throws {
      let (server, transport) = try await Self.silentServer()
      let exchange = Exchange(request: try HTTPRequest(method: method, url: server.url))
      let begun = ContinuousClock.now
      if method == .get {
        #expect(try await transport.send(exchange).text == "ok" && server.connections == 2)
      } else {
        let failure = await TransportConformance.failure(of: exchange, over: transport)
        #expect(failure?.kind == .closedBeforeResponse && failure?.isCertainlyNotSent == false)
      }
      #expect(ContinuousClock.now - begun >= .milliseconds(100))
    }

    @Test func `a connection without an answer takes no request`() async throws {
      let (pinged, isOverdue) = (Latch(), Latch())
      let (server, transport) = try await Self.silentServer(pinged: pinged)
      // The second call sends PING and ends before the answer is overdue. On a slow machine, it may end later, over
      // another connection.
      let call = CallState()
      let timers = try #require(transport.timers)
      let second = Exchange(request: try HTTPRequest(url: server.url), call: call)
      let stopped = Task { try? await transport.send(second) }
      try await pinged.wait()
      call.stop(.cancelled)
      let response = await stopped.value
      #expect(response == nil || server.connections == 2)
      _ = timers.schedule(at: timers.now.advanced(by: .milliseconds(300))) { isOverdue.open() }
      try await isOverdue.wait()
      let post = try HTTP2.post(server.url, HTTPBody(Data([1])))
      #expect(try await transport.send(post).text == "ok" && server.connections == 2)
    }

    @Test func `a request with endless headers is not sent`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let transport = try HTTP2.transport()
      let fields = HTTPFields([HTTPField("X-Long", String(repeating: "~", count: 3 << 20))])
      let request = try HTTPRequest(url: server.url, fields: fields)
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .unsupported && failure?.isCertainlyNotSent == true)
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
    }

    @Test func `a failing source ends only its stream`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in if request.path == "/ok" { peer.respond(request.stream, "ok") } }
      }
      let transport = try HTTP2.transport()
      let body = HTTPBody.stream { flow in PieceSource([.bytes([1]), .fail], PieceSource.Log(), flow) { _ in } }
      await #expect(throws: BodySourceFailure.self) { try await transport.send(HTTP2.post(server.url, body)) }
      #expect(try await TransportConformance.get(transport, server.url + "ok").metrics.isConnectionReused == true)
    }

    @Test func `a pushed request ends the connection`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          let block = FramePeer.literal(":method", "GET") + FramePeer.literal(":path", "/pushed")
          if peer.number == 1 { peer.send(.push, flags: 4, request.stream, FramePeer.number(2) + block) }
          peer.respond(request.stream, "ok")
        }
      }
      let transport = try HTTP2.transport()
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: transport)
      #expect(failure?.kind == .http2 && failure?.description.contains("PUSH_PROMISE") == true)
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      #expect(server.connections == 2)
    }
  }
#endif
