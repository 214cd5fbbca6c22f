import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

extension TransportConformance {
  /// The largest delay between a stop and the end of a call that these checks accept. The project's limit is 100 ms;
  /// the margin is for the threads of the tests, which all run at the same time.
  #if TSAN
    package static let lateness = Duration.seconds(60)
  #else
    package static let lateness = Duration.seconds(30)
  #endif

  static let stops = [
    Check("stopped call sends nothing") { transport in
      let server = try LoopbackServer { _ in .ok() }
      let call = CallState()
      call.stop(.cancelled)
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call)
      #expect(await stop(of: exchange, over: transport) == .cancelled)
      #expect(server.connectionCount == 0)
    },
    Check("stop ends the wait for a connection", needs: .observesStop) { transport in
      let gate = Gate()
      var options = LoopbackOptions()
      options.greeting = { _ in .stall(until: gate) }
      let server = try LoopbackServer(options) { _ in .ok() }
      try await stops(transport, server) { try await server.wait { $0.connectionCount == 1 } }
    },
    Check("stop ends the wait for response headers", needs: .observesStop) { transport in
      let server = try LoopbackServer { _ in .stall() }
      try await stops(transport, server) { try await server.request(number: 1) }
    },
    Check("stop ends the wait for the body", needs: .observesStop) { transport in
      let gate = Gate()
      let server = try LoopbackServer { _ in
        LoopbackAnswer([
          .head(status: 200, headers: ["Content-Length": "5"]), .body([1, 2]), .reach(gate), .wait(Gate()),
        ])
      }
      try await stops(transport, server) { try await gate.reached() }
    },
    Check("stop ends a paused body", needs: [.observesStop, .bodySink]) { transport in
      let paused = Gate()
      let server = try LoopbackServer { _ in .endless() }
      let sink = RecordingSink { _ in
        .sink
      } onPiece: { _, _ in
        paused.open()
        return false
      }
      try await stops(transport, server, sink: sink) {
        try await server.request(number: 1)
        while sink.pieces == 0 { await Task.yield() }
      }
    },
    Check("deadline ends a silent call in time", needs: .observesStop) { transport in
      let server = try LoopbackServer { _ in .stall() }
      let start = MonotonicInstant.now
      let call = CallState(
        deadline: start.advanced(by: .milliseconds(150)), timers: transport.timers ?? SharedTimers.shared)
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call)
      #expect(await stop(of: exchange, over: transport) == .expired)
      let took = start.duration(to: .now)
      #expect(took >= .milliseconds(150))
      #expect(took < .milliseconds(150) + lateness)
      #expect(call.openWaits == 0)
    },
    Check("deadline ends a slow body in time", needs: .observesStop) { transport in
      let server = try LoopbackServer { _ in .ok(String(repeating: "x", count: 1000)).dripped(every: .milliseconds(10))
      }
      let start = MonotonicInstant.now
      let call = CallState(
        deadline: start.advanced(by: .milliseconds(200)), timers: transport.timers ?? SharedTimers.shared)
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call)
      #expect(await stop(of: exchange, over: transport) == .expired)
      let took = start.duration(to: .now)
      #expect(took >= .milliseconds(200))
      #expect(took < .milliseconds(200) + lateness)
    },
    Check("many deadlines end in time", needs: .observesStop) { transport in
      let server = try LoopbackServer { _ in .stall() }
      let timers = transport.timers ?? SharedTimers.shared
      await withTaskGroup { group in
        for number in 0..<64 {
          group.addTask {
            let end = MonotonicInstant.now.advanced(by: .milliseconds(100 + number))
            let call = CallState(deadline: end, timers: timers)
            guard let request = try? HTTPRequest(url: server.url) else { return }
            #expect(await stop(of: Exchange(request: request, call: call), over: transport) == .expired)
            #expect(end.duration(to: .now) < lateness)
          }
        }
      }
    },
    Check("idle time-out ends a silent call") { transport in
      let server = try LoopbackServer { _ in .stall() }
      let start = MonotonicInstant.now
      let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: .milliseconds(150))
      let failure = await failure(of: exchange, over: transport)
      #expect(failure?.kind == .idleTimeout)
      #expect(failure?.isCertainlyNotSent == false)
      let took = start.duration(to: .now)
      #expect(took >= .milliseconds(150))
      #expect(took < .milliseconds(150) + lateness)
    },
    Check("slow body is not idle") { transport in
      let server = try LoopbackServer { _ in
        .ok(String(repeating: "x", count: 12)).dripped(of: .body, every: .milliseconds(400))
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: .seconds(4))
      #expect(try await transport.send(exchange).body.count == 12)
    },
    Check("paused sink is not idle", needs: .bodySink) { transport in
      let server = try LoopbackServer { _ in .generated(count: 300_000) }
      let sink = RecordingSink { _ in
        .sink
      } onPiece: { number, flow in
        guard number == 1 else { return true }
        _ = SharedTimers.shared.schedule(at: .now.advanced(by: .seconds(5))) { flow.resume() }
        return false
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), idleTimeout: .seconds(4), sink: sink)
      _ = try await transport.send(exchange)
      #expect(sink.count == 300_000)
    },
  ]

  /// Starts an exchange, waits for the point and stops the call. Checks that the call ends soon and that the next
  /// exchange succeeds.
  private static func stops(
    _ transport: any Transport, _ server: LoopbackServer, sink: (any BodySink)? = nil,
    at point: () async throws -> Void
  ) async throws {
    let call = CallState()
    let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call, sink: sink)
    async let reason = stop(of: exchange, over: transport)
    try await point()
    let start = MonotonicInstant.now
    call.stop(.cancelled)
    #expect(await reason == .cancelled)
    #expect(start.duration(to: .now) < lateness)
    #expect(call.openWaits == 0)
    try await server.wait { $0.openConnectionCount == 0 }
    let other = try LoopbackServer { _ in .ok("right") }
    #expect(try await get(transport, other.url).text == "right")
  }
}
