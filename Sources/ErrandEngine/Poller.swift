#if os(Linux)
  import CErrandEngine
  import Glibc

  /// The system's reports about descriptors, each of them told once when it begins to hold (edge-triggered `epoll`).
  ///
  /// ``wake()`` may be called on any thread, everything else on the loop's.
  final class Poller: @unchecked Sendable {  // the descriptors never change; the reports belong to the loop's thread
    /// What happened to a descriptor.
    struct Report {
      let token: UInt64
      let isReadable: Bool
      let isWritable: Bool
      /// Whether the other end has closed or reset it, or it failed.
      let hasEnded: Bool
    }

    private static let capacity = 256
    /// The token of the waker; no other descriptor has it.
    private static let wakerToken = UInt64.max

    private let poller: Int32
    private let waker: Int32
    private let events = UnsafeMutablePointer<errand_event>.allocate(capacity: capacity)  // freed in deinit

    /// Nil if the system has no room for one.
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

    /// Ends a wait, or the next one if none is under way.
    func wake() { errand_waker_signal(waker) }

    /// Has changes of a descriptor reported, until it is closed. False if the system has no room for it.
    func add(_ descriptor: Int32, token: UInt64) -> Bool { errand_poller_add(poller, descriptor, token) == 0 }

    /// Waits at most so many milliseconds, and hands over each report.
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
