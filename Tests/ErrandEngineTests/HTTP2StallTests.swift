#if os(Linux)
  import Dispatch
  import ErrandCore
  import ErrandHTTP
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Servers that read nothing for some time, so that requests wait in the client.
  struct HTTP2StallTests {
    /// A field that is sent with all of its bytes each time, because it is secret.
    private static func longField(_ count: Int) -> HTTPFields {
      HTTPFields([HTTPField("X-Long", String(repeating: "~", count: count), isSecret: true)])
    }

    @Test func `a request that is certainly not sent never arrives`() async throws {
      let haveAllFailed = DispatchSemaphore(value: 0)
      let server = try FrameServer { peer, server in
        peer.shrinkReceiveBuffer()
        try peer.start([(id: 3, value: 1000)])
        peer.respond(try peer.nextRequest().stream, "ok")
        haveAllFailed.wait()
        try peer.serve { request in
          server.process(request.path)
          if request.path == "/last" { peer.respond(request.stream, "ok") }
        }
      }
      let transport = try HTTP2.transport { $0.pingWait = .seconds(60) }
      let url = server.url
      #expect(try await TransportConformance.get(transport, url).text == "ok")
      #expect(try await HTTP2.shrinkSendBuffer(of: transport, to: url))
      let unsent = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<600 {
          group.addTask {
            let request = try HTTPRequest(
              method: .post, url: url + "\(number)", fields: Self.longField(1000), body: HTTPBody(Data([1])))
            let exchange = Exchange(request: request, idleTimeout: .milliseconds(200))
            let failure = await TransportConformance.failure(of: exchange, over: transport)
            return failure?.isCertainlyNotSent == true ? "/\(number)" : nil
          }
        }
        return try await group.reduce(into: Set<String>()) { paths, path in
          if let path { paths.insert(path) }
        }
      }
      haveAllFailed.signal()
      // This request follows all bytes that the connection still sends.
      #expect(try await TransportConformance.get(transport, url + "last").text == "ok")
      #expect(!unsent.isEmpty && unsent.isDisjoint(with: server.processed))
      #expect(server.connections == 1)
    }

    /// The first connection answers no request: it holds the first one and refuses the others, by RST_STREAM or by
    /// GOAWAY. Before GOAWAY, its limit is zero.
    @Test(arguments: [false, true])
    func `requests above a late limit use other connections`(byGoAway: Bool) async throws {
      let areWaiting = DispatchSemaphore(value: 0)
      let server = try FrameServer { peer, _ in
        guard peer.number == 1 else {
          try peer.start([(id: 3, value: 1)])
          return try peer.serve { peer.respond($0.stream, "ok") }
        }
        peer.shrinkReceiveBuffer()
        areWaiting.wait()
        try peer.start([(id: 3, value: byGoAway ? 0 : 1)])
        let held = try peer.nextRequest()
        if byGoAway { peer.goAway(last: held.stream) }
        try peer.serve { request in if !byGoAway { peer.reset(request.stream, 7) } }
      }
      let (transport, call, url) = (try HTTP2.transport(), CallState(), server.url)
      let origin = try HTTPURL(url).origin
      let held = Exchange(request: try HTTPRequest(url: url), call: call)
      async let stop = TransportConformance.stop(of: held, over: transport)
      #expect(try await HTTP2.shrinkSendBuffer(of: transport, to: url))
      async let texts = HTTP2.get(url, 99, fields: Self.longField(10_000), over: transport)
      let someAreQueued = try await HTTP2.eventually(on: transport) { loop in
        let streams = loop.sharedPool.first(of: origin, where: { _ in true })?.streams ?? [:]
        return streams.count == 100 && streams.values.contains { $0.start == nil }
      }
      #expect(someAreQueued)
      areWaiting.signal()
      #expect(await texts == [String](repeating: "ok", count: 99))
      call.stop(.cancelled)
      #expect(await stop == .cancelled)
    }
  }
#endif
