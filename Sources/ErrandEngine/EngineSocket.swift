#if os(Linux)
  import Glibc

  /// A stream socket that never blocks. Closed by its owner, once.
  struct EngineSocket {
    /// What came of sending or receiving.
    enum Transferred: Equatable {
      /// So many bytes, at least one.
      case bytes(Int)
      /// Nothing now: the poller reports when it can go on.
      case later
      /// The other end sends no more.
      case end
      /// The system's error number.
      case failed(Int32)
    }

    /// What came of the attempt to connect.
    enum Attempt: Equatable {
      case connected
      /// The poller reports the end.
      case pending
      /// The system's error number.
      case failed(Int32)
    }

    let descriptor: Int32

    /// A socket for an address, or the system's error number.
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

    /// The error of a connection that was attempted; 0 if it stands.
    var pendingError: Int32 {
      var error: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno
    }

    /// Sends from the front of `bytes`, which are not empty.
    func send(_ bytes: UnsafeRawBufferPointer) -> Transferred {
      while true {
        let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        if errno != EINTR { return Self.failure(errno) }
      }
    }

    /// Receives into `room`, which is not empty.
    func receive(into room: UnsafeMutableRawBufferPointer) -> Transferred {
      while true {
        let count = recv(descriptor, room.baseAddress, room.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        if errno != EINTR { return Self.failure(errno) }
      }
    }

    /// Whether bytes, the end of the stream or an error wait to be read.
    var hasUnread: Bool {
      var byte: UInt8 = 0
      while true {
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count >= 0 { return true }
        if errno != EINTR { return Self.failure(errno) != .later }
      }
    }

    func close() { _ = Glibc.close(descriptor) }

    private static func failure(_ error: Int32) -> Transferred {
      error == EAGAIN || error == EWOULDBLOCK ? .later : .failed(error)
    }
  }
#endif
