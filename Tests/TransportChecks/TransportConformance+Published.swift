import ErrandCore
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

/// The cases of the conformance suite that is published with the proposal of an HTTP client API for Swift (the package
/// `swift-http-api-proposal`), and the checks for the same requirements. Checks in bold are in this file. Cases about
/// layers above a transport have tests of a client.
///
/// | case | check, or test of a client |
/// |---|---|
/// | `testNotHTTP` | "no HTTP at all" |
/// | `testBadHTTPCase` | "a lower-case version" |
/// | `testNoReason` | **"reason phrase may be missing"** |
/// | `test204WithContentLength`, `test304WithContentLength` | **"204 and 304 have no body"** |
/// | `testIncompleteBody` | "closed in the body" |
/// | `testConflictingContentLength` | "two lengths" |
/// | `testNoLengthHint` | "body without length ends with the connection" |
/// | `testOk` | "method and body arrive unchanged" |
/// | `testEchoString` | **"body comes back from the server"** |
/// | `testEcho1MBBody` | **"body comes back from the server"** |
/// | `testEmptyChunkedBody` | "source arrives complete and in order" |
/// | `testGzip`, `testBrotli`, `testIdentity` | **"announced codings are decoded"** |
/// | `testDeflate` | no transport announces it; `ContentDecoderTests` |
/// | `testCustomHeader`, `testClientSendsEmptyHeaderValue`, `testClientSendsMultiValueHeader` | "fields are sent unchanged" |
/// | `testServerSendsMultiValueHeader` | "response fields arrive unchanged" |
/// | `testHeadWithContentLength` | "HEAD response has no body" |
/// | `testNotFound` | "every final status is a response" |
/// | `testStatusOutOfRangeButValid` | **"status without a class is a response"** |
/// | `testStressTest` | "concurrent exchanges are independent" |
/// | `testURLParams` | "no field is added to a request" |
/// | `testUnderRead` | "stop ends a paused body" |
/// | `testDripRead` | **"body may arrive byte by byte"** |
/// | `testEchoInterleave`, `testSpeakInterleave` | **"bodies of both directions alternate"** |
/// | `testCancelPreHeaders` | "stop ends the wait for response headers" |
/// | `testCancelPreBody` | "stop ends the wait for the body" |
/// | `testTrailerRead` | "trailers arrive after the body" |
/// | `testTrailerWrite` | not supported: a request has no trailers |
/// | `testBasicRedirect`, `testInfiniteRedirect` | "redirects are delivered as responses"; `RedirectTests` |
/// | `testBasicCookieSetAndUse` | `CookieSocketTests` |
/// | `testETag` | `HTTPValidationTests` |
/// | `testGetConvenience`, `testPostConvenience` | `OneOffTests` |
extension TransportConformance {
  static let published = [
    Check("reason phrase may be missing") { transport in
      for line in ["HTTP/1.1 200 ", "HTTP/1.1 200"] {
        let server = try LoopbackServer { _ in .raw("\(line)\r\nContent-Length: 2\r\n\r\nok") }
        let response = try await get(transport, server.url)
        #expect(response.status == 200 && response.text == "ok")
      }
    },
    Check("204 and 304 have no body") { transport in
      for status in [204, 304] {
        let server = try LoopbackServer { request in
          request.number == 1
            ? .raw("HTTP/1.1 \(status) \r\nContent-Length: 1000\r\n\r\n", thenCloses: false) : .ok("next")
        }
        let response = try await get(transport, server.url)
        #expect(response.status == status && response.body.isEmpty)
        #expect(try await get(transport, server.url).text == "next")
      }
    },
    Check("status without a class is a response") { transport in
      for status in [599, 600, 999] {
        let server = try LoopbackServer { _ in .status(status) }
        #expect(try await get(transport, server.url).status == status)
      }
    },
    Check("body comes back from the server") { transport in
      let server = try LoopbackServer { .data($0.body) }
      for body in [Data("Hello".utf8), Data(repeating: 0x41, count: 1 << 20)] {
        let request = try HTTPRequest(method: .post, url: server.url, body: HTTPBody(body))
        #expect(try await transport.send(Exchange(request: request)).body == body)
      }
    },
    Check("announced codings are decoded") { transport in
      for coding in transport.contentCodings + ["identity"] {
        let bytes = try #require(coded[coding], "\(coding)")
        let server = try LoopbackServer { _ in .data(bytes).setting("Content-Encoding", to: coding) }
        let request = try HTTPRequest(url: server.url, fields: ["Accept-Encoding": "\(coding)"])
        #expect(try await transport.send(Exchange(request: request)).text == "interoperable", "\(coding)")
      }
    },
    Check("body may arrive byte by byte") { transport in
      let text = "every byte is a piece of its own"
      let sent = Gate()
      let pieces = text.utf8.flatMap { [LoopbackAnswer.Step.body([$0]), .reach(sent)] }
      let server = try LoopbackServer { _ in
        LoopbackAnswer([.head(status: 200, headers: ["Content-Length": "\(text.utf8.count)"])] + pieces)
      }
      #expect(try await get(transport, server.url).text == text)
    },
    Check("bodies of both directions alternate", needs: [.bodySource, .bodySink]) { transport in
      let (turns, gate) = (Turns(), Gate())
      var options = LoopbackOptions()
      options.reception = { _ in .afterAnswer }
      let server = try LoopbackServer(options) { _ in
        let turn: [LoopbackAnswer.Step] = [.bytes(Array("1\r\nA\r\n".utf8)), .wait(gate)]
        let turns = Array(repeating: turn, count: Turns.count).joined()
        let head = LoopbackAnswer.Step.head(status: 200, headers: ["Transfer-Encoding": "chunked"])
        return LoopbackAnswer([head] + turns + [.bytes(Array("0\r\n\r\n".utf8))])
      }
      let sink = RecordingSink(onPiece: { _, _ in
        turns.received()
        return true
      })
      let body = HTTPBody.stream { flow in Replies(turns, gate, flow) }
      let request = try HTTPRequest(method: .post, url: server.url, body: body)
      _ = try await transport.send(Exchange(request: request, sink: sink))
      #expect(sink.bytes == Data(repeating: 0x41, count: Turns.count))
      #expect(turns.sent == Turns.count)
    },
  ]

