import ErrandCore
import ErrandTesting
import Foundation
import Testing

extension TransportConformance {
  /// One fault of a server or a connection, and the failure kinds that are correct for it.
  struct Fault: Sendable {
    let name: String
    let answer: LoopbackAnswer
    let kinds: [TransportFailure.Kind]
    var limits = ResponseLimits()

    func check() -> Check {
      Check(name) { transport in
        let server = try LoopbackServer { request in request.path == "/next" ? .ok("right") : answer }
        for method in [HTTPMethod.get, .post] {
          let request = try HTTPRequest(
            method: method, url: server.url + "/fault", body: method == .post ? HTTPBody(Data([1])) : nil)
          let failure = await failure(of: Exchange(request: request, limits: limits), over: transport)
          if let failure {
            #expect(kinds.contains(failure.kind), "\(method): \(failure)")
            #expect(!failure.isCertainlyNotSent)
          }
          #expect(server.requests.filter { $0.path == "/fault" && $0.method == method.rawValue }.count == 1)
          #expect(try await get(transport, server.url + "/next").text == "right")
        }
      }
    }
  }

  static let faults: [Check] =
    [
      Fault(name: "closed before a byte", answer: .closeBeforeAnswer, kinds: [.closedBeforeResponse]),
      Fault(name: "reset before a byte", answer: .resetBeforeAnswer, kinds: [.closedBeforeResponse]),
      Fault(
        name: "closed in the head", answer: .ok("hello").cut(after: 30, of: .everything),
        kinds: [.truncated, .closedBeforeResponse]),
      Fault(
        name: "reset in the head", answer: .ok("hello").reset(after: 30, of: .everything),
        kinds: [.reset, .truncated, .closedBeforeResponse]),
      Fault(name: "closed in the body", answer: .ok("hello").cut(after: 2), kinds: [.truncated]),
      Fault(
        name: "reset in the body", answer: .generated(count: 500_000).reset(after: 400_000),
        kinds: [.reset, .truncated]),
      Fault(name: "half-closed in the body", answer: .ok("hello").halfClosed(after: 2), kinds: [.truncated]),
      Fault(name: "no last chunk", answer: .chunked(["one", "two"], isComplete: false), kinds: [.truncated]),
      Fault(
        name: "no trailer end",
        answer: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n"),
        kinds: [.truncated]),
      Fault(name: "no HTTP at all", answer: .raw("SSH-2.0-OpenSSH_9.2\r\n"), kinds: [.malformedResponse]),
      Fault(
        name: "body beyond the limit", answer: .ok("0123456789"), kinds: [.tooLarge],
        limits: ResponseLimits(bodyBytes: 9)),
      Fault(
        name: "chunked body beyond the limit", answer: .chunked(["01234", "56789"]), kinds: [.tooLarge],
        limits: ResponseLimits(bodyBytes: 9)),
      Fault(name: "endless body", answer: .endless(), kinds: [.tooLarge], limits: ResponseLimits(bodyBytes: 1 << 20)),
      Fault(
        name: "head beyond the limit", answer: .ok().setting("X-Long", to: String(repeating: "x", count: 5000)),
        kinds: [.tooLarge], limits: ResponseLimits(headBytes: 4096)),
      Fault(
        name: "field of a megabyte", answer: .ok().setting("X-Long", to: String(repeating: "x", count: 1 << 20)),
        kinds: [.tooLarge]),
      Fault(
        name: "too many fields",
        answer: .raw("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 300) + "\r\n"), kinds: [.tooLarge]),
      Fault(
        name: "flood of informational responses", answer: .ok().informational(103, times: 5000), kinds: [.tooLarge]),
    ].map { $0.check() } + [connectionRefused, unknownHost, bodyAtTheLimit, longRefusal]

  private static let connectionRefused = Check("refused connection is a failure") { transport in
    let nobody = try RefusingPort()
    defer { withExtendedLifetime(nobody) {} }
    let failure = await failure(of: Exchange(request: try HTTPRequest(method: .post, url: nobody.url)), over: transport)
    #expect(failure?.kind == .refused)
    #expect(failure?.isCertainlyNotSent == true)
  }

  private static let unknownHost = Check("unknown host name is a failure") { transport in
    let request = try HTTPRequest(url: "http://no-such-host.invalid/")
    let failure = await failure(of: Exchange(request: request), over: transport)
    #expect(failure?.kind == .nameLookup)
    #expect(failure?.isCertainlyNotSent == true)
  }

  private static let longRefusal = Check("error body beyond the limit is truncated") { transport in
    for answer in [LoopbackAnswer.status(404, body: "0123456789"), .status(503, body: "0123456789")] {
      let server = try LoopbackServer { _ in answer }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), limits: ResponseLimits(bodyBytes: 9))
      let response = try await transport.send(exchange)
      #expect(response.text == "012345678" && response.isCut)
    }
  }

  private static let bodyAtTheLimit = Check("body at the limit is accepted") { transport in
    let server = try LoopbackServer { _ in .ok("0123456789") }
    let exchange = Exchange(request: try HTTPRequest(url: server.url), limits: ResponseLimits(bodyBytes: 10))
    #expect(try await transport.send(exchange).text == "0123456789")
  }

  /// Responses that break the framing of RFC 9112, so that nobody can say where they end, by name.
  package static let malformedResponses: [String: String] = [
    "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
    "a list of lengths": "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nab",
    "a negative length": "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nab",
    "a length with a sign": "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab",
    "a length with letters": "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nab",
    "an empty length": "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nab",
    "a huge length": "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nab",
    "Content-Length with chunked":
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunked in two fields":
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked not last": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "another transfer coding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "transfer coding identity": "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nab",
    "chunks in HTTP/1.0": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a blank before the colon": "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nab",
    "no colon": "HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\nab",
    "NUL in a field": "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nab",
    "a bare CR": "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nab",
    "bare LF": "HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
    "HTTP/2.0 in text": "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/2 in text": "HTTP/2 200 \r\nContent-Length: 2\r\n\r\nab",
    "HTTP/1.2": "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/3.7": "HTTP/3.7 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "a lower-case version": "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "a status of two digits": "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nab",
    "a status of four digits": "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nab",
    "no status": "HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\nab",
    "a blank line first": "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "an unasked switch": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "a chunk size of letters": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
    "an empty chunk size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nab\r\n0\r\n\r\n",
    "a huge chunk size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nab\r\n0\r\n\r\n",
    "a chunk size with bare LF": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n",
    "a chunk beyond its size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
  ]

  static let framing: [Check] =
    malformedResponses.sorted { $0.key < $1.key }
    .map { name, text in
      Fault(name: name, answer: .raw(text), kinds: [.malformedResponse]).check()
    } + floods.map { $0.check() }

  private static let floods = [
    Fault(
      name: "flood of chunk extensions",
      answer: .raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 100_000)
          + "\r\na\r\n0\r\n\r\n"),
      kinds: [.tooLarge]),
    Fault(
      name: "flood of trailers",
      answer: .raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "a: b\r\n", count: 60_000)
          + "\r\n"),
      kinds: [.tooLarge]),
  ]
}
