#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import Synchronization
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// How late time-outs and deadlines are. The tests run one after the other. Each takes the best of several rounds
  /// because other load on the machine delays some rounds.
  @Suite(.serialized) struct EngineTimeTests {
    private static let bar = Duration.milliseconds(100)

    /// The shortest delay of up to twenty rounds.
    private static func best(_ round: () async throws -> Duration) async rethrows -> Duration {
      var best = Duration.seconds(60)
      for _ in 0..<20 where best >= bar { best = min(best, try await round()) }
      return isSanitized ? .zero : best
    }

    @Test func `the idle time-out ends a call in time`() async throws {
      let server = try LoopbackServer { _ in .stall() }
      let transport = EngineTransport()
      let late = try await Self.best {
        let begun = MonotonicInstant.now
        let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: .milliseconds(50))
        let failure = await TransportConformance.failure(of: exchange, over: transport)
        #expect(failure?.kind == .idleTimeout && failure?.isCertainlyNotSent == false)
        return begun.duration(to: .now) - .milliseconds(50)
      }
      #expect(late >= .zero && late < Self.bar)
    }

    @Test func `the idle time-out counts from the last byte`() async throws {
      let server = try LoopbackServer { _ in
        LoopbackAnswer([
          .head(status: 200, headers: ["Content-Length": "9"]), .pause(.milliseconds(60)), .body([1]),
          .pause(.milliseconds(60)), .body([2]), .wait(Gate()),
        ])
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: .seconds(5))
      let begun = MonotonicInstant.now
      let failure = await TransportConformance.failure(of: exchange, over: EngineTransport())
      #expect(failure?.kind == .idleTimeout && failure?.metrics?.bytesReceived ?? 0 > 2)
      #expect(begun.duration(to: .now) >= .milliseconds(5_120))
    }

    @Test func `the connect time-out ends a call in time`() async throws {
      let full = try FullListener()
      let transport = EngineTransport()
      let late = try await Self.best {
        let begun = MonotonicInstant.now
        let exchange = Exchange(request: try HTTPRequest(url: full.url), connectTimeout: .milliseconds(50))
        let failure = await TransportConformance.failure(of: exchange, over: transport)
        #expect(failure?.kind == .connectTimeout && failure?.isCertainlyNotSent == true)
        return begun.duration(to: .now) - .milliseconds(50)
      }
      #expect(late >= .zero && late < Self.bar)
    }

    @Test func `a deadline ends a call in time in every state`() async throws {
      let silent = try LoopbackServer { _ in .stall() }
      let endless = try LoopbackServer { _ in .endless() }
      let full = try FullListener()
      for url in [silent.url, endless.url, full.url] {
        let transport = EngineTransport()
        let timers = try #require(transport.timers)
        let late = try await Self.best {
          let end = timers.now.advanced(by: .milliseconds(50))
          let call = CallState(deadline: end, timers: timers)
          let exchange = Exchange(
            request: try HTTPRequest(url: url), call: call, sink: RecordingSink(keeps: false))
          #expect(await TransportConformance.stop(of: exchange, over: transport) == .expired)
          return end.duration(to: .now)
        }
        #expect(late < Self.bar, "\(url)")
      }
    }

    @Test func `a connection that was kept too long is not used`() async throws {
      let server = try LoopbackServer { _ in .ok("x") }
      var configuration = EngineConfiguration()
      configuration.maximumIdleAge = .milliseconds(20)
      let transport = try EngineTransport(configuration)
      #expect(try await TransportConformance.get(transport, server.url).text == "x")
      // The loop closes the idle connection without another request.
      try await server.wait { $0.openConnectionCount == 0 }
      #expect(try await TransportConformance.get(transport, server.url).text == "x")
      #expect(server.connectionCount == 2)
    }

    @Test func `no more idle connections are kept than the maximum`() async throws {
      let gate = Gate()
      let server = try LoopbackServer { _ in .ok("x").held(at: gate) }
      var configuration = EngineConfiguration()
      configuration.maximumIdleConnectionsPerHost = 2
      let transport = try EngineTransport(configuration)
      try await withThrowingTaskGroup { group in
        for _ in 0..<6 { group.addTask { _ = try await TransportConformance.get(transport, server.url) } }
        try await gate.reached(times: 6)
        gate.open()
        try await group.waitForAll()
      }
      try await server.wait { $0.openConnectionCount == 2 }
    }
  }
#endif
