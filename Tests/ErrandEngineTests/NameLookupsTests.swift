#if os(Linux)
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  struct NameLookupsTests {
    /// The current and the highest number of running lookups.
    private final class Meter: Sendable {
      private let counts = Locked((now: 0, most: 0))
      var most: Int { counts.withLock { $0.most } }

      func begin() {
        counts.withLock { counts in
          counts.now += 1
          counts.most = max(counts.most, counts.now)
        }
      }

      func end() { counts.withLock { $0.now -= 1 } }
    }

    @Test func `lookups use no more threads than the maximum`() async {
      let meter = Meter()
      let gate = DispatchSemaphore(value: 0)
      let lookups = NameLookups(mostThreads: 3) { _, _ in
        meter.begin()
        gate.wait()
        meter.end()
        return .success([])
      }
      await withTaskGroup { group in
        for number in 0..<20 {
          group.addTask {
            await withCheckedContinuation { continuation in
              lookups.addresses(of: "host\(number)", port: 80) { _ in continuation.resume() }
              gate.signal()
            }
          }
        }
      }
      #expect(meter.most <= 3)
    }

    @Test func `a cancelled lookup does not delay others`() async {
      let gate = DispatchSemaphore(value: 0)
      let found = Locked<[String]>([])
      let lookups = NameLookups(mostThreads: 2) { host, _ in
        found.withLock { $0.append(host) }
        if host == "dead" { gate.wait() }
        return .success([])
      }
      let dead = (0..<20).map { _ in lookups.addresses(of: "dead", port: 80) { _ in } }
      await withCheckedContinuation { continuation in
        lookups.addresses(of: "good", port: 80) { _ in continuation.resume() }
        for lookup in dead { lookups.cancel(lookup) }
        for _ in dead { gate.signal() }
      }
      // The threads may have begun two lookups before these were cancelled.
      #expect(found.withLock { $0.count } <= 3)
    }

    /// Lookups that record the hosts. Those of hosts whose names begin with `dead` wait for a signal.
    private final class SlowNames: Sendable {
      let gate = DispatchSemaphore(value: 0)
      let found = Locked<[String]>([])

      func transport(threads: Int) -> EngineTransport {
        let names = NameLookups(mostThreads: threads) { [self] host, port in
          found.withLock { $0.append(host) }
          if host.hasPrefix("dead") { gate.wait() }
          return .success([SocketAddress(numeric: "127.0.0.1", port: port)].compactMap { $0 })
        }
        return EngineTransport(over: EngineLoop(EngineConfiguration(), names: names), resolver: nil)
      }

      /// Begins a call, and stops it after the lookup of its host has begun.
      func stopCall(to url: String, over transport: EngineTransport) async throws {
        let call = CallState()
        let exchange = Exchange(request: try HTTPRequest(url: url), call: call)
        let stopped = Task { await TransportConformance.stop(of: exchange, over: transport) }
        #expect(await eventually { found.withLock { !$0.isEmpty } })
        call.stop(.cancelled)
        #expect(await stopped.value == .cancelled)
      }

      /// Checks that a call meets its connect time-out.
      func expectTimeout(of url: String, over transport: EngineTransport) async throws {
        let exchange = Exchange(request: try HTTPRequest(url: url), connectTimeout: .milliseconds(50))
        #expect(await TransportConformance.failure(of: exchange, over: transport)?.kind == .connectTimeout)
      }
    }

    @Test func `an ended call cancels its lookup`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let names = SlowNames()
      let transport = names.transport(threads: 1)
      try await names.stopCall(to: "http://dead0.test:\(server.port)/", over: transport)
      // The only thread is in use, so these lookups do not begin.
      for number in 1..<3 {
        try await names.expectTimeout(of: "http://dead\(number).test:\(server.port)/", over: transport)
      }
      names.gate.signal()
      #expect(try await TransportConformance.get(transport, "http://good.test:\(server.port)/").text == "here")
      #expect(names.found.withLock { $0 } == ["dead0.test", "good.test"])
    }

    @Test func `a lookup that has begun is shared`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let names = SlowNames()
      let transport = names.transport(threads: 2)
      let dead = "http://dead.test:\(server.port)/"
      try await names.stopCall(to: dead, over: transport)
      for _ in 0..<2 { try await names.expectTimeout(of: dead, over: transport) }
      #expect(try await TransportConformance.get(transport, "http://good.test:\(server.port)/").text == "here")
      #expect(names.found.withLock { $0 } == ["dead.test", "good.test"])
      async let later = TransportConformance.get(transport, dead)
      // The later call shares the lookup, or begins another one after its end.
      for _ in 0..<2 { names.gate.signal() }
      #expect(try await later.text == "here")
    }

    @Test func `a lookup continues while another call waits`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let gate = DispatchSemaphore(value: 0)
      let names = NameLookups(mostThreads: 1) { host, port in
        gate.wait()
        return .success([SocketAddress(numeric: "127.0.0.1", port: port)].compactMap { $0 })
      }
      let transport = EngineTransport(over: EngineLoop(EngineConfiguration(), names: names), resolver: nil)
      func request(_ host: String) throws -> HTTPRequest { try HTTPRequest(url: "http://\(host):\(server.port)/") }
      let first = Exchange(request: try request("first.test"), connectTimeout: .milliseconds(50))
      #expect(await TransportConformance.failure(of: first, over: transport)?.kind == .connectTimeout)
      // The only thread is still in use, so the next lookup waits.
      let lasting = Exchange(request: try request("good.test"), connectTimeout: .seconds(30))
      async let response = transport.send(lasting)
      let second = Exchange(request: try request("good.test"), connectTimeout: .milliseconds(100))
      #expect(await TransportConformance.failure(of: second, over: transport)?.kind == .connectTimeout)
      for _ in 0..<2 { gate.signal() }
      #expect(try await response.text == "here")
    }

    @Test func `ended calls do not pile up at a lookup`() throws {
      let gate = DispatchSemaphore(value: 0)
      let names = NameLookups(mostThreads: 1) { _, _ in
        gate.wait()
        return .success([])
      }
      defer { gate.signal() }
      let loop = EngineLoop(EngineConfiguration(), names: names)
      let request = try HTTPRequest(url: "http://slow.test/")
      let lasting = EngineExchange(Exchange(request: request))
      // The loop's thread does not run, so this thread may use the loop.
      loop.start(lasting)
      for _ in 0..<1_000 {
        let ended = EngineExchange(Exchange(request: request))
        loop.start(ended)
        #expect(loop.lookups.values.map(\.count) == [2])
        loop.fail(ended, CancellationError())
      }
      #expect(loop.lookups.values.map(\.count) == [1])
      #expect(loop.lookups.values.allSatisfy { $0.waiting.count < 100 && $0.waiting.contains(where: \.isLookingUp) })
      loop.fail(lasting, CancellationError())
    }

    /// The time that 30,000 calls to one host need to end while their lookup runs.
    private static func endOfMany(_ names: NameLookups) throws -> Duration {
      let loop = EngineLoop(EngineConfiguration(), names: names)
      let request = try HTTPRequest(url: "http://slow.test/")
      let exchanges = (0..<30_000).map { _ in EngineExchange(Exchange(request: request)) }
      // The loop's thread does not run, so this thread may use the loop.
      for exchange in exchanges { loop.start(exchange) }
      let begun = ContinuousClock.now
      for exchange in exchanges { loop.fail(exchange, CancellationError()) }
      #expect(loop.lookups.values.allSatisfy { $0.waiting.isEmpty })
      return ContinuousClock.now - begun
    }

    @Test func `many calls leave one lookup quickly`() throws {
      let gate = DispatchSemaphore(value: 0)
      let names = NameLookups(mostThreads: 1) { _, _ in
        gate.wait()
        return .success([])
      }
      defer { gate.signal() }
      #expect(try Self.endOfMany(names) < .seconds(5))
    }

    /// A transport whose first lookups of `second.test` have no file descriptor.
    private static func transport(failures: Int) -> EngineTransport {
      let failed = Locked(0)
      let names = NameLookups(mostThreads: 1) { host, port in
        let number = failed.withLock { failed in
          failed += host == "second.test" ? 1 : 0
          return failed
        }
        if host == "second.test", number <= failures {
          return .failure(SocketAddress.LookupFailure(text: "no descriptor", lacksDescriptors: true))
        }
        return .success([SocketAddress(numeric: "127.0.0.1", port: port)].compactMap { $0 })
      }
      return EngineTransport(over: EngineLoop(EngineConfiguration(), names: names), resolver: nil)
    }

    @Test func `a lookup without descriptors closes an idle connection`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let transport = Self.transport(failures: 1)
      for host in ["first.test", "second.test"] {
        #expect(try await TransportConformance.get(transport, "http://\(host):\(server.port)/").text == "here")
      }
      try await server.wait { $0.connectionCount == 2 && $0.openConnectionCount == 1 }
      withExtendedLifetime(transport) {}
    }

    @Test func `a lookup without descriptors is no unknown host`() async throws {
      let server = try LoopbackServer { _ in .ok("here") }
      let transport = Self.transport(failures: .max)
      _ = try await TransportConformance.get(transport, "http://first.test:\(server.port)/")
      let exchange = Exchange(request: try HTTPRequest(url: "http://second.test:\(server.port)/"))
      let failure = await TransportConformance.failure(of: exchange, over: transport)
      #expect(failure?.kind == .other && failure?.isCertainlyNotSent == true)
      #expect(failure?.description == FailureText.outOfResources)
    }

    @Test func `an unknown host name has no address`() async {
      let answer = await withCheckedContinuation { continuation in
        NameLookups.shared.addresses(of: "no-such-host.invalid", port: 80) { continuation.resume(returning: $0) }
      }
      #expect(throws: SocketAddress.LookupFailure.self) { try answer.get() }
    }
  }
#endif
