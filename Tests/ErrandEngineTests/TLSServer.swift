#if os(Linux)
  import CTLSServer
  import ErrandHTTP
  import ErrandSupport
  import Foundation
  import Glibc
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// The settings, the key and the certificate of TLS servers.
  final class TLSIdentity: @unchecked Sendable {  // OpenSSL locks the settings, which do not change after `init`
    fileprivate let server: OpaquePointer
    let certificate: Data

    /// Makes a key and a certificate. `setUp` changes the settings of the servers.
    init(setUp: (OpaquePointer) -> Void = { _ in }) throws {
      guard let server = tls_server_make() else { throw SocketFault(call: "tls_server_make") }
      setUp(server)
      var pem = [CChar](repeating: 0, count: 4096)
      let size = tls_server_certificate(server, &pem, pem.count)
      certificate = pem.withUnsafeBytes { Data($0.prefix(size)) }
      self.server = server
    }

    /// A transport that trusts this certificate on loopback.
    func transport(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineTransport {
      var configuration = EngineConfiguration()
      configuration.certificateAuthority = .test(.data(certificate))
      change(&configuration)
      return try EngineTransport(configuration)
    }
  }

  /// A TLS server on loopback. Each connection runs a function on its own thread.
  final class TLSServer: Sendable {
    /// One connection of a client, before or after the handshake. Only the thread of the connection uses it.
    final class Peer {
      let descriptor: Int32
      private let identity: TLSIdentity
      private var session: OpaquePointer?

      init(_ descriptor: Int32, _ identity: TLSIdentity) {
        self.descriptor = descriptor
        self.identity = identity
      }

      deinit {
        if let session { tls_peer_free(session) }
        close(descriptor)
      }

      /// Performs the handshake. Returns false if it fails.
      func accept() -> Bool {
        session = tls_peer_accept(identity.server, descriptor)
        return session != nil
      }

      /// The server name in the client's hello. Nil if the client sent none.
      var name: String? { session.flatMap { tls_peer_name($0) }.map { String(cString: $0) } }

      /// The protocol that the server chose. Nil if it chose none.
      var protocolName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard let session, case let count = Int(tls_peer_protocol(session, &name)), count > 0 else { return nil }
        return name.withUnsafeBytes { String(decoding: $0.prefix(count), as: UTF8.self) }
      }

      /// Reads until an empty line ends the headers of a request. Returns nil at the end of the stream.
      func readRequest() -> String? {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while !text.suffix(4).elementsEqual("\r\n\r\n".utf8) {
          guard let session, tls_peer_read(session, &byte, 1) == 1 else { return nil }
          text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
      }

      /// Reads this number of bytes, in small pieces. Returns fewer bytes at the end of the stream.
      func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while bytes.count < count, let session {
          let read = tls_peer_read(session, &room, Int32(min(room.count, count - bytes.count)))
          guard read > 0 else { break }
          bytes += room[..<Int(read)]
        }
        return bytes
      }

      func write(_ text: String) { write(Array(text.utf8)) }

      func write(_ bytes: [UInt8]) { if let session { _ = tls_peer_write(session, bytes, Int32(bytes.count)) } }

      func answer(_ body: String) { write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)") }

      /// Whether the client resumed an earlier session.
      var isResumed: Bool { session.map { tls_peer_is_resumed($0) } ?? false }
      func sendTicket() -> Bool { session.map { tls_peer_send_ticket($0) } ?? false }
      func updateKeys() -> Bool { session.map { tls_peer_update_keys($0) } ?? false }
      func sayEnd() { if let session { tls_peer_say_end(session) } }

      /// Makes the later close reset the connection.
      func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
      }

      /// The records that the server makes in `body`. They are not sent.
      func records(of body: () -> Void) -> [UInt8] {
        guard let session else { return [] }
        tls_peer_hold_output(session)
        body()
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = tls_peer_take_output(session, &bytes, bytes.count)
        return Array(bytes[..<count])
      }

      /// Sends bytes without TLS.
      func writePlain(_ text: String) { writePlain(Array(text.utf8)[...]) }

      func writePlain(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { _ = send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      }

      /// Reads what has arrived without TLS, so that a later close ends the stream instead of resetting it.
      func readPlain() {
        var room = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &room, room.count, Int32(MSG_DONTWAIT)) > 0 {}
      }

      /// Waits until the client has closed the connection.
      func waitForEnd() {
        var byte: UInt8 = 0
        if let session { while tls_peer_read(session, &byte, 1) > 0 {} }
        while recv(descriptor, &byte, 1, 0) > 0 {}
      }

      /// Copies bytes to and from a server in cleartext until both sides have closed.
      func relay(to port: Int) {
        let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = TLSServer.address(port)
        guard TLSServer.with(&place, { connect(other, $0, $1) }) == 0, let session else { return }
        tls_peer_relay(session, descriptor, other)
        close(other)
      }
    }

    let port: Int
    let identity: TLSIdentity
    private let count = Locked(0)
    var connections: Int { count.withLock { $0 } }

    private let listeners = OpenListeners()

    /// Starts a server, with a small receive buffer if its size in bytes is given.
    init(
      identity: TLSIdentity? = nil, receiveBuffer: Int32? = nil, _ serve: @escaping @Sendable (Peer) -> Void
    ) throws {
      let identity = try identity ?? TLSIdentity()
      self.identity = identity
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      if var receiveBuffer {
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
      }
      var place = Self.address(0)
      guard Self.with(&place, { bind(listener, $0, $1) }) == 0, listen(listener, 128) == 0 else {
        throw SocketFault(call: "bind")
      }
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = Self.with(&place) { place, _ in getsockname(listener, place, &length) }
      port = Int(UInt16(bigEndian: place.sin_port))
      listeners.insert(listener)
      Thread.detachNewThread { [weak self, listeners] in
        defer { listeners.close(listener) }
        while true {
          let descriptor = Glibc.accept(listener, nil, nil)
          guard descriptor >= 0 else { return }
          // Otherwise the system may hold back small writes until the client has sent something.
          var isOn: Int32 = 1
          setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
          self?.count.withLock { $0 += 1 }
          Thread.detachNewThread { serve(Peer(descriptor, identity)) }
        }
      }
    }

    deinit { listeners.shutDown() }

    var url: String { "https://127.0.0.1:\(port)" }

    /// A transport that trusts this server.
    func transport(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineTransport {
      try identity.transport(change)
    }

    fileprivate static func address(_ port: Int) -> sockaddr_in {
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
      place.sin_addr.s_addr = inet_addr("127.0.0.1")
      return place
    }

    fileprivate static func with<Result>(
      _ place: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
      withUnsafeMutablePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
      }
    }
  }

  extension TLSServer {
    /// Performs the handshake, and answers every request until the client closes the connection.
    static let answersAll: @Sendable (Peer) -> Void = { peer in
      guard peer.accept() else { return }
      while peer.readRequest() != nil { peer.answer("ok") }
    }

    /// The response to a GET request.
    func get(_ change: (inout EngineConfiguration) -> Void = { _ in }) async throws -> HTTPResponse {
      try await TransportConformance.get(transport(change), url)
    }

    /// The failure of a request, over a transport that trusts this server unless another is given.
    func failure(over other: EngineTransport? = nil, method: HTTPMethod = .get) async throws -> TransportFailure? {
      let exchange = Exchange(request: try HTTPRequest(method: method, url: url))
      return await TransportConformance.failure(of: exchange, over: try other ?? transport())
    }
  }
#endif
