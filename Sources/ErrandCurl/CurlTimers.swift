#if os(Linux)
  import ErrandHTTP

  /// The timers that the loop's thread serves, and the one owner of that thread: it ends when nobody holds these timers
  /// any more and no transfer is left.
  final class CurlTimers: Timers {
    let loop: CurlLoop

    init(loop: CurlLoop) { self.loop = loop }

    deinit { loop.close() }

    var now: MonotonicInstant { .now }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      loop.schedule(at: instant, action)
    }

    func cancel(_ token: TimerToken) { loop.cancel(token) }
  }
#endif
