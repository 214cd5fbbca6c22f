#if os(Linux)
  import CTLSServer
  import Dispatch
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import Foundation
  import Glibc
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Servers that fall silent, and PING frames without an answer.
  struct HTTP2PingTests {
    /// The server asks for a client certificate, so a broken connection could mean that it requires one.
    @Test func `silence is no certificate failure`() async throws {
      let frames = try FrameServer { peer, _ in
        if peer.number == 1 { return peer.drain() }
        try peer.start()
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let identity = try TLSIdentity {
        tls_server_choose($0, "\u{2}h2")
        tls_server_ask_for_certificate($0)
      }
      let server = try TLSServer(identity: identity) { peer in if peer.accept() { peer.relay(to: frames.port) } }
      let transport = try server.transport {
        $0.pingAfter = .zero
        $0.pingWait = .milliseconds(100)
      }
      let url = server.url
      let origin = try HTTPURL(url).origin
      let first = Exchange(request: try HTTPRequest(url: url))
      async let failure = TransportConformance.failure(of: first, over: transport)
      let isSent = try await HTTP2.eventually(on: transport) { loop in
        loop.sharedPool.first(of: origin, where: { _ in true })?.streams.count == 1
      }
      #expect(isSent)
      // This request uses the connection again and sends PING. It may be repeated, the first one may not.
      #expect(try await TransportConformance.get(transport, url).text == "ok")
      #expect(await failure?.kind == .closedBeforeResponse)
      #expect(frames.connections == 2)
    }

    /// The bytes of the upload before PING need longer than the wait for the answer.
    @Test func `a slow upload outlives the wait for PING`() async throws {
      let mayRead = DispatchSemaphore(value: 0)
      let server = try FrameServer { peer, _ in
        peer.shrinkReceiveBuffer()
        try peer.start([(id: 4, value: 0x7FFF_FFFF)])
        peer.send(window: 1 << 30, on: 0)
        peer.respond(try peer.nextRequest().stream, "ok")
        _ = try peer.nextRequest()
        var (frames, isSlow) = (0, true)
        while true {
          if isSlow, frames.isMultiple(of: 8) { mayRead.wait() }  // the pace of the upload
          let frame = try peer.next()
          frames += 1
          if frame.kind == .ping { isSlow = false }
          if frame.endsStream { peer.respond(frame.stream, "ok") }
        }
      }
      let transport = try HTTP2.transport {
        $0.pingAfter = .zero
        $0.pingWait = .seconds(2)
      }
      let url = server.url
      let origin = try HTTPURL(url).origin
      #expect(try await TransportConformance.get(transport, url).text == "ok")
      let upload = try HTTP2.post(url, HTTPBody(Data(count: 8 << 20)))
      async let uploaded = transport.send(upload).text
      // The server has answered the PING frame before the upload, and the system's buffers become full.
      let isUploading = try await HTTP2.eventually(on: transport) { loop in
        guard let connection = loop.sharedPool.first(of: origin, where: { _ in true }) else { return false }
        return connection.pingWait == nil && connection.streams.values.contains { $0.bytesSent >= 1 << 20 }
      }
      #expect(isUploading)
      async let second = TransportConformance.get(transport, url).text
      // The server reads a part each time the wait has begun again, so the upload takes longer than the wait.
      let beginnings = Locked<Set<MonotonicInstant>>([])
      for number in 1...4 {
        let isWaiting = try await HTTP2.eventually(on: transport) { loop in
          let connection = loop.sharedPool.first(of: origin, where: { _ in true })
          guard let begun = connection?.pingWait?.begun else { return false }
          return beginnings.withLock { beginnings in
            beginnings.insert(begun)
            return beginnings.count >= number
          }
        }
        #expect(isWaiting)
        mayRead.signal()
      }
      for _ in 0..<100 { mayRead.signal() }
      #expect(try await second == "ok")
      #expect(try await uploaded == "ok")
      #expect(server.connections == 1)
    }

    @Test func `the system tells what the peer has acknowledged`() async throws {
      var pair: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
      for descriptor in pair {
        #expect(EngineSocket(descriptor: descriptor).traffic == nil)
        close(descriptor)
      }
      let received = Counter()
      let server = try FrameServer { peer, _ in
        peer.drain()
        received.add()
      }
      let address = try #require(SocketAddress(numeric: "127.0.0.1", port: server.port))
      let socket = try #require(EngineSocket.open(for: address).socket)
      _ = socket.connect(to: address)
      #expect(await eventually { server.connections == 1 })
      let before = try #require(socket.traffic)
      let sent = [UInt8](repeating: 1, count: 1000).withUnsafeBytes { socket.send($0) }
      #expect(sent == .bytes(1000))
      let after = TCPTraffic(acknowledged: before.acknowledged + 1000, unacknowledged: 0)
      let isAcknowledged = await eventually { socket.traffic == after }
      #expect(isAcknowledged)
      socket.close()
      #expect(await eventually { received.value == 1 })
    }
  }

  struct HTTP2PingWaitTests {
    private static func moment(_ seconds: Int64) -> MonotonicInstant {
      MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    private static func traffic(_ acknowledged: UInt64, _ unacknowledged: UInt64) -> TCPTraffic {
      TCPTraffic(acknowledged: acknowledged, unacknowledged: unacknowledged)
    }

    /// A wait that began at 1 s. A million bytes were not acknowledged before PING.
    private static func delayed() -> HTTP2PingWait {
      var wait = HTTP2PingWait(now: moment(0), traffic(0, 900_000))
      wait.accepted(2000, now: moment(1), traffic(10_000, 1_002_000))
      return wait
    }

    @Test func `the wait begins when the system accepts PING`() {
      var wait = HTTP2PingWait(now: Self.moment(0), Self.traffic(0, 0))
      wait.accepted(0, now: Self.moment(3), Self.traffic(0, 17))
      #expect(wait.begun == Self.moment(3))
    }

    @Test func `a PING that nothing delays has one wait`() {
      var wait = HTTP2PingWait(now: Self.moment(0), Self.traffic(1000, 0))
      wait.accepted(1_000_000, now: Self.moment(0), Self.traffic(1000, 1_000_000 + HTTP2PingWait.undelayed))
      #expect(wait.beginAgain(now: Self.moment(10), Self.traffic(2_000_000, 0)) == false)
    }

    @Test func `bytes before PING begin the wait again`() {
      var wait = Self.delayed()
      #expect(wait.beginAgain(now: Self.moment(11), Self.traffic(500_000, 600_000)) == true)
      #expect(wait.begun == Self.moment(11))
      #expect(wait.beginAgain(now: Self.moment(21), Self.traffic(1_009_999, 600_000)) == true)
      #expect(wait.begun == Self.moment(21))
    }

    @Test func `a wait without acknowledged bytes is the last`() {
      var wait = Self.delayed()
      #expect(wait.beginAgain(now: Self.moment(11), Self.traffic(10_001, 1_001_999)) == true)
      #expect(wait.beginAgain(now: Self.moment(21), Self.traffic(10_001, 1_001_999)) == false)
    }

    @Test func `the wait after PING has arrived is the last`() {
      var wait = Self.delayed()
      #expect(wait.beginAgain(now: Self.moment(11), Self.traffic(1_010_000, 900_000)) == true)
      #expect(wait.beginAgain(now: Self.moment(21), Self.traffic(1_500_000, 900_000)) == false)
    }

    @Test func `a PING in a full connection waits for acknowledged bytes`() {
      var wait = HTTP2PingWait(now: Self.moment(0), Self.traffic(0, 4_000_000))
      #expect(wait.beginAgain(now: Self.moment(10), Self.traffic(1, 4_000_000)) == true)
      #expect(wait.beginAgain(now: Self.moment(20), Self.traffic(1, 4_000_000)) == false)
    }

    @Test func `a socket without numbers has one wait`() {
      var wait = HTTP2PingWait(now: Self.moment(0), nil)
      wait.accepted(0, now: Self.moment(1), nil)
      #expect(wait.begun == Self.moment(1))
      #expect(wait.beginAgain(now: Self.moment(11), nil) == false)
    }
  }
#endif
