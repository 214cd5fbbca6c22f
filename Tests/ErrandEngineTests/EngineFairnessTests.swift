#if os(Linux)
  import CTLSServer
  import ErrandCore
  import ErrandDecoding
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// A large body receives only its share of each iteration of the loop, so that small calls continue at the same time.
  struct EngineFairnessTests {
    #if TSAN || ASAN
      private static let size = 64 << 20
    #else
      private static let size = 1 << 30
    #endif
    private static let smallCalls = 64
    /// The largest number of bytes of a body in one iteration of the loop, found by a timer that fires once in each
    /// iteration.
    private final class BusiestTurn: Sendable {
      private let timers: any Timers
      private let count: @Sendable () -> Int
      private let bytes = Locked((last: 0, most: 0))

      /// Begins to watch. The timer is set until the loop ends.
      init(_ transport: EngineTransport, _ count: @escaping @Sendable () -> Int) throws {
        timers = try #require(transport.timers)
        self.count = count
        fire()
      }

      var most: Int { bytes.withLock { $0.most } }

      private func fire() {
        let now = count()
        bytes.withLock { $0 = (now, max($0.most, now - $0.last)) }
        _ = timers.schedule(at: timers.now) { [weak self] in self?.fire() }
      }
    }

    @Test func `one iteration has one share`() {
      var share = TurnShare()
      #expect(share.left(in: 1) == TurnShare.most)
      share.use(TurnShare.most - 1)
      #expect(share.left(in: 1) == 1)
      share.use(10)
      #expect(share.left(in: 1) < 0)
      #expect(share.left(in: 2) == TurnShare.most)
    }

    /// A coded body that always has more bytes to decode than one iteration of the loop allows.
    private final class EndlessBody: LoopWork {
      unowned let loop: EngineLoop
      var isQueued = false
      var isOpen = true
      private(set) var pieces = 0

      init(_ loop: EngineLoop) { self.loop = loop }

      func continueTurn() {
        loop.decoding.beginPiece()
        if !loop.decoding.isUsedUp {
          pieces += 1
          loop.decoding.charge(256 << 10)
        }
        loop.continueLater(with: self)
      }
    }

    /// The budget of an iteration is enough for eight pieces.
    @Test func `coded bodies take turns`() {
      let loop = EngineLoop(EngineConfiguration())
      let bodies = (0..<20).map { _ in EndlessBody(loop) }
      for body in bodies { loop.continueLater(with: body) }
      for _ in 0..<10 {
        loop.beginTurn()
        loop.continueReady()
      }
      #expect(bodies.map(\.pieces) == [Int](repeating: 4, count: 20))
    }

    /// A job uses up the budget of each iteration, as the commands do that continue bodies whose sinks paused them.
    @Test func `a coded body continues beside commands`() async throws {
      let transport = EngineTransport()
      let loop = try #require(transport.timers as? LoopThread<EngineLoop>).loop
      let pieces = await Task(executorPreference: transport.executor) {
        let body = EndlessBody(loop)
        loop.continueLater(with: body)
        for _ in 0..<100 {
          loop.decoding.charge(4 << 20)
          await Task.yield()
        }
        body.isOpen = false
        return body.pieces
      }.value
      #expect(pieces > 0)
    }

    /// Receives a large body during small calls.
    private static func expectShares(
      _ transport: EngineTransport, _ big: String, size: Int, _ small: String,
      into sink: RecordingSink = RecordingSink(keeps: false)
    ) async throws {
      let ends = Counter()
      let busiest = try BusiestTurn(transport) { sink.count }
      let answered = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<smallCalls {
          group.addTask {
            while ends.value == 0 {
              let response = try await TransportConformance.get(transport, small)
              #expect(response.text == "small")
              answered.add()
            }
          }
        }
        #expect(await eventually { answered.value >= smallCalls })
        let response = try await transport.send(Exchange(request: HTTPRequest(url: big), sink: sink))
        ends.add()
        #expect(response.status == 200 && sink.count == size)
        try await group.waitForAll()
      }
      #expect(busiest.most > 0 && busiest.most <= TurnShare.most)
      #expect(isSanitized || answered.value > 2 * smallCalls)
    }

    @Test func `64 small calls continue during a gibibyte`() async throws {
      let big = try LoopbackServer { _ in .generated(count: Self.size) }
      let small = try LoopbackServer { _ in .ok("small") }
      try await Self.expectShares(EngineTransport(), big.url, size: Self.size, small.url)
    }

    @Test func `small calls continue while a body pauses often`() async throws {
      let size = Self.size / 4
      let big = try LoopbackServer { _ in .generated(count: size) }
      let small = try LoopbackServer { _ in .ok("small") }
      let transport = EngineTransport()
      let sink = RecordingSink(keeps: false) { _ in
        .sink
      } onPiece: { _, flow in
        // On the loop's thread, so that the body may continue several times in one iteration.
        Task(executorPreference: transport.executor) { flow.resume() }
        return false
      }
      try await Self.expectShares(transport, big.url, size: size, small.url, into: sink)
    }

    @Test func `small calls continue during a large body over TLS`() async throws {
      let size = Self.size / 4
      let server = try TLSServer { peer in
        guard peer.accept() else { return }
        while let request = peer.readRequest() {
          guard request.hasPrefix("GET /big") else {
            peer.answer("small")
            continue
          }
          peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
          let piece = [UInt8](repeating: 1, count: 1 << 20)
          for _ in 0..<(size / piece.count) { peer.write(piece) }
        }
      }
      try await Self.expectShares(server.transport(), server.url + "/big", size: size, server.url + "/")
    }

    @Test func `small calls continue during a large body over HTTP/2`() async throws {
      let size = Self.size / 4
      let big = try FrameServer { peer, _ in
        try peer.start()
        let windows = Windows(peer)
        while true {
          let frame = try peer.next()
          windows.take(frame)
          if frame.kind == .headers {
            peer.headers(frame.stream, [(":status", "200")])
            windows.send(frame.stream, size)
          }
          windows.sendMore()
        }
      }
      let small = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { peer.respond($0.stream, "small") }
      }
      try await Self.expectShares(HTTP2.transport(), big.url, size: size, small.url)
    }

    @Test func `a large upload sends only its share in each turn`() async throws {
      let server = try LoopbackServer { _ in .ok("small") }
      let transport = EngineTransport()
      let size = Self.size / 4
      let given = Counter()
      let body = HTTPBody.stream(length: Int64(size)) { _ in CountingSource(given, end: size) }
      let busiest = try BusiestTurn(transport) { given.value }
      let request = try HTTPRequest(method: .post, url: server.url, body: body)
      #expect(try await transport.send(Exchange(request: request)).text == "small")
      #expect(busiest.most > 0 && busiest.most <= TurnShare.most && given.value == size)
    }
  }
#endif
