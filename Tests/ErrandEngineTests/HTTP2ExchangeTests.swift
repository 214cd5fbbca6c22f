#if os(Linux)
  import CodedSamples
  import ErrandCore
  import ErrandDecoding
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  struct HTTP2ExchangeTests {
    @Test func `the server learns the limit on header fields`() async throws {
      let announced = Locked<[Int]>([])
      let server = try FrameServer { peer, _ in
        try peer.start()
        while true {
          let frame = try peer.next()
          if frame.kind == .headers { peer.respond(frame.stream, "ok") }
          guard frame.kind == .settings else { continue }
          for start in stride(from: 0, to: frame.payload.count, by: 6) where frame.payload[start + 1] == 6 {
            let value = frame.payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | Int($1) }
            announced.withLock { $0.append(value) }
          }
        }
      }
      let transport = try HTTP2.transport()
      for (headBytes, fieldCount) in [(1000, 10), (64 << 10, 256), (100_000, 256), (100_000, 256), (1000, 5000)] {
        let limits = ResponseLimits(headBytes: headBytes, fieldCount: fieldCount)
        let exchange = Exchange(request: try HTTPRequest(url: server.url), limits: limits)
        #expect(try await transport.send(exchange).text == "ok")
      }
      // HTTP/2 counts 32 bytes for each field, the limits three.
      let expected = [(64 << 10) + 256 * 29, 100_000 + 256 * 29, 1000 + 5000 * 29]
      #expect(announced.withLock { $0 } == expected)
      #expect(server.connections == 1)
    }

    /// A server that responds with the path of each request.
    private static func echo() throws -> FrameServer {
      try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          if !request.endsStream { _ = try peer.body(of: request.stream) }
          peer.respond(request.stream, request.path)
        }
      }
    }

    @Test func `a request and its response arrive completely`() async throws {
      let seen = Locked<[String]>([])
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          seen.withLock { $0 = request.fields.map { "\($0.name): \($0.value)" } }
          peer.respond(request.stream, "hello", [("content-length", "5"), ("x-twice", "a"), ("x-twice", "b")])
        }
      }
      let transport = try HTTP2.transport()
      let request = try HTTPRequest(url: server.url + "x?y", fields: ["Accept": "*/*", "X-Name": "Value"])
      let response = try await transport.send(Exchange(request: request))
      #expect(response.text == "hello" && response.status == 200 && response.head.version == .http2)
      #expect(response.fields.values(of: "X-Twice") == ["a", "b"])
      #expect(
        seen.withLock { $0 } == [
          ":method: GET", ":scheme: http", ":authority: 127.0.0.1:\(server.port)", ":path: /x?y", "accept: */*",
          "x-name: Value",
        ])
      let metrics = response.metrics
      #expect(metrics.version == .http2 && metrics.isConnectionReused == false && metrics.connect != nil)
      #expect(metrics.bytesSent > 20 && metrics.bytesReceived > 5 && metrics.remoteAddress == "127.0.0.1")
      #expect(metrics.remotePort == server.port)
      #expect(metrics.firstByte != nil)
      let again = try await transport.send(Exchange(request: request)).metrics
      #expect(again.isConnectionReused == true && again.connect == nil && server.connections == 1)
    }

    /// Observes the connections that its exchanges open.
    private final class StateObserver: ExchangeObserver, ConnectionObserver {
      let states: AsyncStream<ConnectionState>
      private let continuation: AsyncStream<ConnectionState>.Continuation

      init() { (states, continuation) = AsyncStream.makeStream() }

      func connected() -> (any ConnectionObserver)? { self }
      func changed(to state: ConnectionState) {
        continuation.yield(state)
        if state == .closed { continuation.finish() }
      }
      func measured(_ metrics: ExchangeMetrics) {}
      func repeated() {}
      func answered(_ response: HTTPResponse) {}
      func failed(_ error: any Error, at now: MonotonicInstant) {}
    }

    @Test func `a connection reports its states`() async throws {
      let server = try Self.echo()
      let observer = StateObserver()
      do {
        let transport = try HTTP2.transport()
        for _ in 0..<2 {
          var exchange = Exchange(request: try HTTPRequest(url: server.url))
          exchange.handling.observer = observer
          #expect(try await transport.send(exchange).text == "/")
        }
      }
      // The connection is closed because the transport is released.
      var states: [ConnectionState] = []
      for await state in observer.states { states.append(state) }
      #expect(states == [.active, .idle, .active, .idle, .closed])
    }

    @Test func `the settings of the client are stated`() async throws {
      let settings = Locked<[UInt8]>([])
      let server = try FrameServer { peer, _ in
        try peer.start()
        let frame = try peer.next { $0.kind == .settings }
        settings.withLock { $0 = frame.payload }
        peer.respond(try peer.nextRequest().stream, "ok")
        _ = try peer.next()
      }
      _ = try await TransportConformance.get(HTTP2.transport(), server.url)
      // No push, a window of 1 MiB for each stream, and 64 KiB of headers in 256 fields.
      #expect(settings.withLock { $0 } == [0, 2, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0, 0, 6, 0, 1, 29, 0])
    }

    @Test func `many requests in a row use one connection`() async throws {
      let server = try Self.echo()
      let transport = try HTTP2.transport()
      for number in 0..<10_000 {
        let response = try await TransportConformance.get(transport, server.url + "\(number)")
        guard response.text == "/\(number)", response.metrics.isConnectionReused == (number > 0) else {
          Issue.record("request \(number) got \(response)")
          return
        }
      }
      #expect(server.connections == 1)
    }

    @Test func `a burst to a new server opens one connection`() async throws {
      let server = try Self.echo()
      let transport = try HTTP2.transport()
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<50 {
          group.addTask { try await TransportConformance.get(transport, server.url + "\(number)").text }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(texts == Set((0..<50).map { "/\($0)" }) && server.connections == 1)
    }

    @Test func `a request body arrives completely`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          let body = try peer.body(of: request.stream)
          let sum = body.reduce(0) { $0 &+ Int($1) }
          peer.respond(request.stream, "\(body.count) \(sum) \(request["content-length"] ?? "-")")
        }
      }
      let transport = try HTTP2.transport()
      for size in [1, 16_384, 16_385, 65_536, 1_000_000] {
        let data = randomBytes(size, seed: 3)
        let sum = data.reduce(0) { $0 &+ Int($1) }
        let known = try await transport.send(HTTP2.post(server.url, HTTPBody(data)))
        #expect(known.text == "\(size) \(sum) \(size)" && known.metrics.bytesSent >= Int64(size))
        let pieces = HTTPBody.stream { flow in
          PieceSource([.bytes(Array(data)), .later, .bytes([0])], PieceSource.Log(), flow) { $0.resume() }
        }
        #expect(try await transport.send(HTTP2.post(server.url, pieces)).text == "\(size + 1) \(sum) -")
      }
      #expect(server.connections == 1)
    }

    @Test(arguments: [true, false])
    func `a body with Expect: 100-continue is sent at once`(isRefusalWhole: Bool) async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          let body = try peer.body(of: request.stream)
          if request["expect"] != nil {
            peer.headers(request.stream, [(":status", "417")], ends: isRefusalWhole)
            if !isRefusalWhole { peer.reset(request.stream, 2) }
          } else {
            peer.respond(request.stream, "\(body)")
          }
        }
      }
      let body = HTTPBody(Data([1, 2])).expectingContinue()
      #expect(try await HTTP2.transport().send(HTTP2.post(server.url, body)).text == "[1, 2]")
    }

    @Test func `informational responses and trailers are reported`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          peer.headers(request.stream, [(":status", "103"), ("link", "</a.css>")])
          peer.headers(request.stream, [(":status", "200")])
          peer.data(request.stream, Array("body".utf8))
          peer.headers(request.stream, [("x-sum", "12")], ends: true)
        }
      }
      let heads = Locked<[ResponseHead]>([])
      let exchange = Exchange(
        request: try HTTPRequest(url: server.url), onInformational: { head in heads.withLock { $0.append(head) } })
      let response = try await HTTP2.transport().send(exchange)
      #expect(response.text == "body" && response.trailers["X-Sum"] == "12")
      let seen = heads.withLock { $0 }
      #expect(seen.map(\.status) == [103] && seen.first?.fields["Link"] == "</a.css>" && seen.first?.version == .http2)
    }

    @Test(arguments: [("HEAD", "200", "5"), ("GET", "204", nil), ("GET", "304", "5"), ("GET", "200", "0")])
    func `a response without content ends at once`(method: String, status: String, length: String?) async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          peer.headers(
            request.stream, [(":status", status)] + (length.map { [("content-length", $0)] } ?? []), ends: true)
        }
      }
      let request = try HTTPRequest(method: HTTPMethod(rawValue: method), url: server.url)
      let response = try await HTTP2.transport().send(Exchange(request: request))
      #expect(response.status == Int(status) && response.body.isEmpty)
    }

    @Test func `content codings are decoded`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          let coding = try #require(ContentCoding(rawValue: String(request.path.dropFirst())))
          peer.headers(request.stream, [(":status", "200"), ("content-encoding", coding.rawValue)])
          peer.data(request.stream, CodedSamples.text(in: coding), ends: true)
        }
      }
      let transport = try HTTP2.transport()
      for coding in ContentCoding.allCases {
        let response = try await TransportConformance.get(transport, server.url + coding.rawValue)
        #expect(response.text == CodedSamples.text)
      }
    }

    @Test func `a long header section and a body arrive`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          let size = Int(request.path.dropFirst()) ?? 0
          let fields = (0..<4).map { ("x-\($0)", String(repeating: "v", count: size / 4)) }
          peer.send(
            raw: FramePeer.headers(request.stream, [(":status", "200")] + fields)
              + FramePeer.frame(0, flags: 0, request.stream, [UInt8](repeating: 98, count: 9000))
              + FramePeer.frame(0, flags: 1, request.stream, [UInt8](repeating: 98, count: 9000)))
        }
      }
      let transport = try HTTP2.transport()
      for size in [0, 1000, 7384, 15_000, 16_000, 16_384, 24_000, 40_000] {
        let response = try await TransportConformance.get(transport, server.url + "\(size)")
        #expect(response.body.count == 18_000 && response.fields["X-3"]?.utf8.count == size / 4)
      }
      #expect(server.connections == 1)
    }

    @Test func `a server of HTTP/1.1 is an error`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: try HTTP2.transport())
      #expect(failure?.kind == .http2)
    }

    @Test func `without prior knowledge, cleartext is HTTP/1.1`() async throws {
      let server = try LoopbackServer { _ in .ok("one") }
      for version in [HTTPVersionPolicy.automatic, .http2, .http1Only] {
        let transport = try HTTP2.transport { $0.httpVersion = version }
        let response = try await TransportConformance.get(transport, server.url)
        #expect(response.text == "one" && response.metrics.version == .http1_1)
      }
    }

    @Test func `a refused connection fails every waiting request`() async throws {
      let nobody = try RefusingPort()
      let transport = try HTTP2.transport()
      let kinds = await withTaskGroup(of: TransportFailure.Kind?.self) { group in
        for _ in 0..<20 {
          group.addTask {
            guard let request = try? HTTPRequest(method: .post, url: nobody.url) else { return nil }
            let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
            return failure?.isCertainlyNotSent == true ? failure?.kind : nil
          }
        }
        return await group.reduce(into: [TransportFailure.Kind?]()) { $0.append($1) }
      }
      #expect(kinds.count == 20 && kinds.allSatisfy { $0 == .refused })
    }
  }
#endif
