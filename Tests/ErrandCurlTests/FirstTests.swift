#if os(Linux)
  import ErrandCore
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import Testing

  @Suite struct FirstTests {
    @Test func `a get brings its answer`() async throws {
      let server = try LoopbackServer { request in .ok("hello \(request.method) \(request.bodyText)") }
      let transport = CurlTransport()
      for _ in 0..<3 {
        let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url + "/x")))
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == "hello GET ")
        #expect(response.fields["content-type"] == "text/plain; charset=utf-8")
      }
      let post = try await transport.send(
        Exchange(request: HTTPRequest(method: .post, url: server.url + "/x", body: Data("abc".utf8))))
      #expect(String(decoding: post.body, as: UTF8.self) == "hello POST abc")
      let large = Data(repeating: 0x61, count: 100_000)
      let put = try await transport.send(
        Exchange(request: HTTPRequest(method: .put, url: server.url + "/x", body: large)))
      #expect(put.body.count == 100_010)
      #expect(server.connectionCount == 1)
      for request in server.requests { print(String(decoding: request.head, as: UTF8.self)) }
      print(put.metrics)
    }

    @Test func `a deadline ends in time`() async throws {
      let server = try LoopbackServer { _ in .stall() }
      let transport = CurlTransport()
      let start = MonotonicInstant.now
      let timers = try #require(transport.timers)
      let call = CallState(deadline: start.advanced(by: .milliseconds(200)), timers: timers)
      await #expect(throws: CallState.Stopped.self) {
        _ = try await transport.send(Exchange(request: HTTPRequest(url: server.url), call: call))
      }
      print(start.duration(to: .now))
    }

    @Test func `a cancel ends at once`() async throws {
      let server = try LoopbackServer { _ in .stall() }
      let transport = CurlTransport()
      let call = CallState()
      let url = server.url
      async let end = transport.send(Exchange(request: HTTPRequest(url: url), call: call))
      try await server.request(number: 1)
      call.stop(.cancelled)
      do {
        _ = try await end
        Issue.record("no error")
      } catch { print(error) }
    }
  }
#endif
