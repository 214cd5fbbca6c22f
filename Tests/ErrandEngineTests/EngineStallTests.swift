#if os(Linux)
  import ErrandCore
  import CodedSamples
  import ErrandDecoding
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Exchanges that wait: for the source of a body, for a sink, for the rest of a loop iteration.
  struct EngineStallTests {
    /// An exchange that ends after 30 seconds at the latest.
    private static func exchange(
      _ request: HTTPRequest, idleTimeout: Duration? = .seconds(60), limits: ResponseLimits = ResponseLimits(),
      sink: (any BodySink)? = nil
    ) -> Exchange {
      let timers = SharedTimers.shared
      let call = CallState(deadline: timers.now.advanced(by: .seconds(30)), timers: timers)
      return Exchange(request: request, call: call, idleTimeout: idleTimeout, limits: limits, sink: sink)
    }

    /// The response exceeds the decoding budget while the request body exceeds its share of the same iteration. The
    /// sink pauses in the last quarter of the response, because a connection is closed when its response is complete.
    @Test func `an upload continues beside a large coded response`() async throws {
      let coded = CodedSamples.encode([UInt8](repeating: 7, count: 8 << 20), .gzip)
      let body = HTTPBody(Data(repeating: 1, count: 6 << 20))
      for _ in 0..<3 {
        let server = try LoopbackServer()
        let answer = LoopbackAnswer.data(coded).setting("Content-Encoding", to: "gzip")
        server.enqueue(answer, reception: .afterAnswer)
        let request = try HTTPRequest(method: .put, url: server.url, body: body)
        let limits = ResponseLimits(expansion: nil)
        let hasArrived = Locked(false)
        let sink = RecordingSink(keeps: false, onPiece: { number, _ in number != 96 || hasArrived.withLock { $0 } })
        async let response = EngineTransport().send(Self.exchange(request, limits: limits, sink: sink))
        #expect(await eventually { server.requests.first?.bodyLength == 6 << 20 })
        hasArrived.withLock { $0 = true }
        sink.resume()
        #expect(try await response.status == 200 && sink.count == 8 << 20)
      }
    }

    @Test func `a refused upload with a paused source has a time-out`() async throws {
      let server = try LoopbackServer()
      server.enqueue(
        LoopbackAnswer([.head(status: 413, headers: ["Content-Length": "5"]), .wait(Gate())]), reception: .never)
      let body = HTTPBody.stream(length: 10) { flow in
        PieceSource([.bytes([1]), .later], PieceSource.Log(), flow) { _ in }
      }
      let request = try HTTPRequest(method: .post, url: server.url, body: body)
      let exchange = Self.exchange(request, idleTimeout: .milliseconds(100))
      #expect(await TransportConformance.failure(of: exchange, over: EngineTransport())?.kind == .idleTimeout)
    }

    /// The loop is busy until the wait for status 100 is over, and then performs a command before it looks for events.
    @Test func `a rejection during a busy loop spares the body`() async throws {
      let holds = try await withinTheSecond {
        let (continues, unblocks) = (Gate(), DispatchSemaphore(value: 0))
        let log = PieceSource.Log()
        let server = try LoopbackServer()
        server.enqueue(
          LoopbackAnswer([.wait(continues), .head(status: 413, headers: ["Content-Length": "0"]), .close]),
          reception: .never)
        let transport = EngineTransport()
        let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
        let body = HTTPBody.stream(length: 1) { flow in PieceSource([.bytes([1])], log, flow) { _ in } }
        let exchange = Self.exchange(
          try HTTPRequest(method: .post, url: server.url, body: body.expectingContinue()))
        let sending = Task { try await transport.send(exchange) }
        _ = try await server.request(number: 1)
        await ThreadChecks.block(timers, until: unblocks)
        continues.open()
        #expect(await eventually { server.openConnectionCount == 0 })
        timers.loop.push(.abort(EngineExchange(Self.exchange(try HTTPRequest(url: server.url)))))
        _ = SharedTimers.shared.schedule(at: .now.advanced(by: EngineExchange.continueWait)) { unblocks.signal() }
        #expect(try await sending.value.status == 413)
        return log.opened == 0
      }
      #expect(holds)
    }

    /// The loop is busy until the connect time-out is over, and then performs a command before it looks for events.
    @Test func `a response to CONNECT during a busy loop counts`() async throws {
      let limit = Duration.milliseconds(500)
      let holds = try await withinTheSecond {
        let (continues, hasSent, unblocks) = (Gate(), Gate(), DispatchSemaphore(value: 0))
        let proxy = try LoopbackServer()
        proxy.enqueue(
          LoopbackAnswer([.wait(continues), .head(status: 403, headers: ["Content-Length": "0"]), .reach(hasSent)]))
        var configuration = EngineConfiguration()
        configuration.proxy = .url(proxy.url)
        let transport = try EngineTransport(configuration)
        let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
        let exchange = Exchange(request: try HTTPRequest(url: "https://one.example/"), connectTimeout: limit)
        async let failure = TransportConformance.failure(of: exchange, over: transport)
        _ = try await proxy.request(number: 1)
        await ThreadChecks.block(timers, until: unblocks)
        continues.open()
        try await hasSent.reached()
        timers.loop.push(.abort(EngineExchange(exchange)))
        _ = SharedTimers.shared.schedule(at: .now.advanced(by: limit)) { unblocks.signal() }
        return await failure?.kind == .proxy
      }
      #expect(holds)
    }

    @Test(arguments: [BodyDisposition.memory(limit: 1_000), .discard])
    func `bytes behind a shortened body close the connection`(disposition: BodyDisposition) async throws {
      let length = disposition == .discard ? 1 << 21 : 2_000
      let text = "HTTP/1.1 404 Not Found\r\nContent-Length: \(length)\r\n\r\n"
      let excess = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
      let bytes = Array(text.utf8) + [UInt8](repeating: 0x61, count: length) + Array(excess.utf8)
      let server = try LoopbackServer()
      server.enqueue(.raw(bytes, thenCloses: false), .ok("right"))
      let transport = EngineTransport()
      let sink = RecordingSink(disposition: { _ in disposition })
      _ = try await transport.send(Self.exchange(try HTTPRequest(url: server.url), sink: sink))
      #expect(try await TransportConformance.get(transport, server.url).text == "right")
      #expect(server.connectionCount == 2)
    }

    @Test func `a connection that ended during a pause is not kept`() async throws {
      let hasClosed = Gate()
      let server = try LoopbackServer()
      server.enqueue(
        LoopbackAnswer([
          .head(status: 200, headers: ["Content-Length": "3"]), .body([1, 2, 3]), .halfClose, .reach(hasClosed),
        ]))
      let transport = EngineTransport()
      let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
      let sink = RecordingSink(onPiece: { _, _ in false })
      async let response = transport.send(Self.exchange(try HTTPRequest(url: server.url), sink: sink))
      try await hasClosed.reached()
      #expect(await eventually { sink.pieces == 1 })
      sink.resume()
      #expect(try await response.status == 200 && sink.bytes == Data([1, 2, 3]))
      let kept = await withCheckedContinuation { continuation in
        _ = timers.schedule(at: timers.now) { continuation.resume(returning: timers.loop.pool.count) }
      }
      #expect(kept == 0)
    }

    /// The loop reads the last bytes and the error of the socket together, and the sink pauses between them.
    @Test func `a reset during a pause is a failure`() async throws {
      let continues = Gate()
      let server = try LoopbackServer()
      server.enqueue(LoopbackAnswer([.head(status: 200), .body([1]), .wait(continues), .body([2]), .reset]))
      let sink = RecordingSink(onPiece: { _, _ in false })
      let exchange = Self.exchange(try HTTPRequest(url: server.url), sink: sink)
      async let failure = TransportConformance.failure(of: exchange, over: EngineTransport())
      #expect(await eventually { sink.pieces == 1 })
      continues.open()
      #expect(await eventually { server.openConnectionCount == 0 })
      sink.resume()
      #expect(await eventually { sink.pieces == 2 })
      sink.resume()
      #expect(await failure?.kind == .reset)
    }

    /// The loop learns of the reset when it sends, before it reads the response. A rejection is still a response,
    /// because a server that rejects an upload usually resets the connection. A response whose end arrived before the
    /// reset is complete.
    @Test(arguments: [(200, false), (413, false), (200, true)])
    func `a reset during an upload follows a response`(status: Int, hasEnd: Bool) async throws {
      let (continues, unblocks) = (Gate(), DispatchSemaphore(value: 0))
      let server = try LoopbackServer()
      server.enqueue(
        LoopbackAnswer(
          [.wait(continues), .head(status: status), .body([1])] + (hasEnd ? [.halfClose] : []) + [.reset]),
        reception: .never)
      let transport = EngineTransport()
      let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
      let body = HTTPBody(Data(repeating: 1, count: 32 << 20))
      let exchange = Self.exchange(try HTTPRequest(method: .post, url: server.url, body: body))
      let sending = Task { try await transport.send(exchange) }
      _ = try await server.request(number: 1)
      // The loop waits here, so that the response and the reset arrive before it handles the next event.
      await ThreadChecks.block(timers, until: unblocks)
      continues.open()
      #expect(await eventually { server.openConnectionCount == 0 })
      unblocks.signal()
      switch await sending.result {
      case .success(let response): #expect((status == 413 || hasEnd) && response.status == status)
      case .failure(let error): #expect(status == 200 && !hasEnd && (error as? TransportFailure)?.kind == .reset)
      }
    }
  }
#endif
