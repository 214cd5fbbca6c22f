#if os(Linux)
  import ErrandSupport
  import CodedSamples
  import ErrandCore
  import ErrandDecoding
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Response bodies: content codings, sinks, and limits on the loop's time.
  struct EngineBodyTests {
    private static func answer(_ bytes: [UInt8], coding: String) -> LoopbackAnswer {
      .data(bytes).setting("Content-Encoding", to: coding)
    }

    private static func checks(_ coding: ContentCoding) -> CodedBodyChecks {
      CodedBodyChecks(CodedSamples.text, coded: CodedSamples.text(in: coding), coding: coding.rawValue)
    }

    @Test(arguments: ContentCoding.allCases)
    func `a coded body arrives decoded`(_ coding: ContentCoding) async throws {
      try await Self.checks(coding).arrivesDecoded(over: EngineTransport())
    }

    @Test func `progress of a waiting body is current`() async throws {
      let gate = Gate()
      let server = try LoopbackServer { _ in
        LoopbackAnswer([
          .head(status: 200, headers: ["Content-Length": "3"]), .body([1]), .pause(.milliseconds(5)), .body([2]),
          .wait(gate), .body([3]),
        ])
      }
      let seen = Recorded<Int64>()
      let exchange = Exchange(
        request: try HTTPRequest(url: server.url),
        onProgress: { if $0.direction == .download { seen.append($0.bytes) } })
      async let response = EngineTransport().send(exchange)
      #expect(await eventually { seen.all.last == 2 })
      gate.open()
      #expect(try await response.body.count == 3 && seen.all.last == 3)
    }

    @Test(arguments: ContentCoding.allCases)
    func `a truncated coded body is an error`(_ coding: ContentCoding) async throws {
      try await Self.checks(coding).rejectsTruncation(over: EngineTransport())
    }

    @Test(arguments: ContentCoding.allCases)
    func `a decompression bomb stops at the limit`(_ coding: ContentCoding) async throws {
      let server = try LoopbackServer { _ in Self.answer(CodedSamples.zeros(in: coding), coding: coding.rawValue) }
      let request = try HTTPRequest(url: server.url)
      let failure = await TransportConformance.failure(
        of: Exchange(request: request, limits: ResponseLimits(bodyBytes: 1 << 20)), over: EngineTransport())
      #expect(failure?.kind == .tooLarge)
    }

    /// Bytes without a period that divides a buffer's size, so that a piece in the wrong place is noticed.
    private static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) } }

    /// The memory for a large body begins with 1 MiB, and has 128 KiB as its smallest size.
    @Test(arguments: [(128 << 10) - 1, 128 << 10, 1 << 20, (1 << 20) + 1, (5 << 20) + 7])
    func `a large body arrives in order`(length: Int) async throws {
      let body = Self.pattern(length)
      let server = try LoopbackServer { _ in .data(body) }
      let transport = EngineTransport()
      for _ in 0..<2 {
        #expect(try await TransportConformance.get(transport, server.url).body == Data(body))
      }
      #expect(server.connectionCount == 1)
    }

    @Test func `an exact large body keeps nothing behind it`() async throws {
      let head = "HTTP/1.1 200 OK\r\nContent-Length: \(1 << 20)\r\n\r\n"
      let excess = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
      let body = Self.pattern(1 << 20)
      let server = try LoopbackServer()
      server.enqueue(.raw(Array(head.utf8) + body + Array(excess.utf8), thenCloses: false), .ok("right"))
      let transport = EngineTransport()
      #expect(try await TransportConformance.get(transport, server.url).body == Data(body))
      #expect(try await TransportConformance.get(transport, server.url).text == "right")
      #expect(server.connectionCount == 2)
    }

    @Test func `a shortened large body is truncated`() async throws {
      let head = "HTTP/1.1 200 OK\r\nContent-Length: \(3 << 20)\r\n\r\n"
      let server = try LoopbackServer { _ in .raw(Array(head.utf8) + Self.pattern(2 << 20), thenCloses: true) }
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      #expect(await TransportConformance.failure(of: exchange, over: EngineTransport())?.kind == .truncated)
    }

    private static let layered = CodedSamples.encode(DecompressionBomb.zstd, .zstd)

    @Test(arguments: DecompressionBomb.Attack.allCases)
    func `a decompression bomb does not delay other calls`(_ attack: DecompressionBomb.Attack) async throws {
      try await DecompressionBomb(attack, layered: Self.layered).check(EngineTransport())
    }

    @Test func `an empty coded body is an empty body`() async throws {
      let server = try LoopbackServer { _ in .chunked([String]()).setting("Content-Encoding", to: "gzip") }
      #expect(try await TransportConformance.get(EngineTransport(), server.url).text == "")
    }

    @Test(arguments: ["compress", "gzip;q=1", "gzip, gzip, gzip, gzip, gzip, gzip"])
    func `a content coding that cannot be decoded is an error`(coding: String) async throws {
      let server = try LoopbackServer { _ in Self.answer([1, 2], coding: coding) }
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      let failure = await TransportConformance.failure(of: exchange, over: EngineTransport())
      #expect(failure?.kind == .undecodableContent)
    }

    @Test(arguments: ContentCoding.allCases)
    func `a sink that pauses often receives the whole body`(_ coding: ContentCoding) async throws {
      let server = try LoopbackServer { _ in Self.answer(CodedSamples.zeros(in: coding), coding: coding.rawValue) }
      let sink = RecordingSink(keeps: false) { _ in
        .sink
      } onPiece: { number, flow in
        guard number.isMultiple(of: 3) else { return true }
        if number.isMultiple(of: 2) { flow.resume() } else { Task.detached { flow.resume() } }
        return false
      }
      let exchange = Exchange(
        request: try HTTPRequest(url: server.url), limits: ResponseLimits(expansion: nil), sink: sink)
      _ = try await EngineTransport().send(exchange)
      #expect(sink.count == 8 << 20 && sink.ends == 1)
    }

    @Test func `a body that needs many loop iterations arrives completely`() async throws {
      let plain = [UInt8]((0..<(9 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 12) })
      for coding in [ContentCoding.gzip, .zstd] {
        let coded = CodedSamples.encode(plain, coding)
        let server = try LoopbackServer()
        let chunks = stride(from: 0, to: coded.count, by: 333).map { coded[$0..<min($0 + 333, coded.count)] }
        server.enqueue(
          Self.answer(coded, coding: coding.rawValue),
          .chunked(chunks).setting("Content-Encoding", to: coding.rawValue),
          Self.answer(coded, coding: coding.rawValue))
        let transport = EngineTransport()
        for _ in 0..<3 {
          let response = try await TransportConformance.get(transport, server.url)
          #expect(Array(response.body) == plain)
        }
        #expect(server.connectionCount == 1)
      }
    }

    @Test func `a sink receives large pieces`() async throws {
      let server = try LoopbackServer { _ in .generated(count: 8 << 20) }
      var largest = 0
      // On a slow machine the body may continue before the buffers are full, and then every piece may be small.
      for _ in 0..<20 where largest <= 64 << 10 {
        let all = try await Self.sizesAfterPause(server)
        #expect(all.reduce(0, +) == 8 << 20 && all.allSatisfy { $0 <= 512 << 10 })
        largest = max(largest, all.max() ?? 0)
      }
      // A read brings 64 KiB at most, so larger pieces are gathered ones.
      #expect(largest > 64 << 10)
    }

    /// The sizes of the pieces of a body. The sink pauses at the first piece until the system's buffers are full.
    private static func sizesAfterPause(_ server: LoopbackServer) async throws -> [Int] {
      let sizes = Locked<[Int]>([])
      let sink = MeasuringSink(sizes: { size in sizes.withLock { $0.append(size) } })
      async let response = EngineTransport().send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
      await sink.paused.waitStubbornly()
      var sent = -1
      while sent != server.record.sentCount {
        sent = server.record.sentCount
        for _ in 0..<300 { await Task.yield() }
      }
      sink.resume()
      _ = try await response
      return sizes.withLock { $0 }
    }

    @Test func `a paused sink makes the server wait`() async throws {
      let server = try LoopbackServer { _ in .endless() }
      let paused = Latch()
      let sink = RecordingSink(keeps: false) { _ in
        .sink
      } onPiece: { _, _ in
        paused.open()
        return false
      }
      let call = CallState()
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call, sink: sink)
      async let reason = TransportConformance.stop(of: exchange, over: EngineTransport())
      await paused.waitStubbornly()
      var sent = -1
      while sent != server.record.sentCount {
        sent = server.record.sentCount
        for _ in 0..<300 { await Task.yield() }
      }
      #expect(sink.pieces == 1)
      #expect(sent < 64 << 20)
      call.stop(.cancelled)
      #expect(await reason == .cancelled)
    }

    @Test func `a large body does not delay small calls`() async throws {
      let large = try LoopbackServer { _ in .endless() }
      let small = try LoopbackServer { _ in .ok("small") }
      let transport = EngineTransport()
      let call = CallState()
      let sink = RecordingSink(keeps: false)
      let exchange = Exchange(request: try HTTPRequest(url: large.url), call: call, sink: sink)
      async let reason = TransportConformance.stop(of: exchange, over: transport)
      while sink.pieces == 0 { await Task.yield() }
      var best = Duration.seconds(60)
      for _ in 0..<40 {
        let begun = ContinuousClock.now
        #expect(try await TransportConformance.get(transport, small.url).text == "small")
        best = min(best, ContinuousClock.now - begun)
      }
      if !isSanitized { #expect(best < .milliseconds(100)) }
      call.stop(.cancelled)
      #expect(await reason == .cancelled)
    }

    /// A sink that pauses at its first piece and reports the size of each piece.
    private final class MeasuringSink: BodySink {
      let paused = Latch()
      private let sizes: @Sendable (Int) -> Void
      private let flow = Locked<BodyFlow?>(nil)
      private let isFirst = Locked(true)

      init(sizes: @escaping @Sendable (Int) -> Void) { self.sizes = sizes }

      func resume() { flow.withLock { $0 }?.resume() }

      func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition {
        self.flow.withLock { $0 = flow }
        return .sink
      }

      func write(_ piece: UnsafeRawBufferPointer) -> Bool {
        sizes(piece.count)
        let isFirst = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if isFirst { paused.open() }
        return !isFirst
      }

      func end() {}
    }
  }
#endif
