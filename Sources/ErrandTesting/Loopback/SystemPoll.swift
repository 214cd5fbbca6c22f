#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's `poll`, the only place where the server waits.
enum SystemPoll {
  /// The event that there is something to read, to accept, or the end of the stream.
  static let readable = Int16(POLLIN)
  /// The event that there is room to send.
  static let writable = Int16(POLLOUT)

  /// Waits until one of the descriptors has one of its events, or an error, or the time is over.
  ///
  /// - Returns: The events of each, in order; all zero when the time was over or a signal came.
  static func wait(for watched: [(descriptor: Int32, events: Int16)], timeout: Duration? = nil) -> [Int16] {
    var entries = watched.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    let count = poll(&entries, nfds_t(entries.count), timeout.map(milliseconds) ?? -1)
    return entries.map { count > 0 ? $0.revents : 0 }
  }

  /// Rounded up, so that a wait never ends early and never spins.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let whole = min(seconds, 1_000_000) * 1000
    return Int32(truncatingIfNeeded: whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Closes a descriptor; a free function, for types whose own `close` hides the system's.
func closeDescriptor(_ descriptor: Int32) {
  _ = close(descriptor)
}
