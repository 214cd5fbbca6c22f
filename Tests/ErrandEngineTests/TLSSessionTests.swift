#if os(Linux)
  import ErrandHTTP
  import ErrandSupport
  import ErrandTLS
  import Foundation
  import Glibc
  import Testing

  @testable import ErrandEngine

  /// A session over a socket that accepts few bytes at once.
  @Suite(.timeLimit(.minutes(1))) struct TLSSessionTests {
    /// The engine sends a request again if none of its bytes were written, so a server must never have received more
    /// bytes than were reported as sent.
    @Test func `no byte arrives before it counts as sent`() throws {
      let identity = try TLSIdentity()
      var pair: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
      let client = pair[0]
      defer { close(client) }
      var size: Int32 = 8 << 10
      setsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      nonisolated(unsafe) let peer = TLSServer.Peer(pair[1], identity)  // used by the thread, then by the test
      let isAccepted = Locked<Bool?>(nil)
      Thread.detachNewThread {
        let result = peer.accept()
        isAccepted.withLock { $0 = result }
      }
      let trust = try TrustSettings(
        .certificates(identity.certificate), pins: [], clientCertificates: [], policy: .any)
      let context = try #require(TLSContext(trust, certificate: nil, minimum: .tls1_2))
      let origin = try HTTPURL("https://localhost").origin
      let session = try #require(TLSSession(context, descriptor: client, origin: origin, protocols: []))
      defer { session.close() }
      while session.handshake() == .later { Self.wait(client, POLLIN) }
      while isAccepted.withLock({ $0 }) == nil { sched_yield() }
      #expect(isAccepted.withLock { $0 } == true)
      _ = fcntl(peer.descriptor, F_SETFL, O_NONBLOCK)
      let content = [UInt8](repeating: 1, count: 64 << 10)
      var (sent, arrived) = (0, 0)
      for _ in 0..<100 where sent < content.count {
        let result = content.withUnsafeBytes { session.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
        if case .bytes(let count) = result { sent += count }
        arrived += peer.read(content.count).count
        #expect(arrived <= sent)
      }
      #expect(sent == content.count)
    }

    private static func wait(_ descriptor: Int32, _ event: Int32) {
      var polled = pollfd(fd: descriptor, events: Int16(event), revents: 0)
      poll(&polled, 1, 100)
    }
  }
#endif
