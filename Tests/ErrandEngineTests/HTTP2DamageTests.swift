#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Responses in pieces, and responses with changed bytes.
  struct HTTP2DamageTests {
    private static func response(_ stream: Int) -> [UInt8] {
      FramePeer.headers(stream, [(":status", "103"), ("link", "</a>")])
        + FramePeer.headers(stream, [(":status", "200"), ("content-length", "10"), ("x-name", "value")])
        + FramePeer.frame(6, flags: 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
        + FramePeer.frame(0, flags: 8, stream, [3] + Array("hello".utf8) + [0, 0, 0])
        + FramePeer.frame(4, flags: 0, 0, [0, 3, 0, 0, 0, 100])
        + FramePeer.frame(0, flags: 0, stream, Array("world".utf8))
        + FramePeer.headers(stream, [("x-sum", "12")], ends: true)
    }

    @Test func `a response may arrive byte by byte`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          for byte in Self.response(request.stream) { peer.send(raw: [byte]) }
        }
      }
      let transport = try HTTP2.transport()
      for _ in 0..<5 {
        let response = try await TransportConformance.get(transport, server.url)
        #expect(response.text == "helloworld" && response.trailers["X-Sum"] == "12")
      }
      #expect(server.connections == 1)
    }

    @Test(arguments: [false, true]) func `a header section may continue in many frames`(isSplit: Bool) async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          var bytes = FramePeer.frame(1, flags: 0, request.stream, FramePeer.literal(":status", "200"))
          for number in 1...12 {
            let field = FramePeer.literal("x-\(number)", "value")
            bytes += FramePeer.frame(9, flags: number == 12 ? 4 : 0, request.stream, field)
          }
          bytes += FramePeer.frame(0, flags: 1, request.stream, Array("ok".utf8))
          guard isSplit else { return peer.send(raw: bytes) }
          for byte in bytes { peer.send(raw: [byte]) }
        }
      }
      let response = try await TransportConformance.get(HTTP2.transport(), server.url)
      #expect(response.text == "ok" && response.fields["x-12"] == "value")
    }

    @Test func `each cut of a response is a failure`() async throws {
      let length = Self.response(1).count
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        peer.send(raw: Array(Self.response(request.stream).prefix(Int(request.path.dropFirst()) ?? 0)))
      }
      let transport = try HTTP2.transport()
      for cut in 0..<length {
        let request = try HTTPRequest(method: .post, url: server.url + "\(cut)")
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure.map { [.closedBeforeResponse, .truncated, .reset].contains($0.kind) } == true)
      }
      let whole = try HTTPRequest(method: .post, url: server.url + "\(length)")
      #expect(try await transport.send(Exchange(request: whole)).text == "helloworld")
    }

    @Test func `changed bytes never harm the next request`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          var bytes = Self.response(request.stream)
          if let seed = UInt64(request.path.dropFirst()) {
            var numbers = SeededNumbers(seed: seed)
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
              bytes[Int.random(in: bytes.indices, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
          }
          peer.send(raw: bytes)
        }
      }
      let transport = try HTTP2.transport()
      await withTaskGroup(of: Void.self) { group in
        for start in 0..<8 {
          group.addTask {
            for seed in stride(from: start, to: 400, by: 8) {
              guard let request = try? HTTPRequest(url: server.url + "\(seed)") else { return }
              _ = try? await transport.send(Exchange(request: request, idleTimeout: .milliseconds(300)))
            }
          }
        }
      }
      let fresh = try HTTP2.transport()
      #expect(try await TransportConformance.get(fresh, server.url + "x").text == "helloworld")
      // The old connections may wait for the rest of a frame that never arrives. They end with a time-out.
      var answered = 0
      for _ in 0..<20 {
        let exchange = Exchange(request: try HTTPRequest(url: server.url + "x"), idleTimeout: .milliseconds(300))
        guard let response = try? await transport.send(exchange) else { continue }
        #expect(response.text == "helloworld")
        answered += 1
      }
      #expect(answered > 0)
    }
  }
#endif
