#if os(Linux)
  /// Runs jobs of tasks on the loop's thread, in the order they come.
  final class CurlExecutor: TaskExecutor {
    private let timers: CurlTimers

    init(timers: CurlTimers) { self.timers = timers }

    func enqueue(_ job: consuming ExecutorJob) {
      timers.loop.push(.run(UnownedJob(job), self))
    }
  }
#endif
