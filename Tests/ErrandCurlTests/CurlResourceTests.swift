#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Threads and connections. The tests run one after the other because all tests share the threads of the process.
  @Suite(.serialized) struct CurlResourceTests {
    @Test func `released transport closes its connections`() async throws {
      let server = try LoopbackServer { _ in .ok("hello") }
      weak var timers: (any Timers)?
      do {
        let transport = CurlTransport()
        timers = transport.timers
        for _ in 0..<3 { #expect(try await TransportConformance.get(transport, server.url).text == "hello") }
        #expect(server.openConnectionCount == 1)
        #expect(timers != nil)
      }
      // The thread closes the connection when it frees libcurl's handles, as its last action.
      try await server.wait { $0.openConnectionCount == 0 }
      #expect(timers == nil)
    }

    @Test func `running exchange keeps its transport alive`() async throws {
      let gate = Gate()
      let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      async let response = CurlTransport().send(exchange)
      try await gate.reached()
      gate.open()
      #expect(try await response.text == "late")
      try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test func `a thousand stops leak nothing`() async throws {
      let server = try LoopbackServer { request in
        switch (Int(request.path.dropFirst()) ?? 0) % 5 {
        case 0: .ok("whole")
        case 1: .stall()
        case 2: .ok(String(repeating: "x", count: 500)).dripped(every: .milliseconds(1))
        case 3: .generated(count: 100_000)
        default: .chunked(["a", "b"]).cut(after: 4)
        }
      }
      let transport = CurlTransport()
      let timers = try #require(transport.timers)
      try await withThrowingTaskGroup { group in
        for worker in 0..<32 {
          group.addTask {
            for round in 0..<32 { try await Self.stopSomewhere(worker &* 31 &+ round, transport, timers, server.url) }
          }
        }
        try await group.waitForAll()
      }
      let last = try await TransportConformance.get(transport, server.url + "/0")
      #expect(last.text == "whole")
    }

    /// Runs one exchange that a stop or a deadline ends at a moment that depends on `number`.
    private static func stopSomewhere(
      _ number: Int, _ transport: CurlTransport, _ timers: any Timers, _ url: String
    ) async throws {
      let end = timers.now.advanced(by: .microseconds(number &* 7919 % 9000))
      let isDeadline = number.isMultiple(of: 2)
      let call = CallState(deadline: isDeadline ? end : nil, timers: timers)
      if !isDeadline { _ = timers.schedule(at: end) { call.stop(.cancelled) } }
      let exchange = Exchange(request: try HTTPRequest(url: url + "/\(number)"), call: call)
      do {
        let response = try await transport.send(exchange)
        #expect(number % 5 != 1 && number % 5 != 4)
        #expect(response.status == 200)
      } catch let stopped as CallState.Stopped {
        #expect(stopped.reason == (isDeadline ? .expired : .cancelled))
      } catch let failure as TransportFailure {
        #expect(number % 5 == 4)
        #expect(failure.kind == .truncated)
      }
      #expect(call.openWaits == 0)
    }

    @Test func `unused transport has no thread`() throws {
      weak var loop: CurlLoop?
      do {
        let transport = CurlTransport()
        loop = try #require(transport.timers as? LoopThread<CurlLoop>).loop
        #expect(loop != nil)
      }
      // A running thread would retain the loop.
      #expect(loop == nil)
    }

    @Test func `transport without resources recovers`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let loop = CurlLoop(CurlConfiguration(), .standard) { _ in nil }
      #expect(!loop.isUsable)
      #expect(try await TransportConformance.get(CurlTransport(over: loop), server.url).text == "here")
    }
  }
#endif
