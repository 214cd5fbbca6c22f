import ErrandSupport

#if canImport(Glibc)
  import Glibc

  private let streamType = Int32(SOCK_STREAM.rawValue)
  private let sendFlags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
  private let receiveFlags = Int32(MSG_DONTWAIT)
#elseif canImport(Darwin)
  import Darwin

  private let streamType = SOCK_STREAM
  private let sendFlags = MSG_DONTWAIT
  private let receiveFlags = MSG_DONTWAIT
#endif

/// A socket that listens on a free port of 127.0.0.1.
final class LiveListener: Sendable {
  let descriptor: Int32
  let port: Int
  private let isClosed = Locked(false)

  init() throws {
    let descriptor = socket(AF_INET, streamType, 0)
    guard descriptor >= 0 else { throw LiveSocket.failure("socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    LiveSocket.prepare(descriptor)
    guard Self.bindToFreePort(descriptor, &address), listen(descriptor, 64) == 0 else {
      defer { _ = close(descriptor) }
      throw LiveSocket.failure("bind")
    }
    (self.descriptor, port) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  deinit { end() }

  /// Closes the port. Later calls have no effect. While a thread uses the socket, only that thread may call this.
  func end() {
    if isClosed.setOnce() { _ = close(descriptor) }
  }

  /// Binds the socket. Afterwards `address` contains the port that the system chose.
  private static func bindToFreePort(_ descriptor: Int32, _ address: inout sockaddr_in) -> Bool {
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        bind(descriptor, name, size) == 0 && getsockname(descriptor, name, &size) == 0
      }
    }
  }

  /// Accepts a waiting connection; nil if no connection waits or the system cannot accept it.
  func accepted() -> Int32? {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return nil }
    LiveSocket.prepare(connection)
    return connection
  }
}

/// System calls on sockets. None of them blocks, except ``wait(_:milliseconds:)``.
enum LiveSocket {
  static let readable = Int16(POLLIN)
  static let writable = Int16(POLLOUT)

  enum Received {
    case bytes(ArraySlice<UInt8>)
    case nothing
    case end
  }

  /// Makes a descriptor non-blocking, and closes it in programs that this process starts.
  static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    #if canImport(Darwin)
      var isQuiet: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isQuiet, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  static func failure(_ call: String) -> FlightPageError {
    FlightPageError("The live page cannot start: \(call) failed with code \(errno) (errno).")
  }

  static func receive(_ descriptor: Int32, most: Int) -> Received {
    var bytes = [UInt8](repeating: 0, count: most)
    let count = recv(descriptor, &bytes, most, receiveFlags)
    if count > 0 { return .bytes(bytes[..<count]) }
    return count < 0 && isTemporary ? .nothing : .end
  }

  /// Sends bytes. Returns how many were accepted; nil if the connection is broken.
  static func transmit(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, sendFlags) }
    return count >= 0 ? count : isTemporary ? 0 : nil
  }

  private static var isTemporary: Bool { [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) }

  /// Tells the peer that nothing more is sent.
  static func finish(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  static func end(_ descriptor: Int32) { _ = close(descriptor) }

  /// Waits for events. Returns those of each descriptor; all zero after a time-out or a signal.
  static func wait(_ watched: [(descriptor: Int32, events: Int16)], milliseconds: Int32) -> [Int16] {
    var entries = watched.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    let count = poll(&entries, nfds_t(entries.count), milliseconds)
    return entries.map { count > 0 ? $0.revents : 0 }
  }
}
