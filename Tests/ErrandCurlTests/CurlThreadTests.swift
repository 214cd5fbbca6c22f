#if os(Linux)
  import CodedSamples
  import ErrandCore
  import ErrandDecoding
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Responses that need much work. Calls to another server over the same transport must keep their deadlines.
  @Suite(.serialized) struct CurlThreadTests {
    /// Every four bytes expand to 128 KiB of zeros (RFC 8878 section 3.1.1.2: blocks of one repeated byte).
    static let zstd: [UInt8] =
      [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38] + (0..<65_536).flatMap { _ in [0x02, 0x00, 0x10, 0x00] as [UInt8] }

    static let layered = CodedSamples.encode(zstd, .zstd)

    enum Attack: String, CaseIterable, Sendable { case ok, error, refused, download, layered }

    private static func exchange(_ attack: Attack, _ url: String) throws -> Exchange {
      let request = try HTTPRequest(url: url + "/\(attack)")
      let limits = ResponseLimits(bodyBytes: 8 << 30, expansion: nil)
      switch attack {
      case .ok, .error, .layered: return Exchange(request: request, limits: limits)
      case .refused:
        let sink = RecordingSink(keeps: false) { _ in .memory(limit: 8 << 30) }
        return Exchange(request: request, limits: limits, sink: sink)
      case .download: return Exchange(request: request, limits: limits, sink: RecordingSink(keeps: false))
      }
    }

    @Test(arguments: Attack.allCases)
    func `decompression bomb does not delay other calls`(_ attack: Attack) async throws {
      let server = try LoopbackServer { request in
        let isLayered = request.path == "/layered"
        let coding = isLayered ? "zstd, zstd" : "zstd"
        return .data(
          isLayered ? Self.layered : Self.zstd,
          status: request.path == "/error" || request.path == "/refused" ? 500 : 200
        )
        .setting("Content-Encoding", to: coding)
      }
      let healthy = try LoopbackServer { _ in .ok("fine") }
      let transport = CurlTransport()
      let timers = try #require(transport.timers)
      let attacker = CallState(deadline: nil, timers: timers)
      let base = try Self.exchange(attack, server.url)
      let exchange = Exchange(request: base.request, call: attacker, limits: base.limits, sink: base.sink)
      let task = Task { try await transport.send(exchange) }
      try await server.wait { $0.requests.count == 1 }
      for _ in 0..<5 {
        let call = CallState(deadline: timers.now.advanced(by: .seconds(1)), timers: timers)
        let begun = timers.now
        let response = try await transport.send(Exchange(request: HTTPRequest(url: healthy.url), call: call))
        #expect(response.text == "fine")
        #expect(begun.duration(to: timers.now) < .milliseconds(500))
      }
      attacker.stop(.cancelled)
      _ = await task.result
    }

    /// The limit applies to each destination.
    @Test(arguments: [200, 500])
    func `decoding stops at the limit`(_ status: Int) async throws {
      let server = try LoopbackServer { _ in
        .data(Self.zstd, status: status).setting("Content-Encoding", to: "zstd")
      }
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
      #expect(ContinuousClock.now - begun < .seconds(5))
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

    @Test func `many decompression bombs share the thread`() async throws {
      let server = try LoopbackServer { _ in .data(Self.zstd).setting("Content-Encoding", to: "zstd") }
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
        for _ in 0..<5 {
          let other = CallState(deadline: timers.now.advanced(by: .seconds(1)), timers: timers)
          let response = try await transport.send(Exchange(request: HTTPRequest(url: healthy.url), call: other))
          #expect(response.text == "fine")
        }
        call.stop(.cancelled)
        try await group.waitForAll()
      }
    }
  }
#endif
