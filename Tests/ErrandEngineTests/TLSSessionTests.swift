#if os(Linux)
  import CTLSServer
  import ErrandHTTP
  import ErrandSupport
  import ErrandTLS
  import Foundation
  import Glibc
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// What counts as sent over TLS, and when a connection resumes an earlier session.
  struct TLSSessionTests {
    /// A connection after its handshake.
    private struct Link {
      let session: TLSSession
      let peer: TLSServer.Peer
      let descriptor: Int32

      func close() {
        session.close()
        Glibc.close(descriptor)
      }
    }

    private static func context(_ identity: TLSIdentity) throws -> TLSContext {
      let trust = try TrustSettings(
        .certificates(identity.certificate), pins: [], clientCertificates: [], policy: .any)
      return try #require(TLSContext(trust, certificate: nil, minimum: .tls1_2))
    }

    /// The loop keeps a context until it ends, so it must not keep one without the authorities. A file without
    /// authorities stands for one that cannot be opened.
    @Test(arguments: [false, true])
    func `authorities need a file descriptor`(isLacking: Bool) throws {
      let path = NSTemporaryDirectory() + "errand-\(UUID().uuidString).pem"
      try Data().write(to: URL(fileURLWithPath: path))
      defer { unlink(path) }
      let context = TLSContext(
        .standard, certificate: nil, minimum: .tls1_2, files: [path], lacksDescriptors: { isLacking })
      #expect((context == nil) == isLacking)
    }

    /// Connects to a server over a pair of sockets that hold few bytes.
    private static func link(
      _ context: TLSContext, _ identity: TLSIdentity, at now: MonotonicInstant = .now
    ) throws -> Link {
      var pair: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
      let client = pair[0]
      var size: Int32 = 8 << 10
      setsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      nonisolated(unsafe) let peer = TLSServer.Peer(pair[1], identity)  // used by the thread, then by the test
      let isAccepted = Locked<Bool?>(nil)
      Thread.detachNewThread {
        let result = peer.accept()
        isAccepted.withLock { $0 = result }
      }
      let origin = try HTTPURL("https://localhost").origin
      let session = try #require(
        TLSSession(context, descriptor: client, origin: origin, protocols: [], at: now))
      while session.handshake() == .later {
        var polled = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
        poll(&polled, 1, 100)
      }
      while isAccepted.withLock({ $0 }) == nil { sched_yield() }
      #expect(isAccepted.withLock { $0 } == true)
      return Link(session: session, peer: peer, descriptor: client)
    }

    /// The engine sends a request again if none of its bytes were written, so a server must never have received more
    /// bytes than were reported as sent.
    @Test func `no byte arrives before it counts as sent`() throws {
      let identity = try TLSIdentity()
      let link = try Self.link(Self.context(identity), identity)
      defer { link.close() }
      _ = fcntl(link.peer.descriptor, F_SETFL, O_NONBLOCK)
      let content = [UInt8](repeating: 1, count: 64 << 10)
      var (sent, arrived) = (0, 0)
      for _ in 0..<100 where sent < content.count {
        let result = content.withUnsafeBytes { link.session.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
        if case .bytes(let count) = result { sent += count }
        arrived += link.peer.read(content.count).count
        #expect(arrived <= sent)
      }
      #expect(sent == content.count)
    }

    private static func send(_ session: TLSSession, _ content: ArraySlice<UInt8>) -> EngineSocket.Transferred {
      content.withUnsafeBytes { session.send($0) }
    }

    /// The client must answer KeyUpdate at once, also if the socket has taken only a part of a record, or none of it.
    @Test(arguments: [1, 20_000]) func `a key update during a stalled upload is answered`(piece: Int) throws {
      let identity = try TLSIdentity()
      let link = try Self.link(Self.context(identity), identity)
      defer { link.close() }
      let content = (0..<(100 << 10)).map { UInt8(truncatingIfNeeded: $0) }
      var sent = 0
      func sendPiece() -> EngineSocket.Transferred {
        let result = Self.send(link.session, content[sent..<min(sent + piece, content.count)])
        if case .bytes(let count) = result { sent += count }
        return result
      }
      while sendPiece() != .later {}
      let stalled = sent
      var arrived: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 100)
      for round in 0..<3 {
        #expect(link.peer.updateKeys())
        link.peer.write("\(round)")
        #expect(buffer.withUnsafeMutableBytes { link.session.receive(into: $0) } == .bytes(1))
        #expect(sendPiece() == .later && sent == stalled)
      }
      _ = fcntl(link.peer.descriptor, F_SETFL, O_NONBLOCK)
      for _ in 0..<200_000 where sent < content.count {
        _ = sendPiece()
        arrived += link.peer.read(content.count)
        #expect(arrived.count <= sent)
      }
      #expect(sent == content.count && arrived == content)
    }

    /// A ticket is split over two records, and content follows it. If only the first record has arrived, sending reads
    /// all the rest, and the poller then finds no bytes on the socket.
    @Test func `content that sending has read is reported`() throws {
      let identity = try TLSIdentity { tls_server_split_tickets($0) }
      let link = try Self.link(Self.context(identity), identity)
      defer { link.close() }
      let socket = EngineSocket(descriptor: link.descriptor).secured(by: link.session)
      func receive() -> EngineSocket.Transferred {
        var buffer = [UInt8](repeating: 0, count: 100)
        return buffer.withUnsafeMutableBytes { socket.receive(into: $0) }
      }
      #expect(receive() == .later)
      let records = link.peer.records {
        #expect(link.peer.sendTicket())
        link.peer.write("content")
      }
      try #require(records.count > 5)
      let first = 5 + (Int(records[3]) << 8 | Int(records[4]))
      try #require(first < records.count)
      link.peer.writePlain(records[..<first])
      let event = Poller.Report(token: 1, isReadable: false, isWritable: true, hasEnded: false)
      #expect(receive() == .later && !socket.interpreted(event).isReadable)
      link.peer.writePlain(records[first...])
      #expect(Self.send(link.session, [1]) == .bytes(1))
      var polled = pollfd(fd: link.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&polled, 1, 0) == 0)
      #expect(socket.interpreted(event).isReadable)
      #expect(receive() == .bytes(7))
    }

    // MARK: - Resumption

    /// A chain of resumed sessions must not replace the check of the certificate for ever.
    @Test(arguments: [false, true]) func `the certificate is checked every ten minutes`(isOld: Bool) throws {
      let identity = try TLSIdentity { if isOld { tls_server_use_tls_1_2($0) } }
      let context = try Self.context(identity)
      let start = MonotonicInstant.now
      var resumed: [Bool] = []
      for minute in [0, 6, 9, 10, 19, 20] {
        let link = try Self.link(context, identity, at: start.advanced(by: .seconds(60 * minute)))
        resumed.append(link.peer.isResumed)
        link.peer.write("content")
        var buffer = [UInt8](repeating: 0, count: 100)
        let received = buffer.withUnsafeMutableBytes { link.session.receive(into: $0) }
        #expect(received == .bytes(7))
        link.close()
      }
      #expect(resumed == [false, true, true, false, true, false])
    }

    /// A server sends new sessions after the handshake, which the second connection does not read.
    @Test(arguments: [false, true]) func `a session of TLS 1.3 is used once`(isOld: Bool) throws {
      let identity = try TLSIdentity { if isOld { tls_server_use_tls_1_2($0) } }
      let context = try Self.context(identity)
      let first = try Self.link(context, identity)
      first.peer.write("content")
      var buffer = [UInt8](repeating: 0, count: 100)
      #expect(buffer.withUnsafeMutableBytes { first.session.receive(into: $0) } == .bytes(7))
      let (second, third) = (try Self.link(context, identity), try Self.link(context, identity))
      #expect(second.peer.isResumed && third.peer.isResumed == isOld)
      for link in [first, second, third] { link.close() }
    }

    @Test func `a rejected session is not resumed`() throws {
      let identity = try TLSIdentity { tls_server_use_tls_1_2($0) }
      let context = try Self.context(identity)
      try Self.link(context, identity).close()
      let second = try Self.link(context, identity)
      #expect(second.peer.isResumed)
      second.session.reject()
      second.close()
      let third = try Self.link(context, identity)
      #expect(!third.peer.isResumed)
      third.close()
    }

    /// With TLS 1.2, the server offers the session in the handshake, so before the client checks the pins.
    @Test func `a session with a wrong key is not resumed`() async throws {
      let (handshakes, handshake) = AsyncStream<String>.makeStream()
      let identity = try TLSIdentity { tls_server_use_tls_1_2($0) }
      let server = try TLSServer(identity: identity) { peer in
        handshake.yield(!peer.accept() ? "failed" : peer.isResumed ? "resumed" : "full")
      }
      let pins = [7, 8].map { Data(repeating: $0, count: 32).base64EncodedString() }
      let transport = try server.transport { $0.pins = [PublicKeyPins(host: "127.0.0.1", sha256: pins)] }
      var results = handshakes.makeAsyncIterator()
      for _ in 0..<3 {
        #expect(try await server.failure(over: transport)?.kind == .pinMismatch)
        let result = await results.next()
        #expect(result == "full")
      }
    }

    /// Answers one request of each connection, and reports whether the connection has resumed a session.
    private static func answering(_ report: @escaping @Sendable (Bool) -> Void) -> @Sendable (TLSServer.Peer) -> Void {
      { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        report(peer.isResumed)
        peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        peer.sayEnd()
      }
    }

    @Test(arguments: [false, true]) func `new connections resume the session`(isOld: Bool) async throws {
      let resumed = Locked<[Bool]>([])
      let identity = try TLSIdentity { if isOld { tls_server_use_tls_1_2($0) } }
      let answer = Self.answering { isResumed in resumed.withLock { $0.append(isResumed) } }
      let server = try TLSServer(identity: identity, answer)
      let transport = try server.transport()
      for _ in 0..<3 { #expect(try await TransportConformance.get(transport, server.url).text == "ok") }
      #expect(resumed.withLock { $0 } == [false, true, true])
      // Neither another transport nor another trust configuration of the same transport resumes it.
      #expect(try await TransportConformance.get(try server.transport(), server.url).text == "ok")
      try transport.reload()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      #expect(resumed.withLock { $0.suffix(2) } == [false, false])
    }

    @Test func `each server has its own session`() async throws {
      let resumed = Locked<[Bool]>([])
      let identity = try TLSIdentity()
      // Both servers could resume the sessions of the other, because they have the same keys.
      let answer = Self.answering { isResumed in resumed.withLock { $0.append(isResumed) } }
      let servers = try (0..<2).map { _ in try TLSServer(identity: identity, answer) }
      let transport = try identity.transport()
      for url in [servers[0].url, servers[1].url, servers[0].url.replacing("127.0.0.1", with: "localhost")] {
        #expect(try await TransportConformance.get(transport, url).text == "ok")
      }
      #expect(resumed.withLock { $0 } == [false, false, false])
    }
  }
#endif
