#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The socket of one connection. Only the thread of the connection uses the socket.
///
/// The only system call that blocks this thread is `poll`, and `poll` also ends when the server stops. So no other
/// thread has to close the file descriptor in order to end a system call of this thread.
final class LoopbackSocket {
  private let descriptor: Int32
  private let stop: Gate
  private let onSent: (Int) -> Void
  private var isOpen = true
  /// The number of bytes passed to the system's `send` so far.
  private(set) var sentCount = 0
  private var scratch = [UInt8](repeating: 0, count: 32 << 10)

  /// - Parameter onSent: A closure that is called after each system call `send` with the number of bytes that this
  ///   system call has sent.
  init(_ descriptor: Int32, stop: Gate, sendBuffer: Int? = nil, onSent: @escaping (Int) -> Void) {
    self.descriptor = descriptor
    self.stop = stop
    self.onSent = onSent
    Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, to: Int32(1))
    if let noSignalOption { Self.set(descriptor, SOL_SOCKET, noSignalOption, to: Int32(1)) }
    if let sendBuffer { Self.set(descriptor, SOL_SOCKET, SO_SNDBUF, to: Int32(clamping: sendBuffer)) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close() }

  /// Waits for at least one byte and appends all received bytes to `buffer`. Returns false at the end of the stream.
  func receive(into buffer: inout [UInt8]) throws -> Bool {
    while true {
      if stop.isOpen { throw ConnectionEnd.stopped }
      let count = recv(descriptor, &scratch, scratch.count, quietReceiveFlags)
      if count > 0 {
        buffer += scratch[..<count]
        return true
      }
      if count == 0 { return false }
      try retry(SystemPoll.readable)
    }
  }

  /// Sends all bytes. Waits while the system's send buffer is full; throws if the peer closes the connection or the
  /// server stops.
  func send(_ bytes: ArraySlice<UInt8>) throws {
    var rest = bytes
    while !rest.isEmpty {
      if stop.isOpen { throw ConnectionEnd.stopped }
      let count = rest.withUnsafeBytes { Self.send(descriptor, $0) }
      if count > 0 {
        sentCount += count
        onSent(count)
        rest = rest.dropFirst(count)
      } else {
        try retry(SystemPoll.writable)
      }
    }
  }

  /// Waits until the gate lets the connection pass; throws if the peer closes the connection or the server stops.
  func pass(_ gate: Gate) throws {
    gate.arrive()
    while !gate.takePass() {
      try watch(also: try gate.wakeDescriptor(), timeout: nil)
    }
  }

  /// Waits for a duration in real time; throws if the peer closes the connection or the server stops.
  func pause(_ duration: Duration) throws {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end {
      try watch(also: nil, timeout: ContinuousClock.now.duration(to: end))
    }
  }

  /// Closes the sending side of the connection (FIN). The receiving side stays open.
  func halfClose() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Waits until the peer has closed the connection, but at most 250 milliseconds. The peer needs this time to read the
  /// response: a close with unread input resets the connection, which can discard the response (RFC 9112 section 9.6).
  func waitForPeerToClose() { try? pause(.milliseconds(250)) }

