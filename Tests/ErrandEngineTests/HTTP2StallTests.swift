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
  }
#endif
