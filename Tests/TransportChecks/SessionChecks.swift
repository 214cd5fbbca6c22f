import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Requirements for the URLSession transport in addition to ``TransportConformance``. They run in a separate process
/// because the Foundation of a platform may crash.
package enum SessionChecks {
  package typealias Check = TransportConformance.Check

  package static let all: [Check] = [
    Check("valid response with trailers") { transport in
      let server = try LoopbackServer { _ in .chunked(["one", "two"], trailers: ["X-Sum": "6"]) }
      #expect(try await TransportConformance.get(transport, server.url).text == "onetwo")
    },
    Check("1xx response is not the final response") { transport in
      let server = try LoopbackServer { _ in .ok("final").informational(103) }
      let request = try HTTPRequest(url: server.url)
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .other)
      #expect(server.requests.count == 1)
    },
    Check("truncated coded body is a failure") { transport in
      let coded = try #require(Data(base64Encoded: "H4sIAAAAAAACA0stKkrMS1FIHQwUAFrIB/+MAAAA")).prefix(20)
      let server = try LoopbackServer { _ in .data(Array(coded)).setting("Content-Encoding", to: "gzip") }
      let request = try HTTPRequest(url: server.url, fields: ["Accept-Encoding": "gzip"])
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .undecodableContent)
    },
    Check("damaged coded body is a failure") { transport in
      let server = try LoopbackServer { _ in .ok("not gzip at all").setting("Content-Encoding", to: "gzip") }
      let request = try HTTPRequest(url: server.url, fields: ["Accept-Encoding": "gzip"])
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .undecodableContent)
    },
    Check("401 is delivered as a response") { transport in
      for scheme in [
        "Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "Bearer", "Negotiate", "NTLM",
      ] {
        let server = try LoopbackServer { _ in
          .status(401, headers: ["WWW-Authenticate": scheme], body: "who are you?")
        }
        for method in [HTTPMethod.get, .post] {
          let response = try await transport.send(Exchange(request: HTTPRequest(method: method, url: server.url)))
          #expect(response.status == 401)
          #expect(response.text == "who are you?")
          #expect(response.fields["WWW-Authenticate"] == scheme)
        }
        #expect(server.requests.count == 2)
      }
    },
    Check("busy library does not delay a stop") { transport in
      let trailers = String(repeating: "a: b\r\n", count: 60_000)
      let server = try LoopbackServer { _ in
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + trailers + "\r\n")
      }
      // The library needs longer than this for the work.
      let lateness = TransportConformance.lateness / 3
      for method in [HTTPMethod.get, .post] {
        let end = MonotonicInstant.now.advanced(by: .milliseconds(300))
        let request = try HTTPRequest(method: method, url: server.url)
        let exchange = Exchange(request: request, call: CallState(deadline: end))
        #expect(await TransportConformance.stop(of: exchange, over: transport) == .expired)
        #expect(end.duration(to: .now) < lateness)
      }
    },
    Check("redirects are delivered as responses") { transport in
      let server = try LoopbackServer { request in
        request.path == "/to" ? .ok("followed") : .status(302, headers: ["Location": "/to"], body: "moved")
      }
      for method in [HTTPMethod.get, .post] {
        let response = try await transport.send(Exchange(request: HTTPRequest(method: method, url: server.url)))
        #expect(response.status == 302)
        #expect(response.fields[.location] == "/to")
        #expect(response.text == "moved")
      }
      #expect(server.requests.map(\.path) == ["/", "/"])
    },
    Check("stop at any moment ends its call") { transport in
      let server = try LoopbackServer { request in
        request.path == "/away" ? .redirect(to: "/") : .generated(count: 40_000)
      }
      for turn in 0..<120 {
        let end = MonotonicInstant.now.advanced(by: .microseconds(turn * 60))
        let call = CallState(deadline: end)
        let method: HTTPMethod = turn.isMultiple(of: 3) ? .post : .get
        let request = try HTTPRequest(method: method, url: server.url + (turn.isMultiple(of: 2) ? "/away" : "/"))
        do {
          _ = try await transport.send(Exchange(request: request, call: call))
        } catch is CallState.Stopped {}
        #expect(call.openWaits == 0)
      }
      #expect(try await TransportConformance.get(transport, server.url).body.count == 40_000)
    },
    Check("concurrent stops end in time") { transport in
      let server = try LoopbackServer { _ in .stall() }
      try await withThrowingTaskGroup { group in
        for number in 0..<40 {
          group.addTask {
            let end = MonotonicInstant.now.advanced(by: .milliseconds(100 + number))
            let method: HTTPMethod = number.isMultiple(of: 2) ? .post : .get
            let request = try HTTPRequest(method: method, url: server.url)
            let exchange = Exchange(request: request, call: CallState(deadline: end))
            #expect(await TransportConformance.stop(of: exchange, over: transport) == .expired)
            #expect(end.duration(to: .now) < TransportConformance.lateness)
          }
        }
        try await group.waitForAll()
      }
    },
    Check("sessions are returned") { transport in
      let server = try LoopbackServer { _ in .ok("taken") }
      let post = try HTTPRequest(method: .post, url: server.url, body: HTTPBody(Data([1])))
      for _ in 0..<5 { _ = try await transport.send(Exchange(request: post)) }
      for _ in 0..<100 { _ = try await transport.send(Exchange(request: post)) }
      try await server.wait { $0.openConnectionCount <= 5 }
    },
  ]
}