  /// The word "interoperable" in each coding.
  private static let coded: [String: [UInt8]] = [
    "identity": word,
    "gzip": [31, 139, 8, 0, 0, 0, 0, 0, 2, 3] + deflated + [26, 93, 192, 226, 13, 0, 0, 0],
    "br": [11, 6, 128] + word + [3],
    "zstd": [40, 181, 47, 253, 4, 88, 105, 0, 0] + word + [149, 54, 221, 124],
  ]
  private static let word = Array("interoperable".utf8)
  private static let deflated: [UInt8] = [203, 204, 43, 73, 45, 202, 47, 72, 45, 74, 76, 202, 73, 5, 0]

  /// The state of a request body that sends one byte for each byte of the response.
  private final class Turns: Sendable {
    static let count = 20

    private struct State {
      var (received, sent) = (0, 0)
      var flow: BodyFlow?
    }

    private let state = Locked(State())

    var sent: Int { state.withLock { $0.sent } }

    func received() {
      let flow = state.withLock { state in
        state.received += 1
        return state.flow
      }
      flow?.resume()
    }

    /// Whether the next byte is due. If not, `flow` resumes the body when it is.
    func next(_ flow: BodyFlow) -> Bool {
      state.withLock { state in
        state.flow = flow
        guard state.sent < state.received else { return false }
        state.sent += 1
        return true
      }
    }
  }

  /// Sends one byte for each byte of the response, and then lets the server send its next one.
  private final class Replies: BodySource {
    private let turns: Turns
    private let gate: Gate
    private let flow: BodyFlow

    init(_ turns: Turns, _ gate: Gate, _ flow: BodyFlow) {
      self.turns = turns
      self.gate = gate
      self.flow = flow
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
      guard turns.next(flow), let first = room.indices.first else { return .later }
      room[first] = 0x42
      gate.letPass()
      return .bytes(1)
    }
  }
}
