import ErrandCore
import ErrandTesting
import Foundation
import Testing

extension TransportConformance {
  static let resending = [
    Check("POST is not resent on a closing connection") { transport in
      for method in [HTTPMethod.post, .delete, .patch, .put] {
        for body in [nil, Data(), Data([1, 2, 3]), Data(count: 100_000)] as [Data?] {
          let server = try LoopbackServer()
          server.enqueue(.ok("first"), .closeBeforeAnswer, .ok("third"))
          _ = try await get(transport, server.url)
          let request = try HTTPRequest(method: method, url: server.url, body: body.map(HTTPBody.init))
          let failure = await failure(of: Exchange(request: request), over: transport)
          #expect(failure?.kind == .closedBeforeResponse)
          #expect(failure?.isCertainlyNotSent == false)
          #expect(server.requests.count == 2)
          #expect(try await get(transport, server.url).text == "third")
        }
      }
    },
    Check("truncated status line does not resend POST") { transport in
      let server = try LoopbackServer()
      server.enqueue(.ok("first"), .raw("HTTP/1.1 20"), .ok("third"))
      _ = try await get(transport, server.url)
      let request = try HTTPRequest(method: .post, url: server.url, body: HTTPBody(Data([1])))
      #expect(await failure(of: Exchange(request: request), over: transport) != nil)
      #expect(server.requests.count == 2)
    },
    Check("closed idle connection is hidden from the caller") { transport in
      for method in [HTTPMethod.get, .post] {
        let gate = Gate()
        let server = try LoopbackServer()
        server.enqueue(.ok("first").closed(at: gate), .ok("second"))
        _ = try await get(transport, server.url)
        gate.open()
        try await server.wait { $0.openConnectionCount == 0 }
        let request = try HTTPRequest(method: method, url: server.url)
        #expect(try await transport.send(Exchange(request: request)).text == "second")
        #expect(server.requests.count == 2)
      }
    },
    Check("unsolicited bytes are not a response") { transport in
      for method in [HTTPMethod.get, .post] {
        let gate = Gate()
        let sent = Gate()
        let server = try LoopbackServer()
        server.enqueue(
          .ok("first").unsolicited("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", at: gate, sent: sent),
          .ok("second"))
        _ = try await get(transport, server.url)
        gate.open()
        try await sent.reached()
        let request = try HTTPRequest(
          method: method, url: server.url, body: method == .post ? HTTPBody(Data([1])) : nil)
        #expect(try await transport.send(Exchange(request: request)).text == "second")
        #expect(server.requests.count == 2)
        #expect(server.connectionCount == 2)
      }
    },
    Check("bytes after the end close the connection") { transport in
      let answers: [LoopbackAnswer] = [
        .ok("right").extra("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
        .chunked(["right"]).extra("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
        .status(204).extra("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
        .status(304).extra("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
        .status(200).extra("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
        .status(204, headers: ["Content-Length": "5"]).extra("right"),
      ]
      for answer in answers {
        let server = try LoopbackServer { request in request.path == "/next" ? .ok("next") : answer }
        let response = try await get(transport, server.url)
        #expect(response.text == "right" || response.body.isEmpty)
        #expect(try await get(transport, server.url + "/next").text == "next")
        #expect(server.connectionCount == 2)
      }
    },
  ]
}
