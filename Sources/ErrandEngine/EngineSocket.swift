#if os(Linux)
  import CErrandEngine
  import Glibc

  /// The bytes that a TCP socket has sent, according to the system.
  struct TCPTraffic: Equatable {
    /// The number of bytes that the peer's system has acknowledged.
    var acknowledged: UInt64
    /// The number of bytes that this system has accepted and the peer's system has not acknowledged.
    var unacknowledged: UInt64
  }

  /// A non-blocking stream socket, in cleartext or with TLS. The object that uses the socket must close it exactly
  /// once.
  struct EngineSocket {
    /// The result of sending or receiving.
    enum Transferred: Equatable {
      /// The number of transferred bytes, at least 1.
      case bytes(Int)
      /// No byte can be transferred now. The poller reports when sending or receiving can continue.
      case later
      /// The peer has closed its side of the stream.
      case end
      /// The transfer failed with this error number (`errno`) of the system.
      case failed(Int32)
    }

    /// The result of an attempt to connect.
    enum Attempt: Equatable {
      case connected
      /// The attempt is in progress. The poller reports when the attempt ends.
      case pending
      /// The attempt failed with this error number (`errno`) of the system.
      case failed(Int32)
    }

    let descriptor: Int32
    /// The TLS session that protects the bytes. Nil for a socket in cleartext.
    private(set) var tls: TLSSession?

    /// Opens a socket for an address. Returns the system's error number if the socket cannot be opened.
    static func open(for address: SocketAddress) -> (socket: EngineSocket?, error: Int32) {
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(address.family, kind, 0)
      guard descriptor >= 0 else { return (nil, errno) }
      if !address.isUnix {
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      }
      return (EngineSocket(descriptor: descriptor), 0)
    }

    /// True if the process or the system has no file descriptor left.
    static var lacksDescriptors: Bool {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
      _ = Glibc.close(descriptor)
      return false
    }

    func connect(to address: SocketAddress) -> Attempt {
      while true {
        if address.withSystemAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 { return .connected }
        switch errno {
        case EINTR: continue
        case EINPROGRESS: return .pending
        default: return .failed(errno)
        }
      }
    }

    /// The system's error number of the connection attempt; 0 if the socket is connected.
    var pendingError: Int32 {
      var error: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno
    }

    // MARK: - TLS

    /// The socket with a TLS session whose handshake is complete.
    func secured(by session: TLSSession) -> EngineSocket {
      var socket = self
      socket.tls = session
      return socket
    }

    /// The name of the protocol that the server chose in the TLS handshake, such as `h2` (ALPN, RFC 7301). Nil without
    /// TLS, or if the server chose none.
    var negotiatedProtocol: String? { tls?.negotiatedProtocol }

    /// True if ``receive(into:)`` may have a result although the poller will not report another event: OpenSSL has
    /// decrypted bytes, or it has seen the end of the stream after the last bytes.
    var hasBuffered: Bool { tls?.hasBuffered == true }

    /// True if the stream has ended without the announcement that TLS requires (`close_notify`). An attacker may then
    /// have cut off the data (RFC 8446 section 6.1).
    var isCutOff: Bool { tls?.isCutOff == true }

    /// An event of the socket, in the form that the owner of the connection needs.
    /// - While a message of TLS itself waits for the socket, one event continues both directions, because the owner may
    ///   have no bytes to send.
    /// - While OpenSSL holds received bytes, each event continues receiving. If a session ticket is incomplete, sending
    ///   reads the rest of it and the bytes behind it. The poller then finds no bytes on the socket and does not report
    ///   them.
    func interpreted(_ report: Poller.Report) -> Poller.Report {
      guard let tls, tls.hasUnsent || tls.hasBuffered else { return report }
      return Poller.Report(
        token: report.token, isReadable: true, isWritable: report.isWritable || tls.hasUnsent,
        hasEnded: report.hasEnded)
    }

    // MARK: - Bytes

    /// Sends bytes from the beginning of `bytes`, which must not be empty. After `.later`, or if not all bytes were
    /// sent, the next call must begin with the bytes that were not sent, because TLS may have encrypted them already.
    func send(_ bytes: UnsafeRawBufferPointer) -> Transferred {
      if let tls { return tls.send(bytes) }
      while true {
        let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        if errno != EINTR { return Self.failure(errno) }
      }
    }

    /// Receives bytes into `buffer`, which must not be empty.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transferred {
      if let tls { return tls.receive(into: buffer) }
      while true {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        if errno != EINTR { return Self.failure(errno) }
      }
    }

    /// True if unread bytes, the end of the stream or an error is available on the socket. Messages of TLS itself, such
    /// as session tickets, are processed and do not count.
    var hasUnread: Bool {
      if let tls { return tls.hasUnread }
      var byte: UInt8 = 0
      while true {
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count >= 0 { return true }
        if errno != EINTR { return Self.failure(errno) != .later }
      }
    }

    /// The bytes that were sent. Nil if the system does not know, for example for a Unix domain socket.
    var traffic: TCPTraffic? {
      var (acknowledged, unacknowledged): (UInt64, UInt64) = (0, 0)
      guard errand_tcp_traffic(descriptor, &acknowledged, &unacknowledged) else { return nil }
      return TCPTraffic(acknowledged: acknowledged, unacknowledged: unacknowledged)
    }

    func close() {
      tls?.close()
      _ = Glibc.close(descriptor)
    }

    private static func failure(_ error: Int32) -> Transferred {
      error == EAGAIN || error == EWOULDBLOCK ? .later : .failed(error)
    }
  }
#endif
