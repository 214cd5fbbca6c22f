#if os(Linux)
  import CCurl
  import ErrandCore
  import Foundation
  import Glibc
  import Testing

  @testable import ErrandCurl

  /// A response that is unread in the socket when libcurl fails to send a request body.
  struct CurlUnreadResponseTests {
    private let loop = CurlLoop(CurlConfiguration(), .standard)

    private static let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much"

    @Test(arguments: [refusal, "HTTP/1.1 100 Continue\r\n\r\n\(refusal)"])
    func `unread response is delivered`(words: String) throws {
      let response = try outcome(of: "http://example.com/", leaving: words)
      #expect(response.status == 413 && response.body == Data("too much".utf8))
    }

    @Test(arguments: [
      (refusal, "too much"), ("HTTP/1.1 204 No Content\r\n\r\n", ""),
      ("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n", ""),
    ])
    func `bytes after the response are ignored`(words: String, body: String) throws {
      let response = try outcome(of: "http://example.com/", leaving: words + "HTTP/1.1 400 Bad Request\r\n\r\n")
      #expect(response.body == Data(body.utf8))
    }

    @Test(arguments: [
      ("", TransportFailure.Kind.closedBeforeResponse), ("HTTP/1.1 413 Content", .closedBeforeResponse),
      ("220 mail.example ready\r\n\r\n", .closedBeforeResponse), (String(refusal.dropLast()), .reset),
      // Without a length, only an orderly end of the connection would show that the body is complete.
      ("HTTP/1.0 413 No\r\n\r\ntoo much", .reset),
    ])
    func `incomplete or invalid response fails`(words: String, kind: TransportFailure.Kind) throws {
      let failure = #expect(throws: TransportFailure.self) { try outcome(of: "http://example.com/", leaving: words) }
      #expect(failure?.kind == kind && failure?.isCertainlyNotSent == false, "\(failure as Any)")
    }

    @Test func `TLS records are not a response`() throws {
      let failure = #expect(throws: TransportFailure.self) {
        try outcome(of: "https://example.com/", leaving: Self.refusal)
      }
      #expect(failure?.kind == .closedBeforeResponse, "\(failure as Any)")
    }

    @Test func `no response is read without a body`() throws {
      #expect(throws: TransportFailure.self) {
        try outcome(of: "http://example.com/", uploading: false, leaving: Self.refusal)
      }
    }

    @Test func `unread status 417 starts the request again`() throws {
      let words = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"
      let body = HTTPBody.stream(length: 9, isReplayable: true) { _ in Silence() }.expectingContinue()
      try withUnreadResponse(words, to: "http://example.com/", body) { transfer, _ in
        #expect(transfer.prepareRestart(after: CURLE_SEND_ERROR))
      }
    }

    @Test func `bytes before the request are no response`() throws {
      let (ours, theirs) = try Self.sockets()
      defer { close(ours) }
      #expect(send(theirs, Self.refusal, Self.refusal.utf8.count, Int32(MSG_NOSIGNAL)) == Self.refusal.utf8.count)
      close(theirs)
      try withExtendedLifetime(loop) {
        let body = HTTPBody.stream(length: 9) { _ in Silence() }
        let request = try HTTPRequest(method: .post, url: "http://example.com/", body: body)
        let transfer = CurlTransfer(Exchange(request: request), loop: loop)
        transfer.pull(body)
        let connection = loop.connections.opened(ours)
        (connection.requests, connection.speaksHTTP1, connection.keepsUnreadBytes) = (1, true, true)
        #expect(!transfer.mayRequest(over: connection))
        loop.connections.closed(ours)
        #expect(transfer.prepareRestart(after: CURLE_ABORTED_BY_CALLBACK))
        #expect(!connection.unreadBytes.isEmpty && !transfer.parser.hasBegun)
      }
    }

    /// The result of a request for which the server leaves `words` unread and closes before it has read the whole
    /// request, so that libcurl cannot continue sending.
    private func outcome(of url: String, uploading: Bool = true, leaving words: String) throws -> HTTPResponse {
      let body = uploading ? HTTPBody.stream(length: 9) { _ in Silence() } : nil
      return try withUnreadResponse(words, to: url, body) { transfer, handle in
        #expect(!transfer.prepareRestart(after: CURLE_SEND_ERROR))
        return try CurlFailure.outcome(of: transfer, handle: handle, code: CURLE_SEND_ERROR)
      }
    }

    private func withUnreadResponse<Result>(
      _ words: String, to url: String, _ body: HTTPBody?, _ check: (CurlTransfer, CurlHandle) throws -> Result
    ) throws -> Result {
      let (ours, theirs) = try Self.sockets()
      defer { close(ours) }
      #expect(send(ours, "begun", 5, Int32(MSG_NOSIGNAL)) == 5)
      #expect(send(theirs, words, words.utf8.count, Int32(MSG_NOSIGNAL)) == words.utf8.count)
      close(theirs)
      return try withExtendedLifetime(loop) {
        let request = try HTTPRequest(method: .post, url: url, body: body)
        let transfer = CurlTransfer(Exchange(request: request), loop: loop)
        transfer.pull(body)
        let handle = try #require(
          CurlHandle(configuration: CurlConfiguration(), trust: .standard, connections: loop.connections))
        #expect(transfer.mayRequest(over: loop.connections.opened(ours)))
        #expect(send(ours, "more", 4, Int32(MSG_NOSIGNAL)) == -1)
        loop.connections.closed(ours)
        return try check(transfer, handle)
      }
    }

    /// Two connected sockets.
    private static func sockets() throws -> (Int32, Int32) {
      try withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2) { pair in
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, pair.baseAddress) == 0)
        return (pair[0], pair[1])
      }
    }

    private final class Silence: BodySource {
      func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead { .later }
    }
  }
#endif
