#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// The code of GOAWAY in the messages of failures.
  struct HTTP2GoAwayTests {
    private static let calm = 11

    /// The failure of a request whose server sends GOAWAY, after a response has begun or before, and closes the
    /// connection.
    private static func failure(_ code: Int, afterHead: Bool) async throws -> TransportFailure? {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let stream = try peer.nextRequest().stream
        if afterHead { peer.headers(stream, [(":status", "200")]) }
        peer.goAway(last: stream, code)
        // The client acknowledges the settings before the connection ends.
        _ = try peer.next { $0.kind == .settings && $0.flags & 1 == 1 }
      }
      let exchange = Exchange(request: try HTTPRequest(method: .post, url: server.url))
      return await TransportConformance.failure(of: exchange, over: try HTTP2.transport())
    }

    @Test(arguments: [true, false]) func `a lost connection names the code of GOAWAY`(afterHead: Bool) async throws {
      let failure = try await Self.failure(Self.calm, afterHead: afterHead)
      #expect(failure?.kind == (afterHead ? .truncated : .closedBeforeResponse))
      #expect(failure?.description.hasSuffix("(the server ended the connection with ENHANCE_YOUR_CALM).") == true)
    }

    @Test func `a normal GOAWAY is no cause`() async throws {
      let failure = try await Self.failure(0, afterHead: false)
      #expect(failure?.kind == .closedBeforeResponse)
      #expect(failure?.description.contains("the server ended the connection") == false)
    }

    @Test func `an unprocessed request names the code of GOAWAY`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        _ = try peer.nextRequest()
        peer.goAway(last: 0, Self.calm)
        _ = try peer.next { $0.kind == .goAway }
      }
      let exchange = Exchange(request: try HTTPRequest(method: .post, url: server.url))
      let failure = await TransportConformance.failure(of: exchange, over: try HTTP2.transport())
      #expect(failure?.kind == .closedBeforeResponse && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.hasSuffix("(the server ended the connection with ENHANCE_YOUR_CALM).") == true)
    }
  }
#endif
