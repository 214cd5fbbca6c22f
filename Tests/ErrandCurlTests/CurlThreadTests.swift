#if os(Linux)
  import CodedSamples
  import ErrandCore
  import ErrandDecoding
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Responses that need much work. Calls to another server over the same transport must keep their deadlines.
  @Suite(.serialized) struct CurlThreadTests {
    private static let layered = CodedSamples.encode(DecompressionBomb.zstd, .zstd)

    @Test(arguments: DecompressionBomb.Attack.allCases)
    func `decompression bomb does not delay other calls`(_ attack: DecompressionBomb.Attack) async throws {
      try await DecompressionBomb(attack, layered: Self.layered).check(CurlTransport())
    }

    /// The limit applies to each destination.
    @Test(arguments: [200, 500])
    func `decoding stops at the limit`(_ status: Int) async throws {
      let server = try LoopbackServer { _ in
        .data(DecompressionBomb.zstd, status: status).setting("Content-Encoding", to: "zstd")
      }
      // Takes the best of up to ten rounds, because other load on the machine delays some of them.
      var best = Duration.seconds(600)
      for _ in 0..<(isSanitized ? 1 : 10) where best >= .seconds(5) {
        best = min(best, try await Self.timeOfLimitedBodies(server, status))
      }
      #expect(isSanitized || best < .seconds(5))
    }

    /// Receives a decompression bomb with three destinations that have a limit.
    private static func timeOfLimitedBodies(_ server: LoopbackServer, _ status: Int) async throws -> Duration {
      let transport = CurlTransport()
      let request = try HTTPRequest(url: server.url)
      let begun = ContinuousClock.now
      let limits = ResponseLimits(bodyBytes: 1 << 20)
      do {
        let response = try await transport.send(Exchange(request: request, limits: limits))
        #expect(status == 500 && response.body.count == 1 << 20)
      } catch let failure as TransportFailure {
        #expect(status == 200 && failure.kind == .tooLarge)
      }
      let sink = RecordingSink(keeps: false) { _ in .memory(limit: 1 << 20) }
      let refused = try await transport.send(Exchange(request: request, limits: limits, sink: sink))
      #expect(refused.status == status)
      let download = Exchange(request: request, limits: limits, sink: RecordingSink(keeps: false))
      let failure = await TransportConformance.failure(of: download, over: transport)
      #expect(failure?.kind == .tooLarge)
      return ContinuousClock.now - begun
    }

    @Test func `body of many pieces is complete`() async throws {
      let plain = [UInt8]((0..<(9 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 12) })
      for coding in [ContentCoding.gzip, .zstd] {
        let coded = CodedSamples.encode(plain, coding)
        let server = try LoopbackServer()
        let chunks = stride(from: 0, to: coded.count, by: 333).map { coded[$0..<min($0 + 333, coded.count)] }
        for _ in 0..<3 {
          server.enqueue(
            .data(coded).setting("Content-Encoding", to: coding.rawValue),
            .chunked(chunks).setting("Content-Encoding", to: coding.rawValue))
        }
        let transport = CurlTransport()
        for _ in 0..<6 {
          let response = try await TransportConformance.get(transport, server.url)
          #expect(Array(response.body) == plain)
        }
      }
    }

    /// The thread is busy until the idle time-out is over, and then executes a command before it calls libcurl.
    @Test func `response during busy time is read`() async throws {
      let limit = Duration.milliseconds(500)
      let holds = try await withinTheSecond {
        let (continues, hasSent, unblocks) = (Gate(), Gate(), DispatchSemaphore(value: 0))
        let server = try LoopbackServer()
        server.enqueue(
          LoopbackAnswer([.wait(continues), .head(status: 404, headers: ["Content-Length": "0"]), .reach(hasSent)]))
        let transport = CurlTransport()
        let timers = try #require(transport.timers as? LoopThread<CurlLoop>)
        let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: limit)
        let sending = Task { try await transport.send(exchange) }
        _ = try await server.request(number: 1)
        await ThreadChecks.block(timers, until: unblocks)
        continues.open()
        try await hasSent.reached()
        timers.loop.push(.abort(CurlTransfer(exchange, loop: timers.loop)))
        _ = SharedTimers.shared.schedule(at: .now.advanced(by: limit)) { unblocks.signal() }
        let response = try? await sending.value
        return response?.status == 404
      }
      #expect(holds)
    }

    @Test func `many decompression bombs share the thread`() async throws {
      let server = try LoopbackServer { _ in .data(DecompressionBomb.zstd).setting("Content-Encoding", to: "zstd") }
      let healthy = try LoopbackServer { _ in .ok("fine") }
      let transport = CurlTransport()
      let timers = try #require(transport.timers)
      let call = CallState(deadline: nil, timers: timers)
      try await withThrowingTaskGroup { group in
        for _ in 0..<40 {
          let exchange = Exchange(
            request: try HTTPRequest(url: server.url), call: call,
            limits: ResponseLimits(bodyBytes: 1 << 20, expansion: nil), sink: RecordingSink(keeps: false))
          group.addTask { _ = try? await transport.send(exchange) }
        }
        try await server.wait { $0.requests.count == 40 }
        let limit = Duration.seconds(60)
        // The shortest duration of five calls, because other load on the machine delays some of them.
        var best = limit
        for _ in 0..<5 {
          let begun = timers.now
          let other = CallState(deadline: begun.advanced(by: limit), timers: timers)
          let response = try await transport.send(Exchange(request: HTTPRequest(url: healthy.url), call: other))
          #expect(response.text == "fine")
          best = min(best, begun.duration(to: timers.now))
        }
        #expect(isSanitized || best < .seconds(1))
        call.stop(.cancelled)
        try await group.waitForAll()
      }
    }
  }
#endif
