import ErrandSupport
import ErrandCore
import ErrandTesting
import Foundation
import Testing

extension TransportConformance {
  static let messages = [
    Check("every final status is a response") { transport in
      let server = try LoopbackServer { request in
        .status(Int(request.path.dropFirst()) ?? 0, headers: ["X-Case": "Kept"])
      }
      for status in [200, 201, 204, 206, 301, 302, 304, 307, 400, 401, 404, 407, 416, 429, 500, 503] {
        let response = try await get(transport, server.url + "/\(status)")
        #expect(response.status == status)
        #expect(response.fields["x-case"] == "Kept")
        #expect(response.body.isEmpty)
      }
      #expect(server.connectionCount == 1)
    },
    Check("method and body arrive unchanged") { transport in
      let server = try LoopbackServer { _ in .ok() }
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
        for size in [nil, 0, 1, 300, 16_384, 16_385, 200_000] as [Int?] {
          let body = size.map { Data((0..<$0).map { UInt8(truncatingIfNeeded: $0) }) }
          let request = try HTTPRequest(
            method: HTTPMethod(method), url: server.url + "/b", body: body.map(HTTPBody.init))
          let response = try await transport.send(Exchange(request: request))
          #expect(response.status == 200)
          let seen = try #require(server.requests.last)
          #expect(seen.method == method)
          #expect(Data(seen.body) == body ?? Data(), "\(method) \(size ?? -1)")
          let needsLength = size != nil || ["POST", "PUT", "PATCH"].contains(method)
          #expect(
            seen.headers.values("Content-Length") == (needsLength ? [String(size ?? 0)] : []), "\(method) \(size ?? -1)"
          )
          #expect(seen.headers["Transfer-Encoding"] == nil)
        }
      }
      #expect(server.connectionCount == 1)
    },
    Check("HEAD response has no body") { transport in
      let server = try LoopbackServer { _ in .ok("hello") }
      for _ in 0..<2 {
        let request = try HTTPRequest(method: .head, url: server.url)
        let response = try await transport.send(Exchange(request: request))
        #expect(response.fields["Content-Length"] == "5")
        #expect(response.body.isEmpty)
      }
      #expect(try await get(transport, server.url).text == "hello")
      #expect(server.connectionCount == 1)
    },
    Check("fields are sent unchanged") { transport in
      let server = try LoopbackServer { _ in .ok() }
      let fields = HTTPFields([
        HTTPField("X-One", "1"), HTTPField("x-two", "a, b"), HTTPField("X-One", "second"), HTTPField("X-Empty", ""),
        HTTPField("Accept", "a/b"), HTTPField("X-Text", "grüße; q=\"1\""), HTTPField("Authorization", "Bearer s3cret"),
      ])
      for method in [HTTPMethod.get, .post] {
        _ = try await transport.send(
          Exchange(
            request: HTTPRequest(
              method: method, url: server.url, fields: fields, body: method == .post ? HTTPBody(Data([1])) : nil)))
        let seen = try #require(server.requests.last).headers.fields.filter {
          !["host", "content-length"].contains($0.name.lowercased())
        }
        #expect(seen.map(\.name) == ["X-One", "x-two", "X-One", "X-Empty", "Accept", "X-Text", "Authorization"])
        #expect(seen.map(\.value) == ["1", "a, b", "second", "", "a/b", "grüße; q=\"1\"", "Bearer s3cret"])
      }
    },
    Check("no field is added to a request") { transport in
      let server = try LoopbackServer { _ in .ok() }
      _ = try await get(transport, server.url + "/a//b/../c?x=%20&y")
      let seen = try #require(server.requests.last)
      #expect(seen.target == "/a//b/../c?x=%20&y")
      #expect(seen.headers.fields.map(\.name) == ["Host"])
    },
    Check("response fields arrive unchanged") { transport in
      let server = try LoopbackServer { _ in
        .raw(
          "HTTP/1.1 200 Very Well\r\nContent-Length: 2\r\nX-A:  one \t\r\nx-a: two\r\nX-Empty:\r\nX-L: gr\u{fc}n\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\nok",
          thenCloses: false)
      }
      let response = try await get(transport, server.url)
      #expect(response.head.reason == "Very Well")
      #expect(response.head.version == .http1_1)
      #expect(response.fields.values(of: "X-A") == ["one", "two"])
      #expect(response.fields["x-empty"] == "")
      #expect(response.fields["X-L"] == "grün")
      #expect(response.fields.values(of: .setCookie) == ["a=1", "b=2"])
      #expect(response.text == "ok")
      #expect(response.url.string == server.url)
    },
    Check("1xx responses are reported", needs: .informational) { transport in
      let server = try LoopbackServer { _ in
        .ok("final").informational(103, headers: ["Link": "</a>"]).informational(102)
      }
      let seen = Locked<[ResponseHead]>([])
      let response = try await transport.send(
        Exchange(request: HTTPRequest(url: server.url), onInformational: { head in seen.withLock { $0.append(head) } }))
      #expect(response.text == "final")
      #expect(seen.withLock { $0.map(\.status) } == [102, 103])
      #expect(seen.withLock { $0.last?.fields["link"] } == "</a>")
    },
    Check("trailers arrive after the body", needs: .trailers) { transport in
      let server = try LoopbackServer { _ in
        .chunked(["one", "", "two"], trailers: ["X-Sum": "6"])
      }
      for _ in 0..<2 {
        let response = try await get(transport, server.url)
        #expect(response.text == "onetwo")
        #expect(response.trailers["x-sum"] == "6")
        #expect(response.fields["x-sum"] == nil)
      }
      #expect(server.connectionCount == 1)
    },
    Check("body without length ends with the connection") { transport in
      let server = try LoopbackServer { _ in
        LoopbackAnswer([.head(status: 200), .body(Array("till the end".utf8)), .close])
      }
      #expect(try await get(transport, server.url).text == "till the end")
      #expect(try await get(transport, server.url).text == "till the end")
    },
    Check("HTTP/1.0 response is accepted") { transport in
      let server = try LoopbackServer { _ in .raw("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok") }
      let response = try await get(transport, server.url)
      #expect(response.head.version == .http1_0)
      #expect(response.text == "ok")
    },
    Check("metrics cover the phases", needs: .metrics) { transport in
      let server = try LoopbackServer { _ in .ok("hello") }
      let first = try await get(transport, server.url).metrics
      let second = try await get(transport, server.url).metrics
      #expect(first.isConnectionReused == false)
      #expect(second.isConnectionReused == true)
      #expect(first.connect != nil)
      #expect(first.version == .http1_1)
      let total = try #require(first.total)
      let firstByte = try #require(first.firstByte)
      #expect(firstByte <= total)
      #expect(second.bytesReceived > 5)
      #expect(second.bytesSent > 5)
    },
    Check("metrics name the peer", needs: .metrics) { transport in
      let server = try LoopbackServer { _ in .ok() }
      for _ in 0..<2 {
        let metrics = try await get(transport, server.url).metrics
        #expect(metrics.remoteAddress == "127.0.0.1" && metrics.remotePort == server.port)
      }
      // A machine may have no IPv6.
      guard let other = try? LoopbackServer(LoopbackOptions(address: .ipv6), handler: { _ in .ok() }) else { return }
      let metrics = try await get(transport, other.url).metrics
      #expect(metrics.remoteAddress == "::1" && metrics.remotePort == other.port)
    },
    Check("metrics of a failure cover received data", needs: .metrics) { transport in
      let server = try LoopbackServer { _ in .ok("hello").cut(after: 2) }
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      let metrics = try #require(await failure(of: exchange, over: transport)?.metrics)
      #expect(metrics.isConnectionReused == false)
      #expect(metrics.connect != nil)
      #expect(metrics.firstByte != nil)
      #expect(metrics.version == .http1_1 && metrics.status == 200)
      #expect(metrics.bytesSent > 5)
      #expect(metrics.bytesReceived > 5)
      #expect(metrics.remoteAddress != nil && metrics.remotePort != nil)
    },
    Check("refused connection has no response metrics", needs: .metrics) { transport in
      let nobody = try RefusingPort()
      defer { withExtendedLifetime(nobody) {} }
      let exchange = Exchange(request: try HTTPRequest(url: nobody.url))
      let metrics = try #require(await failure(of: exchange, over: transport)?.metrics)
      #expect(metrics.total != nil)
      #expect(metrics.firstByte == nil && metrics.version == nil && metrics.bytesReceived == 0)
      #expect(metrics.status == nil)
      #expect(metrics.remoteAddress == nil && metrics.remotePort == nil)
    },
    Check("concurrent exchanges are independent") { transport in
      let server = try LoopbackServer { request in .ok(request.path) }
      try await withThrowingTaskGroup { group in
        for number in 0..<100 {
          group.addTask {
            for round in 0..<5 {
              let response = try await get(transport, server.url + "/\(number)-\(round)")
              #expect(response.text == "/\(number)-\(round)")
            }
          }
        }
        try await group.waitForAll()
      }
    },
  ]
}
