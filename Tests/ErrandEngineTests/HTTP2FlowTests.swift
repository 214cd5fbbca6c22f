#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// A server's windows for sending, on one thread.
  final class Windows {
    private let peer: FramePeer
    private var connection = 65_535
    private var streams: [Int: Int] = [:]
    private var initial = 65_535
    /// The streams that have content left to send.
    private var left: [Int: Int] = [:]
    /// The number of bytes sent on each stream.
    private(set) var sent: [Int: Int] = [:]

    init(_ peer: FramePeer) { self.peer = peer }

    /// Takes a frame of the client.
    func take(_ frame: Frame) {
      switch frame.kind {
      case .settings:
        var start = 0
        while start + 6 <= frame.payload.count {
          let id = Int(frame.payload[start]) << 8 | Int(frame.payload[start + 1])
          if id == 4 { initial = frame.payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | Int($1) } }
          start += 6
        }
      case .windowUpdate where frame.stream == 0: connection += frame.number
      case .windowUpdate: streams[frame.stream, default: initial] += frame.number
      default: break
      }
    }

    /// Sends as much content as the windows allow.
    func send(_ stream: Int, _ count: Int) {
      left[stream] = count
      sendMore()
    }

    func sendMore() {
      for (stream, wanted) in left.sorted(by: { $0.key < $1.key }) {
        let count = min(wanted, connection, streams[stream, default: initial])
        guard count > 0 else { continue }
        connection -= count
        streams[stream, default: initial] -= count
        sent[stream, default: 0] += count
        left[stream] = count == wanted ? nil : wanted - count
        peer.data(stream, [UInt8](repeating: 97, count: count), ends: count == wanted)
      }
    }
  }

  struct HTTP2FlowTests {
    @Test func `a paused sink stops only its own stream`() async throws {
      let (streams, size) = (20, 3 << 20)
      let most = Locked(0)
      let server = try FrameServer { peer, _ in
        try peer.start()
        let windows = Windows(peer)
        while true {
          let frame = try peer.next()
          windows.take(frame)
          if frame.kind == .headers {
            peer.headers(frame.stream, [(":status", "200")])
            windows.send(frame.stream, frame.path == "/small" ? 100_000 : size)
          }
          windows.sendMore()
          most.withLock { $0 = max($0, windows.sent.values.max() ?? 0) }
        }
      }
      let transport = try HTTP2.transport()
      let isOpen = Locked(false)
      let sinks = (0..<streams).map { _ in RecordingSink(keeps: false, onPiece: { _, _ in isOpen.withLock { $0 } }) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for sink in sinks {
          group.addTask {
            let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
            #expect(response.status == 200)
          }
        }
        let areAllPaused = await eventually { sinks.allSatisfy { $0.pieces > 0 } }
        #expect(areAllPaused)
        // The paused streams hold more than the window of the connection, and others still continue.
        for _ in 0..<20 {
          let response = try await TransportConformance.get(transport, server.url + "small")
          #expect(response.body.count == 100_000 && response.metrics.isConnectionReused == true)
        }
        #expect(most.withLock { $0 } == HTTP2Session.streamWindow)
        #expect(sinks.allSatisfy { $0.pieces == 1 })
        isOpen.withLock { $0 = true }
        for sink in sinks { sink.resume() }
        try await group.waitForAll()
      }
      #expect(sinks.allSatisfy { $0.count == size && $0.ends == 1 } && server.connections == 1)
    }

    @Test func `a paused body survives the end of the connection`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        peer.headers(request.stream, [(":status", "200")])
        peer.data(request.stream, [UInt8](repeating: 97, count: 60_000), ends: true)
      }
      let isOpen = Locked(false)
      let sink = RecordingSink(onPiece: { _, _ in isOpen.withLock { $0 } })
      let exchange = Exchange(request: try HTTPRequest(url: server.url), sink: sink)
      let transport = try HTTP2.transport()
      async let response = transport.send(exchange)
      let isClosed = await eventually { sink.pieces > 0 && server.openConnections == 0 }
      #expect(isClosed)
      isOpen.withLock { $0 = true }
      sink.resume()
      #expect(try await response.status == 200)
      #expect(sink.count == 60_000 && sink.ends == 1)
    }

    /// The server resets the stream, sends more content than it has announced, or closes the connection.
    @Test(arguments: ["reset", "excess", "close"])
    func `content before a failure reaches a slow sink`(end: String) async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let stream = try peer.nextRequest().stream
        peer.headers(stream, [(":status", "200")] + (end == "excess" ? [("content-length", "60000")] : []))
        peer.data(stream, [UInt8](repeating: 97, count: 60_000))
        switch end {
        case "reset": peer.reset(stream, 2)
        case "excess": peer.data(stream, [1])
        default: return
        }
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let sink = RecordingSink(keeps: false, onPiece: { _, _ in false })
      let exchange = Exchange(request: try HTTPRequest(url: server.url), sink: sink)
      let transport = try HTTP2.transport()
      async let failure = TransportConformance.failure(of: exchange, over: transport)
      #expect(await eventually { sink.pieces == 1 })
      if end == "close" {
        let origin = try HTTPURL(server.url).origin
        #expect(try await HTTP2.eventually(on: transport) { !$0.sharedPool.contains(origin) })
      } else {
        // The response to this request follows the failure.
        #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      }
      #expect(sink.pieces == 1)
      sink.resume()
      #expect(await eventually { sink.count == 60_000 })
      sink.resume()
      let kinds: [TransportFailure.Kind] =
        switch end {
        case "reset": [.http2]
        case "excess": [.malformedResponse]
        default: [.truncated, .reset]
        }
      let kind = await failure?.kind
      #expect(kind.map { kinds.contains($0) } == true && sink.ends == 0)
    }

    @Test func `a call with content before a failure can be stopped`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let stream = try peer.nextRequest().stream
        peer.headers(stream, [(":status", "200")])
        peer.data(stream, [UInt8](repeating: 97, count: 60_000))
        peer.reset(stream, 2)
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let sink = RecordingSink(keeps: false, onPiece: { _, _ in false })
      let call = CallState()
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call, sink: sink)
      let transport = try HTTP2.transport()
      async let stop = TransportConformance.stop(of: exchange, over: transport)
      #expect(await eventually { sink.pieces == 1 })
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      call.stop(.cancelled)
      #expect(await stop == .cancelled)
      #expect(sink.pieces == 1 && server.connections == 1)
    }

    @Test func `a refused upload with a paused source has a time-out`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        peer.headers(request.stream, [(":status", "413"), ("content-length", "5")])
        while true { _ = try peer.next() }
      }
      let body = HTTPBody.stream(length: 10) { flow in
        PieceSource([.bytes([1]), .later], PieceSource.Log(), flow) { _ in }
      }
      let call = CallState(
        deadline: SharedTimers.shared.now.advanced(by: .seconds(30)), timers: SharedTimers.shared)
      let request = try HTTPRequest(method: .post, url: server.url, body: body)
      let exchange = Exchange(request: request, call: call, idleTimeout: .milliseconds(100))
      #expect(await TransportConformance.failure(of: exchange, over: try HTTP2.transport())?.kind == .idleTimeout)
    }

    @Test func `a server that exceeds the window is rejected`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        peer.headers(request.stream, [(":status", "200")])
        peer.data(request.stream, [UInt8](repeating: 97, count: HTTP2Session.streamWindow + 1))
        _ = try peer.next { $0.kind == .goAway || $0.kind == .reset }
      }
      let sink = RecordingSink(onPiece: { _, _ in false })
      let exchange = Exchange(request: try HTTPRequest(url: server.url), sink: sink)
      let transport = try HTTP2.transport()
      async let failure = TransportConformance.failure(of: exchange, over: transport)
      let isRejected = await eventually { sink.pieces == 1 && server.openConnections == 0 }
      #expect(isRejected)
      sink.resume()
      #expect(await eventually { sink.pieces == 2 })
      sink.resume()
      #expect(await failure?.kind == .http2)
      // The byte beyond the window arrives before libnghttp2 rejects its frame.
      #expect(sink.count <= HTTP2Session.streamWindow + 1)
    }

    @Test(arguments: [0, 1, 1000]) func `an upload respects the server's window`(window: Int) async throws {
      let size = window == 1 ? 300 : 50_000
      let server = try FrameServer { peer, _ in
        try peer.start([(id: 4, value: window)])
        // The response to the first request follows the settings, so the second request is sent with them.
        peer.respond(try peer.nextRequest().stream, "warm")
        let first = try peer.next { $0.kind == .headers && $0.path == "/big" }
        var (got, allowed) = (0, window)
        if window == 0 { peer.send(window: 1000, on: first.stream) }
        if window == 0 { allowed = 1000 }
        while true {
          let frame = try peer.next { $0.kind == .data }
          got += frame.payload.count
          guard got <= allowed else { return peer.reset(first.stream, 3) }
          if frame.endsStream { break }
          if got == allowed {
            let more = max(window, 500)
            peer.send(window: more, on: first.stream)
            peer.send(window: more, on: 0)
            allowed += more
          }
        }
        peer.respond(first.stream, "\(got)")
        _ = try? peer.next()
      }
      let transport = try HTTP2.transport()
      let body = HTTPBody.stream(length: Int64(size)) { flow in
        PieceSource([.bytes([UInt8](repeating: 1, count: size))], PieceSource.Log(), flow) { _ in }
      }
      _ = try await TransportConformance.get(transport, server.url + "warm")
      #expect(try await transport.send(HTTP2.post(server.url + "big", body)).text == "\(size)")
    }

    @Test func `a window that overflows is rejected`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        peer.send(window: 0x7FFF_FFFF, on: request.stream)
        peer.send(window: 0x7FFF_FFFF, on: request.stream)
        peer.respond(request.stream, "ok")
        _ = try? peer.next { $0.kind == .goAway }
      }
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: try HTTP2.transport())
      #expect(failure?.kind == .http2)
    }

    @Test func `a decoded body does not block other streams`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          if request.path == "/small" { return peer.respond(request.stream, "small") }
          peer.headers(request.stream, [(":status", "200"), ("content-encoding", "br")])
          // 8 MiB of zeros in a few bytes.
          let bomb: [UInt8] = [0x9B, 0xFF, 0xFF, 0x7F, 0xF8, 0x27, 0x00, 0xE2, 0xB1, 0x40, 0x20, 0xF7, 0xFE, 0x0F]
          peer.data(request.stream, bomb, ends: true)
        }
      }
      let transport = try HTTP2.transport()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<10 {
          group.addTask { try await TransportConformance.get(transport, server.url).body.count }
          group.addTask { try await TransportConformance.get(transport, server.url + "small").body.count }
        }
        let counts = try await group.reduce(into: []) { $0.append($1) }
        #expect(counts.sorted() == [Int](repeating: 5, count: 10) + [Int](repeating: 8 << 20, count: 10))
      }
      #expect(server.connections == 1)
    }
  }
#endif
