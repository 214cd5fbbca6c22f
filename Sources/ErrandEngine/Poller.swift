#if os(Linux)
  import CErrandEngine
  import Glibc

  /// Reports events of file descriptors with edge-triggered `epoll`: each change is reported once, when it occurs.
  ///
  /// ``wake()`` may be called on any thread. All other functions must be called on the loop's thread.
  final class Poller: @unchecked Sendable {  // the descriptors never change; only the loop's thread uses `events`
    /// An event of a file descriptor.
    struct Report {
      let token: UInt64
      let isReadable: Bool
      let isWritable: Bool
      /// True if the peer closed or reset the connection, or the connection failed.
      let hasEnded: Bool
    }

    private static let capacity = 256
    /// The token of the descriptor that wakes the poller. No other descriptor has this token.
    private static let wakerToken = UInt64.max

    private let poller: Int32
    private let waker: Int32
    private let events = UnsafeMutablePointer<errand_event>.allocate(capacity: capacity)  // freed in deinit

    /// Creates a poller. Returns nil if the system has no resources for a poller.
    init?() {
      poller = errand_poller_make()
      waker = errand_waker_make()
      guard poller >= 0, waker >= 0, errand_poller_add(poller, waker, Self.wakerToken) == 0 else { return nil }
    }

    deinit {
      if poller >= 0 { close(poller) }
      if waker >= 0 { close(waker) }
      events.deallocate()
    }

    /// Ends the current wait. If no wait is in progress, the next wait ends at once.
    func wake() { errand_waker_signal(waker) }

    /// Reports the events of a descriptor until the descriptor is closed. Returns false if the system has no resources
    /// to watch the descriptor.
    func add(_ descriptor: Int32, token: UInt64) -> Bool { errand_poller_add(poller, descriptor, token) == 0 }

    /// Waits for events for at most `milliseconds`, and passes each event to `body`.
    func wait(milliseconds: Int32, _ body: (Report) -> Void) {
      let count = Int(errand_poller_wait(poller, events, Int32(Self.capacity), milliseconds))
      for index in 0..<count where events[index].token != Self.wakerToken {
        let flags = Int(events[index].flags)
        body(
          Report(
            token: events[index].token, isReadable: flags & Int(errand_readable) != 0,
            isWritable: flags & Int(errand_writable) != 0,
            hasEnded: flags & Int(errand_ended) != 0))
      }
    }
  }
#endif
