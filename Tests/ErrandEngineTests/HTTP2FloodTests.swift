#if os(Linux)
  import CNGHTTP2
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Servers that send more than a client can need.
  struct HTTP2FloodTests {
    enum Flood: String, CaseIterable, Sendable {
      case settings, ping, emptyData, paddedData, priority, windowUpdate, emptyContinuation, longContinuation,
        informational

      /// One frame of the flood.
      func frame(_ stream: Int) -> [UInt8] {
        switch self {
        case .settings: FramePeer.frame(4, flags: 0, 0, [0, 4] + FramePeer.number(70_000))
        case .ping: FramePeer.frame(6, flags: 0, 0, [UInt8](repeating: 1, count: 8))
        case .emptyData: FramePeer.frame(0, flags: 0, stream, [])
        case .paddedData: FramePeer.frame(0, flags: 8, stream, [0])
        case .priority: FramePeer.frame(2, flags: 0, stream, [0, 0, 0, 0, 1])
        case .windowUpdate: FramePeer.frame(8, flags: 0, 0, FramePeer.number(1))
        case .emptyContinuation: FramePeer.frame(9, flags: 0, stream, [])
        case .longContinuation:
          FramePeer.frame(9, flags: 0, stream, FramePeer.literal("x", String(repeating: "y", count: 9000)))
        case .informational: FramePeer.headers(stream, [(":status", "103")])
        }
      }

      /// The frames before the flood.
      func start(_ stream: Int) -> [UInt8] {
        switch self {
        case .emptyContinuation, .longContinuation:
          FramePeer.frame(1, flags: 0, stream, FramePeer.literal(":status", "200"))
        case .emptyData, .paddedData: FramePeer.headers(stream, [(":status", "200")])
        default: []
        }
      }
    }

    @Test(arguments: Flood.allCases) func `a flood of frames is a failure`(_ flood: Flood) async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        guard peer.number == 1 else {
          peer.respond(request.stream, "ok")
          return _ = try peer.next { $0.kind == .goAway }
        }
        peer.send(raw: flood.start(request.stream))
        let frames = [[UInt8]](repeating: flood.frame(request.stream), count: 100).flatMap { $0 }
        for _ in 0..<500 { peer.send(raw: frames) }
        peer.respond(request.stream, "survived")
        _ = try peer.next { $0.kind == .goAway }
      }
      let transport = try HTTP2.transport()
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: transport)
      #expect(failure?.kind == (flood == .informational || flood == .longContinuation ? .tooLarge : .http2))
      // Another request works, on the same connection if only the stream was at fault.
      guard flood != .informational, flood != .longContinuation else { return }
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      #expect(server.connections == 2)
    }

    @Test func `windows in small steps are no flood`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        var size = 0
        while true {
          let frame = try peer.next { $0.stream == request.stream && $0.kind == .data }
          size += frame.payload.count
          if frame.endsStream { break }
          // A server whose program reads one kilobyte at a time returns both windows each time.
          for start in stride(from: 0, to: frame.payload.count, by: 1024) {
            let step = min(1024, frame.payload.count - start)
            peer.send(window: step, on: 0)
            peer.send(window: step, on: request.stream)
          }
        }
        peer.respond(request.stream, "\(size)")
        _ = try peer.next { $0.kind == .goAway }
      }
      let body = HTTPBody(Data(count: 8 << 20))
      let response = try await HTTP2.transport().send(HTTP2.post(server.url, body))
      #expect(response.text == "\(8 << 20)")
    }

    @Test func `content of a cancelled call is no flood`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let first = try peer.nextRequest().stream
        peer.headers(first, [(":status", "200")])
        _ = try peer.next { $0.kind == .reset }
        for _ in 0..<4_000 { peer.send(.data, first, [UInt8](repeating: 1, count: 1024)) }
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let transport = try HTTP2.transport()
      let (call, hasBegun) = (CallState(), Latch())
      let sink = RecordingSink(keeps: false) { _ in
        hasBegun.open()
        return .sink
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call, sink: sink)
      let stopped = Task { await TransportConformance.stop(of: exchange, over: transport) }
      try await hasBegun.wait()
      call.stop(.cancelled)
      #expect(await stopped.value == .cancelled)
      #expect(try await TransportConformance.get(transport, server.url).text == "ok" && server.connections == 1)
    }

    /// The server sends the headers of the responses before it notices that the calls have ended.
    @Test func `late headers of cancelled calls are no flood`() async throws {
      let count = HTTP2FrameBudget.capacity * 3 / 4
      let server = try FrameServer { peer, server in
        try peer.start([(id: 3, value: count)])
        peer.respond(try peer.nextRequest().stream, "ok")
        while true {
          var streams: [Int] = []
          for _ in 0..<count {
            let request = try peer.nextRequest()
            server.process(request.path)
            streams.append(request.stream)
          }
          for _ in 0..<count { _ = try peer.next { $0.kind == .reset } }
          peer.send(raw: streams.flatMap { FramePeer.headers($0, [(":status", "200")]) })
          peer.respond(try peer.nextRequest().stream, "ok")
        }
      }
      let transport = try HTTP2.transport()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      for round in 1...2 {
        let calls = (0..<count).map { _ in CallState() }
        let exchanges = try calls.map { Exchange(request: try HTTPRequest(url: server.url), call: $0) }
        let areStopped = await withTaskGroup(of: Bool.self) { group in
          for exchange in exchanges {
            group.addTask { await TransportConformance.stop(of: exchange, over: transport) == .cancelled }
          }
          let haveArrived = await eventually { server.processed.count == round * count }
          for call in calls { call.stop(.cancelled) }
          return await group.reduce(haveArrived) { $0 && $1 }
        }
        #expect(areStopped)
        // The response to this request follows the headers of the others.
        #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      }
      #expect(server.connections == 1)
    }

    @Test func `many empty responses are no flood`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          peer.headers(request.stream, [(":status", "200")])
          peer.data(request.stream, [], ends: true)
        }
      }
      let transport = try HTTP2.transport()
      for _ in 0..<3000 { #expect(try await TransportConformance.get(transport, server.url).body.isEmpty) }
      #expect(server.connections == 1)
    }

    @Test func `many long header sections are no flood`() async throws {
      let field = ("x", String(repeating: "~", count: 24 << 10))
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { peer.respond($0.stream, "ok", [field]) }
      }
      let transport = try HTTP2.transport()
      for _ in 0..<400 { #expect(try await TransportConformance.get(transport, server.url).text == "ok") }
      #expect(server.connections == 1)
    }

    @Test func `many headers before their content are no flood`() async throws {
      let count = HTTP2FrameBudget.capacity + 500
      let server = try FrameServer { peer, _ in
        try peer.start([(id: 3, value: count)])
        peer.respond(try peer.nextRequest().stream, "ok")
        let streams = try (0..<count).map { _ in try peer.nextRequest().stream }
        peer.send(raw: streams.flatMap { FramePeer.headers($0, [(":status", "200")]) })
        peer.send(raw: streams.flatMap { FramePeer.frame(0, flags: 1, $0, [111, 107]) })
        _ = try peer.next { $0.kind == .goAway }
      }
      let transport = try HTTP2.transport()
      _ = try await TransportConformance.get(transport, server.url)
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<count { group.addTask { try await TransportConformance.get(transport, server.url).text } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts == [String](repeating: "ok", count: count))
      #expect(server.connections == 1)
    }

    @Test func `many reset streams are no flood`() async throws {
      let count = HTTP2FrameBudget.capacity + 500
      let server = try FrameServer { peer, _ in
        try peer.start([(id: 3, value: count)])
        peer.respond(try peer.nextRequest().stream, "ok")
        let streams = try (0..<count).map { _ in try peer.nextRequest().stream }
        peer.send(raw: streams.flatMap { FramePeer.frame(3, flags: 0, $0, FramePeer.number(2)) })
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let transport = try HTTP2.transport()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      let texts = await HTTP2.get(server.url, count, over: transport)
      #expect(texts.count == count && texts.allSatisfy { $0.contains("INTERNAL_ERROR") })
      #expect(try await TransportConformance.get(transport, server.url).text == "ok" && server.connections == 1)
    }

    @Test func `resets of an ended stream are a flood`() async throws {
      let code = Locked<Int?>(nil)
      let server = try FrameServer { peer, _ in
        try peer.start()
        let stream = try peer.nextRequest().stream
        peer.respond(stream, "ok")
        let frame = FramePeer.frame(3, flags: 0, stream, FramePeer.number(8))
        peer.send(raw: [[UInt8]](repeating: frame, count: 2 * HTTP2FrameBudget.capacity).flatMap { $0 })
        let end = try peer.next { $0.kind == .goAway }
        code.withLock { $0 = end.number }
      }
      let transport = try HTTP2.transport()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      #expect(await eventually { code.withLock { $0 } != nil })
      #expect(code.withLock { $0 } == Int(NGHTTP2_ENHANCE_YOUR_CALM.rawValue))
      #expect(try await TransportConformance.get(transport, server.url).text == "ok" && server.connections == 2)
    }

    /// libnghttp2 ignores the header section of an ended stream, but decompresses it.
    @Test func `a flood on an ended stream ends the connection`() async throws {
      let code = Locked<Int?>(nil)
      let server = try FrameServer { peer, _ in
        try peer.start()
        let stream = try peer.nextRequest().stream
        peer.respond(stream, "ok")
        peer.send(raw: Flood.longContinuation.start(stream))
        for _ in 0..<150 { peer.send(raw: Flood.longContinuation.frame(stream)) }
        peer.send(.continuation, flags: 4, stream, [])
        peer.send(.ping, 0, [UInt8](repeating: 1, count: 8))
        let end = try peer.next { $0.kind == .goAway || $0.kind == .ping }
        code.withLock { $0 = end.kind == .goAway ? end.number : 0 }
      }
      let transport = try HTTP2.transport()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      #expect(await eventually { code.withLock { $0 } != nil })
      #expect(code.withLock { $0 } == Int(NGHTTP2_ENHANCE_YOUR_CALM.rawValue))
    }

    @Test func `unknown frames are ignored`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        let frames = [[UInt8]](repeating: FramePeer.frame(77, flags: 0, 0, [1, 2]), count: 5000).flatMap { $0 }
        peer.send(raw: frames)
        peer.respond(request.stream, "ok")
        _ = try peer.next { $0.kind == .goAway }
      }
      #expect(try await TransportConformance.get(HTTP2.transport(), server.url).text == "ok")
    }

    @Test func `a header section that grows by compression is too large`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          if request.path == "/ok" { return peer.respond(request.stream, "ok") }
          // Stores one field of 3,000 bytes in the table of the client, and names it 12,000 times: 36 MB.
          let value = [UInt8](repeating: 118, count: 3000)
          let stored: [UInt8] = [0x40, 1, 120, 127, 0xB9, 0x16] + value
          let block = FramePeer.literal(":status", "200") + stored + [UInt8](repeating: 0xBE, count: 12_000)
          peer.send(.headers, flags: 5, request.stream, block)
        }
      }
      let transport = try HTTP2.transport()
      for _ in 0..<3 {
        let failure = await TransportConformance.failure(
          of: Exchange(request: try HTTPRequest(url: server.url)), over: transport)
        #expect(failure?.kind == .tooLarge)
        #expect(try await TransportConformance.get(transport, server.url + "ok").text == "ok")
      }
      #expect(server.connections == 1)
    }

    @Test func `many fields and long trailers are too large`() async throws {
      let server = try FrameServer { peer, _ in
        try peer.start()
        try peer.serve { request in
          switch request.path {
          case "/ok": peer.respond(request.stream, "ok")
          case "/fields":
            peer.headers(request.stream, [(":status", "200")] + (0..<300).map { ("x-\($0)", "y") }, ends: true)
          default:
            peer.headers(request.stream, [(":status", "200")])
            peer.headers(request.stream, (0..<20).map { ("x-\($0)", String(repeating: "y", count: 4000)) }, ends: true)
          }
        }
      }
      let transport = try HTTP2.transport()
      for path in ["fields", "trailers"] {
        let request = try HTTPRequest(url: server.url + path)
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure?.kind == .tooLarge)
        #expect(try await TransportConformance.get(transport, server.url + "ok").text == "ok")
      }
      #expect(server.connections == 1)
    }

    @Test(
      arguments: [
        [0, 0, 1, 0, 1, 0, 0, 0, 1, 1], [0, 0, 3, 4, 0, 0, 0, 0, 0, 1, 2, 3], [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 9, 4, 0, 0, 0, 1, 0x88],
        [0, 0, 1, 1, 5, 0, 0, 0, 1, 0xFF], [0, 0, 1, 0, 1, 0, 0, 0, 9, 1], [0, 0, 4, 3, 0, 0, 0, 0, 9, 0, 0, 0, 8],
        [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      ] as [[UInt8]]) func `a broken frame ends the connection`(_ bytes: [UInt8]) async throws
    {
      let server = try FrameServer { peer, _ in
        try peer.start()
        let request = try peer.nextRequest()
        if peer.number == 1 { peer.send(raw: bytes) } else { peer.respond(request.stream, "ok") }
        _ = try peer.next { $0.kind == .goAway }
      }
      let transport = try HTTP2.transport()
      let failure = await TransportConformance.failure(
        of: Exchange(request: try HTTPRequest(url: server.url)), over: transport)
      #expect(failure?.kind == .http2 && server.connections == 1)
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
    }
  }
#endif
