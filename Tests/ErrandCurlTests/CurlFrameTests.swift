#if os(Linux)
  import ErrandCore
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// HTTP/2 frames written by hand, over cleartext connections.
  @Suite(.serialized) struct CurlFrameTests {
    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
      let count = payload.count
      return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags, 0, 0, 0, stream]
        + payload
    }

    static let settings = frame(4)
    static let ping = frame(6, [1, 2, 3, 4, 5, 6, 7, 8])
    /// The header `:status: 200`, then the body `ok`.
    static let response = frame(1, flags: 4, stream: 1, [0x88]) + frame(0, stream: 1, Array("ok".utf8))

    /// A literal field without compression (RFC 7541 section 6.2.2).
    static func field(_ name: String, _ value: String) -> [UInt8] {
      [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    static func transport() throws -> CurlTransport {
      var configuration = CurlConfiguration()
      configuration.httpVersion = .http2PriorKnowledge
      return try CurlTransport(configuration)
    }

    /// A server that sends these bytes as soon as a client connects, then sends `flood` without end.
    static func server(_ bytes: [UInt8], flood: [UInt8]? = nil) throws -> LoopbackServer {
      var options = LoopbackOptions()
      options.greeting = { _ in
        var steps: [LoopbackAnswer.Step] = [.bytes(bytes)]
        steps.append(flood.map { .bytes($0, times: nil) } ?? .wait(Gate()))
        return LoopbackAnswer(steps)
      }
      return try LoopbackServer(options)
    }

    @Test(arguments: [1, 8, 9, 40])
    func `number of HTTP/2 trailers is limited`(_ count: Int) async throws {
      let trailers = (0..<count).flatMap { Self.field("t\($0 % 10)", "value") }
      let server = try Self.server(
        Self.settings + Self.response + Self.frame(1, flags: 5, stream: 1, trailers))
      let limits = ResponseLimits(fieldCount: 8)
      let exchange = Exchange(request: try HTTPRequest(url: server.url), limits: limits)
      if count <= 8 {
        let response = try await Self.transport().send(exchange)
        #expect(response.text == "ok" && response.trailers.all.count == count)
      } else {
        let failure = await TransportConformance.failure(of: exchange, over: try Self.transport())
        #expect(failure?.kind == .tooLarge)
      }
    }

    @Test(arguments: [1, 30])
    func `size of HTTP/2 trailers is limited`(_ count: Int) async throws {
      let trailers = (0..<count).flatMap { Self.field("t\($0 % 10)", String(repeating: "v", count: 100)) }
      let server = try Self.server(
        Self.settings + Self.response + Self.frame(1, flags: 5, stream: 1, trailers))
      let limits = ResponseLimits(headBytes: 1000)
      let exchange = Exchange(request: try HTTPRequest(url: server.url), limits: limits)
      if count == 1 {
        #expect(try await Self.transport().send(exchange).trailers.all.count == 1)
      } else {
        let failure = await TransportConformance.failure(of: exchange, over: try Self.transport())
        #expect(failure?.kind == .tooLarge)
      }
    }

    struct Flood: Sendable, CustomTestStringConvertible {
      let name: String
      let first: [UInt8]
      let again: [UInt8]
      var testDescription: String { name }
    }

    static func repeated(_ bytes: [UInt8]) -> [UInt8] { (0..<(65_536 / bytes.count)).flatMap { _ in bytes } }

    static let floods = [
      Flood(name: "settings", first: settings, again: repeated(settings)),
      Flood(name: "ping", first: settings, again: repeated(ping)),
      Flood(name: "ping answers", first: settings, again: repeated(frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8]))),
      Flood(name: "window updates", first: settings, again: repeated(frame(8, [0, 0, 0, 1]))),
      Flood(name: "priority", first: settings, again: repeated(frame(2, stream: 1, [0, 0, 0, 0, 1]))),
      Flood(name: "unknown frames", first: settings, again: repeated(frame(0x77, []))),
      Flood(name: "empty data", first: settings + response, again: repeated(frame(0, stream: 1))),
      Flood(name: "continuations", first: settings + frame(1, stream: 1, [0x88]), again: repeated(frame(9, stream: 1))),
      Flood(
        name: "informational", first: settings,
        again: repeated(frame(1, flags: 4, stream: 1, [0x08, 3] + Array("103".utf8)))),
      Flood(name: "resets", first: settings, again: repeated(frame(3, stream: 3, [0, 0, 0, 8]))),
    ]

    @Test(arguments: floods)
    func `frame flood does not delay other calls`(_ flood: Flood) async throws {
      let server = try Self.server(flood.first, flood: flood.again)
      let healthy = try Self.server(Self.settings + Self.response + Self.frame(0, flags: 1, stream: 1))
      let transport = try Self.transport()
      let timers = try #require(transport.timers)
      let attacked = CallState(deadline: nil, timers: timers)
      let limit = Duration.seconds(60)
      // The shortest duration of ten calls, because other load on the machine delays some of them.
      var best = limit
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: attacked)
      let task = Task { try await transport.send(exchange) }
      try await server.wait { $0.connectionCount == 1 }
      for _ in 0..<10 {
        let begun = timers.now
        let call = CallState(deadline: begun.advanced(by: limit), timers: timers)
        let response = try await transport.send(Exchange(request: HTTPRequest(url: healthy.url), call: call))
        #expect(response.text == "ok")
        best = min(best, begun.duration(to: timers.now))
      }
      #expect(isSanitized || best < .seconds(1))
      attacked.stop(.cancelled)
      let result = await task.result
      #expect(throws: (any Error).self) { try result.get() }
    }

    typealias Sample = CurlWatchdog.Sample
    static let samples: [(before: Sample, now: Sample, culprit: Int32?)] = [
      (Sample(turn: 1, read: [4: 0, 5: 0]), Sample(turn: 1, read: [4: 40_000, 5: 50_000]), 5),
      (Sample(turn: 1, read: [4: 0, 5: 0]), Sample(turn: 1, read: [4: 40_000, 5: 10]), 4),
      (Sample(turn: 1, read: [4: 0]), Sample(turn: 1, read: [4: 32_767]), nil),
      (Sample(turn: 1, read: [:]), Sample(turn: 1, read: [4: 40_000]), nil),
      (Sample(turn: 1, read: [4: 0]), Sample(turn: 3, read: [4: 40_000]), nil),
      (Sample(turn: 2, read: [4: 0]), Sample(turn: 2, read: [4: 40_000]), nil),
      (Sample(turn: 1, callbacks: 1, read: [4: 0]), Sample(turn: 1, callbacks: 2, read: [4: 40_000]), nil),
    ]

    @Test(arguments: samples.indices)
    func `only a connection without progress is closed`(_ index: Int) {
      let (before, now, culprit) = Self.samples[index]
      #expect(CurlWatchdog.culprit(before: before, now: now) == culprit)
    }

    /// The loop's thread may begin its next turn while the other thread ends the checks.
    @Test func `a turn during the last check is checked`() {
      let watchdog = CurlWatchdog()
      watchdog.beginTurn()
      #expect(watchdog.mustCheckAgain(after: 0))
      watchdog.endTurn()
      #expect(!watchdog.mustCheckAgain(after: 2))
    }
  }
#endif
