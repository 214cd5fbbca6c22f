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

    /// The result of a request for which the server leaves `words` unread and closes before it has read the whole
    /// request, so that libcurl cannot continue sending.
    private func outcome(of url: String, uploading: Bool = true, leaving words: String) throws -> HTTPResponse {
      var (ours, theirs) = (Int32(-1), Int32(-1))
      try withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2) { pair in
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, pair.baseAddress) == 0)
        (ours, theirs) = (pair[0], pair[1])
      }
      defer { close(ours) }
      #expect(send(ours, "begun", 5, Int32(MSG_NOSIGNAL)) == 5)
      #expect(send(theirs, words, words.utf8.count, Int32(MSG_NOSIGNAL)) == words.utf8.count)
      close(theirs)
      return try withExtendedLifetime(loop) {
        let transfer = CurlTransfer(Exchange(request: try HTTPRequest(method: .post, url: url)), loop: loop)
        if uploading { transfer.pull(.stream(length: 9) { _ in Silence() }) }
        let handle = try #require(
          CurlHandle(configuration: CurlConfiguration(), trust: .standard, connections: loop.connections))
        #expect(transfer.mayRequest(over: loop.connections.opened(ours)))
        #expect(send(ours, "more", 4, Int32(MSG_NOSIGNAL)) == -1)
        loop.connections.closed(ours)
        return try CurlFailure.outcome(of: transfer, handle: handle, code: CURLE_SEND_ERROR)
      }
    }

    private final class Silence: BodySource {
      func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead { .later }
    }
  }
#endif
