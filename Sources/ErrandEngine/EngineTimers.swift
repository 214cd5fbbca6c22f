#if os(Linux)
  import ErrandHTTP

  /// Timers that run on the thread of the event loop. This object owns the thread: the thread ends when the object is
  /// released and no exchange is left.
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

  /// An executor that runs jobs of tasks on the loop's thread, in the order in which they were added.
  final class EngineExecutor: TaskExecutor {
    private let timers: EngineTimers

    init(timers: EngineTimers) { self.timers = timers }

    func enqueue(_ job: consuming ExecutorJob) { timers.loop.run(UnownedJob(job), on: self) }
  }
#endif
