#if os(Linux)
  import ErrandHTTP

  /// The timers that the loop's thread serves, and the one owner of that thread: it ends when nothing holds these
  /// timers any more and no exchange is left.
  final class EngineTimers: Timers {
    let loop: EngineLoop

    init(loop: EngineLoop) { self.loop = loop }

    deinit { loop.close() }

    var now: MonotonicInstant { .now }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      loop.schedule(at: instant, action)
    }

    func cancel(_ token: TimerToken) { loop.cancel(token) }
  }

  /// Runs jobs of tasks on the loop's thread, in the order they come.
  final class EngineExecutor: TaskExecutor {
    private let timers: EngineTimers

    init(timers: EngineTimers) { self.timers = timers }

    func enqueue(_ job: consuming ExecutorJob) { timers.loop.run(UnownedJob(job), on: self) }
  }
#endif
