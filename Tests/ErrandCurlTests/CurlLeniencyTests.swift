#if os(Linux)
  import ErrandCore
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Unusual responses that are accepted, similar ones that are refused, and responses after which a connection is
  /// closed.
  struct CurlLeniencyTests {
    @Test func `folded lines form one field`() async throws {
      let head = "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\t c\r\nContent-Length: 2\r\nY:\r\n  d\r\n\r\nab"
      let server = try LoopbackServer { _ in .raw(head, thenCloses: false) }
      let transport = CurlTransport()
      for _ in 0..<3 {
        let response = try await TransportConformance.get(transport, server.url)
        #expect(response.text == "ab")
        #expect(response.fields["X"] == "a b c" && response.fields["Y"] == "d")
      }
      #expect(server.connectionCount == 1)
    }

    @Test func `folded trailers form one field`() async throws {
      let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n c\r\n\r\n"
      let server = try LoopbackServer { _ in .raw(text, thenCloses: false) }
      let transport = CurlTransport()
      for _ in 0..<2 {
        #expect(try await TransportConformance.get(transport, server.url).trailers["A"] == "b c")
      }
      #expect(server.connectionCount == 1)
    }

    @Test(arguments: ["2 ", "2\t", "2 ;a=b", "2 ; a = \"b\" ", "2;a"])
    func `blanks after a chunk size are accepted`(_ size: String) async throws {
      let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nab\r\n0 \r\n\r\n"
      let server = try LoopbackServer { _ in .raw(text, thenCloses: false) }
      let transport = CurlTransport()
      for _ in 0..<2 { #expect(try await TransportConformance.get(transport, server.url).text == "ab") }
      #expect(server.connectionCount == 1)
    }

    @Test(arguments: [
      "Content-Length:\r\n 2", "Content-Length: 2\r\n ", "Content-Length: 2\r\n 3", "Transfer-Encoding:\r\n chunked",
    ])
    func `folded framing is malformed`(_ field: String) async throws {
      let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nX: y\r\n\(field)\r\n\r\n2\r\nab") }
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      let failure = await TransportConformance.failure(of: exchange, over: CurlTransport())
      #expect(failure?.kind == .malformedResponse)
    }

    /// The body arrives late, when the next request may already have been sent.
    @Test(arguments: [
      "HTTP/1.1 204 No Content\r\nContent-Length: 41\r\n\r\n",
      "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 103 Early\r\nContent-Length: 41\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
    func `forbidden body closes its connection`(_ head: String) async throws {
      let server = try LoopbackServer { request in
        request.path == "/next" ? .ok("right") : .raw(head, thenCloses: false)
      }
      let transport = CurlTransport()
      #expect(try await TransportConformance.get(transport, server.url).body.isEmpty)
      #expect(try await TransportConformance.get(transport, server.url + "/next").text == "right")
      #expect(server.connectionCount == 2)
    }

    private static let door = ProcessInfo.processInfo.environment["ERRAND_DOOR_TLS"]
    private static let certificates = ProcessInfo.processInfo.environment["ERRAND_CERTIFICATES"]

    @Test(.enabled(if: door != nil && certificates != nil, "needs the test servers"))
    func `TLS stream without close_notify is truncated`() async throws {
      var configuration = CurlConfiguration()
      configuration.certificateAuthority = .file(path: try #require(Self.certificates) + "/ca.pem")
      let transport = try CurlTransport(configuration)
      let door = try #require(Self.door)
      #expect(try await TransportConformance.get(transport, door + "/until-close").text == "hello")
      let exchange = Exchange(request: try HTTPRequest(url: door + "/cut"))
      let failure = await TransportConformance.failure(of: exchange, over: transport)
      #expect(failure?.kind == .truncated)
    }
  }
#endif
