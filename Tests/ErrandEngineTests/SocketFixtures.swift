#if os(Linux)
  import ErrandSupport
  import Foundation
  import Glibc

  struct SocketFault: Error { let call: String }

  /// The listening sockets of a test server. The thread that accepts the connections of a socket closes it, and other
  /// threads only shut it down. Both happen under the lock. Otherwise a thread could shut down, or accept from, a
  /// descriptor that the system has meanwhile given to a socket of another test.
  final class OpenListeners: Sendable {
    private let sockets = Locked<Set<Int32>>([])

    func insert(_ socket: Int32) { sockets.withLock { _ = $0.insert(socket) } }

    func shutDown() {
      sockets.withLock { sockets in for socket in sockets { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    func close(_ socket: Int32) {
      sockets.withLock { sockets in if sockets.remove(socket) != nil { _ = Glibc.close(socket) } }
    }
  }

  /// A listener whose queue is full. New connections to it neither succeed nor fail.
  final class FullListener {
    private var sockets: [Int32] = []
    private(set) var url = ""

    init(address: String = "127.0.0.1", port: Int = 0) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      sockets.append(listener)
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
      place.sin_addr.s_addr = inet_addr(address)
      let isBound = Self.with(&place) { bind(listener, $0, $1) == 0 && listen(listener, 0) == 0 }
      guard isBound else { throw SocketFault(call: "bind") }
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = Self.with(&place) { place, _ in getsockname(listener, place, &size) }
      url = "http://\(address):\(UInt16(bigEndian: place.sin_port))/"
      // Fills the queue of connections that no thread accepts.
      for _ in 0..<4 {
        let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        sockets.append(one)
        _ = Self.with(&place) { connect(one, $0, $1) }
      }
    }

    deinit { for socket in sockets { close(socket) } }

    private static func with<Result>(
      _ place: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
      withUnsafeMutablePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
      }
    }
  }

  /// A server on a Unix domain socket that answers each request with `ok`.
  final class UnixServer: Sendable {
    private let count = Locked(0)
    var connections: Int { count.withLock { $0 } }

    private let path: String
    private let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)

    /// Listens at a path.
    /// - Parameters:
    ///   - queue: The number of connections that may wait besides one.
    ///   - accepts: False if connections wait until ``accept()`` is called.
    init(_ path: String, queue: Int32 = 8, accepts: Bool = true) throws {
      self.path = path
      let isBound = Self.with(path) { [listener] in bind(listener, $0, $1) } == 0 && listen(listener, queue) == 0
      guard isBound else { throw SocketFault(call: "bind") }
      if accepts { accept() }
    }

    /// Begins to accept connections.
    func accept() {
      Thread.detachNewThread { [self] in
        while true {
          let peer = Glibc.accept(listener, nil, nil)
          guard peer >= 0 else { return }
          count.withLock { $0 += 1 }
          serve(peer)
        }
      }
    }

    /// Connects to the server without sending anything. The caller closes the descriptor.
    func connect() -> Int32 {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      _ = Self.with(path) { Glibc.connect(descriptor, $0, $1) }
      return descriptor
    }

    private static func with<Result>(
      _ path: String, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
      var place = sockaddr_un()
      place.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      return withUnsafeMutablePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
      }
    }

    private func serve(_ peer: Int32) {
      Thread.detachNewThread {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        while recv(peer, &bytes, bytes.count, 0) > 0 {
          _ = send(peer, text, text.utf8.count, Int32(MSG_NOSIGNAL))
        }
        close(peer)
      }
    }
  }
#endif