  /// Makes the next ``close()`` reset the connection: data that has not been sent is dropped, and RST is sent.
  func resetOnClose() {
    Self.set(descriptor, SOL_SOCKET, SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
  }

  /// Closes the file descriptor. Later calls have no effect.
  func close() {
    guard isOpen else { return }
    isOpen = false
    closeDescriptor(descriptor)
  }

  /// Handles `errno` after a failed system call, and returns when the caller can repeat the system call. If the system
  /// call would have blocked, this function waits until `event` occurs. If a signal interrupted the system call, this
  /// function returns at once. Throws for all other errors, and if the server stops.
  private func retry(_ event: Int16) throws {
    switch errno {
    case EINTR: return
    case EAGAIN, EWOULDBLOCK:
      let ready = SystemPoll.wait(for: [(descriptor, event), (try stop.wakeDescriptor(), SystemPoll.readable)])
      if ready[1] != 0 { throw ConnectionEnd.stopped }
    default: throw ConnectionEnd.peerLeft
    }
  }

  /// Waits until the file descriptor `other` is readable or the timeout expires. Throws if the peer closes the
  /// connection or the server stops.
  private func watch(also other: Int32?, timeout: Duration?) throws {
    var watched = [(descriptor, peerClosedEvent), (try stop.wakeDescriptor(), SystemPoll.readable)]
    if let other { watched.append((other, SystemPoll.readable)) }
    let ready = SystemPoll.wait(for: watched, timeout: timeout)
    if ready[1] != 0 { throw ConnectionEnd.stopped }
    if ready[0] != 0 { throw ConnectionEnd.peerLeft }
  }

  private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, quietSendFlags)
    #elseif canImport(Darwin)
      Darwin.send(descriptor, bytes.baseAddress, bytes.count, quietSendFlags)
    #endif
  }

  private static func set<Value>(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Value) {
    withUnsafeBytes(of: value) { bytes in
      _ = setsockopt(descriptor, level, option, bytes.baseAddress, socklen_t(bytes.count))
    }
  }
}

/// The error that is thrown inside the server to end a connection before its next request. None of these errors reaches
/// the test.
enum ConnectionEnd: Error {
  /// The client closed or reset the connection.
  case peerLeft
  /// The test has stopped the server, or the server is being deallocated.
  case stopped
  /// The scripted response contains a step that closes the connection.
  case close
  /// The scripted response contains a step that resets the connection.
  case reset
  /// The bytes that the client sent are not an HTTP/1.x request. The associated text states the mistake.
  case malformed(String)
}

/// The system's `poll`, the only system call in which the server blocks.
enum SystemPoll {
  /// The `poll` event that reports data to read, a connection to accept, or the end of the stream.
  static let readable = Int16(POLLIN)
  /// The `poll` event that reports free space in the send buffer.
  static let writable = Int16(POLLOUT)

  /// Waits until one of the descriptors has one of its events or an error, or the timeout expires.
  ///
  /// - Returns: The events of each descriptor, in the order of `watched`; all zero after a timeout or a signal.
  static func wait(for watched: [(descriptor: Int32, events: Int16)], timeout: Duration? = nil) -> [Int16] {
    var entries = watched.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    let count = poll(&entries, nfds_t(entries.count), timeout.map(milliseconds) ?? -1)
    return entries.map { count > 0 ? $0.revents : 0 }
  }

  /// The duration in milliseconds, rounded up. If the duration were rounded down, a wait could end early, and the
  /// caller would repeat the wait many times.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let whole = min(seconds, 1_000_000) * 1000
    return Int32(truncatingIfNeeded: whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Closes a file descriptor with the system's `close`. Inside a type that has a method `close`, the name `close` means
/// this method, so such types call this function instead.
func closeDescriptor(_ descriptor: Int32) {
  _ = close(descriptor)
}

// System constants whose names differ between Glibc and Darwin.
#if canImport(Glibc)
  /// The type of a TCP socket.
  let streamSocketType = Int32(SOCK_STREAM.rawValue)
  /// Flags for `send`: the call does not block, and there is no SIGPIPE if the peer has closed the connection.
  let quietSendFlags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
  /// Flags for `recv`: the call does not block.
  let quietReceiveFlags = Int32(MSG_DONTWAIT)
  /// The socket option that prevents SIGPIPE if the peer has closed the connection; nil if the system has no such
  /// option.
  let noSignalOption: Int32? = nil
  /// The `poll` event that reports a peer that has closed its sending side: the value of `POLLRDHUP` on Linux.
  let peerClosedEvent = Int16(0x2000)
#elseif canImport(Darwin)
  let streamSocketType = SOCK_STREAM
  let quietSendFlags = MSG_DONTWAIT
  let quietReceiveFlags = MSG_DONTWAIT
  let noSignalOption: Int32? = SO_NOSIGPIPE
  /// The `poll` event that reports a peer that has closed its sending side. `poll` always reports POLLHUP, so no flag
  /// is needed.
  let peerClosedEvent = Int16(0)
#endif
