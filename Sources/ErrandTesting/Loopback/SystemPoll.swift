#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
