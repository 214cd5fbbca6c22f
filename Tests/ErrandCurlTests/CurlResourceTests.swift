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
      try await ThreadChecks.exchangeKeepsTransport { CurlTransport() }
    }

    @Test func `a thousand stops leak nothing`() async throws {
      try await ThreadChecks.survivesStops(CurlTransport())
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
