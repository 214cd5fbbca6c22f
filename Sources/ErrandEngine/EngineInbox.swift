#if os(Linux)
  import ErrandHTTP

  /// A command that another thread sends to the event loop.
  enum EngineCommand: Sendable {
    /// Begin the exchange.
    case submit(EngineExchange)
    /// End the exchange at once because its caller was stopped.
    case abort(EngineExchange)
    /// Continue the response body because its sink accepts bytes again.
    case resumeBody(EngineExchange)
    /// Continue the request body because its source may have bytes again.
    case resumeUpload(EngineExchange)
    /// Continue the exchanges that wait for the lookup of a host.
    case resolved(HTTPURL.Origin, NameLookups.Answer)
    /// Run a job of a task that prefers the loop's thread.
    case run(UnownedJob, EngineExecutor)
  }

  /// The state that the event loop's thread shares with other threads. The inbox decides which thread must wake the
  /// loop. It performs no I/O.
  struct EngineInbox: Sendable {
    /// The action that a thread must take after it has changed the inbox and released the lock.
    enum WakeDecision: Sendable { case nothing, startThread, wake, refuse }

    /// The next action of the event loop: more work without a sleep (`none`), a sleep, or the end of the loop.
    enum SleepDecision: Sendable, Equatable { case none, sleep(milliseconds: Int32), end }

    private enum Phase: Sendable { case unstarted, running, ended }

    /// The longest sleep of the loop's thread.
    private static let longestSleep = Duration.seconds(3600)

    private var commands: [EngineCommand] = []
    var timers = TimerHeap()
    private var phase = Phase.unstarted
    private var isClosing = false
    /// The time at which the loop wakes without a signal. Nil while the loop is awake.
    private var sleepsUntil: MonotonicInstant?
    /// The time at which another thread runs the due timers because the loop's thread could not be started. Nil if no
    /// other thread is scheduled to run the timers.
    private var fallbackTime: MonotonicInstant?

    // MARK: - Any thread

    mutating func push(_ command: EngineCommand) -> WakeDecision {
      guard phase != .ended else { return .refuse }
      commands.append(command)
      return decideWake()
    }

    mutating func schedule(
      at instant: MonotonicInstant, _ action: @escaping TimerHeap.Action
    ) -> (TimerToken, WakeDecision) {
      let token = timers.insert(at: instant, action)
      if let sleepsUntil, sleepsUntil <= instant { return (token, .nothing) }
      return (token, decideWake())
    }

    /// Lets the event loop's thread end when no exchange is left.
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

    // MARK: - The loop

    /// Records that the loop is awake, so no thread needs to wake it.
    mutating func wakeUp() { sleepsUntil = nil }

    /// Moves the commands of the inbox into `taken`, which must be empty.
    mutating func take(_ taken: inout [EngineCommand]) {
      swap(&commands, &taken)
      sleepsUntil = nil
    }

    /// Decides what the event loop does after its work: more work, a sleep until `latest` or earlier, or the end of the
    /// loop.
    mutating func decideSleep(now: MonotonicInstant, latest: MonotonicInstant?, isBusy: Bool) -> SleepDecision {
      guard commands.isEmpty else { return .none }
      if isClosing, !isBusy {
        phase = .ended
        return .end
      }
      var end = now.advanced(by: Self.longestSleep)
      if let latest { end = min(end, latest) }
      if let next = timers.next { end = min(end, next) }
      guard end > now else { return .none }
      sleepsUntil = end
      return .sleep(milliseconds: now.duration(to: end).clampedMilliseconds)
    }

    // MARK: - Without a thread

    /// Handles a failed start of the loop's thread. The timers stay scheduled. Returns the commands, which the caller
    /// must refuse. Also returns the time at which another thread must run the due timers. The time is nil if no timer
    /// is left, or if an earlier time is already scheduled.
    mutating func abandon() -> (commands: [EngineCommand], fallbackTime: MonotonicInstant?) {
      phase = isClosing ? .ended : .unstarted
      let left = commands
      commands = []
      guard phase == .unstarted, let next = timers.next, fallbackTime.map({ next < $0 }) ?? true else {
        return (left, nil)
      }
      fallbackTime = next
      return (left, next)
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
  }
#endif
