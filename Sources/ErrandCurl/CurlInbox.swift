#if os(Linux)
  import ErrandHTTP

  /// A command that another thread sends to the event loop.
  enum CurlCommand: Sendable {
    /// Start the transfer.
    case submit(CurlTransfer)
    /// End the transfer at once because its call was stopped.
    case abort(CurlTransfer)
    /// Continue the response body because its sink accepts bytes again.
    case resume(CurlTransfer)
    /// Continue the request body because its source may have bytes again.
    case resumeUpload(CurlTransfer)
    /// Run the job of a task that prefers the loop's thread.
    case run(UnownedJob, CurlExecutor)
  }

  /// The state that the event loop's thread shares with other threads. The inbox only decides which thread must wake
  /// the loop. It performs no I/O.
  struct CurlInbox: Sendable {
    /// The action that a thread must take after it has changed the inbox and released the lock.
    enum WakeDecision: Sendable { case nothing, startThread, wake, refuse }

    /// The next action of the event loop: more work without a sleep (`none`), a sleep, or the end of the loop.
    enum SleepDecision: Sendable { case none, sleep(milliseconds: Int32), end }

    private enum Phase: Sendable { case unstarted, running, ended }

    var commands: [CurlCommand] = []
    var timers = TimerHeap()
    private var phase = Phase.unstarted
    private var isClosing = false
    /// The time until which the loop sleeps. Nil while the loop is awake.
    private var sleepsUntil: MonotonicInstant?
    /// The time at which another thread runs the due timers, because the loop's thread could not be started. Nil if no
    /// such time is scheduled.
    private var fallbackTime: MonotonicInstant?

    mutating func push(_ command: CurlCommand) -> WakeDecision {
      guard phase != .ended else { return .refuse }
      commands.append(command)
      return decideWake()
    }

    mutating func schedule(
      at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void
    ) -> (TimerToken, WakeDecision) {
      let token = timers.insert(at: instant, action)
      if let sleepsUntil, sleepsUntil <= instant { return (token, .nothing) }
      return (token, decideWake())
    }

    mutating func close() -> WakeDecision {
      isClosing = true
      guard phase == .running else {
        phase = .ended
        return .nothing
      }
      return decideWake()
    }

    private mutating func decideWake() -> WakeDecision {
      switch phase {
      case .unstarted:
        phase = .running
        return .startThread
      case .running where sleepsUntil != nil:
        sleepsUntil = nil
        return .wake
      case .running, .ended: return .nothing
      }
    }

    // MARK: - Loop thread

    /// Moves the commands of the inbox into `taken`, which must be empty.
    mutating func take(_ taken: inout [CurlCommand]) {
      swap(&commands, &taken)
      sleepsUntil = nil
    }

    /// Handles a failed start of the loop's thread. The timers stay scheduled. Returns the commands, which the caller
    /// must reject. Also returns the time at which another thread must run the due timers. The time is nil if no timer
    /// is left, or if an earlier time is already scheduled.
    mutating func abandon() -> ([CurlCommand], fallbackTime: MonotonicInstant?) {
      phase = isClosing ? .ended : .unstarted
      defer { commands = [] }
      guard phase == .unstarted, let next = timers.next, fallbackTime.map({ next < $0 }) ?? true else {
        return (commands, nil)
      }
      fallbackTime = next
      return (commands, next)
    }

    /// Removes and returns the earliest due timer action. Returns nil while the loop's thread runs, because that thread
    /// runs its timers itself.
    mutating func popFallbackTimer(_ now: MonotonicInstant) -> TimerHeap.Action? {
      phase == .unstarted ? timers.popDue(now) : nil
    }

    /// Records that another thread has run the due timers. If timers are left, the result asks the caller to start the
    /// loop's thread again.
    mutating func endFallback() -> WakeDecision {
      fallbackTime = nil
      return phase == .unstarted && timers.next != nil ? decideWake() : .nothing
    }

    /// Decides what the event loop does after its work: more work, a sleep until `latest` or earlier, or the end of the
    /// loop.
    mutating func decideSleep(now: MonotonicInstant, latest: MonotonicInstant?, running: Int) -> SleepDecision {
      guard commands.isEmpty else { return .none }
      if isClosing, running == 0 {
        phase = .ended
        return .end
      }
      var end = now.advanced(by: .seconds(3600))
      if let latest { end = min(end, latest) }
      if let next = timers.next { end = min(end, next) }
      guard end > now else { return .none }
      sleepsUntil = end
      return .sleep(milliseconds: now.duration(to: end).clampedMilliseconds)
    }
  }
#endif
