#if os(Linux)
  import ErrandHTTP

  /// A command that another thread sends to the loop.
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

  /// The state that the loop's thread shares with other threads. It decides which thread must wake the loop. It
  /// performs no I/O.
  struct EngineInbox: Sendable {
    /// What the caller must do after it has released the lock.
    enum Duty: Sendable { case nothing, startThread, wake, refuse }

    /// What the loop does next.
    enum Rest: Sendable, Equatable { case none, sleep(milliseconds: Int32), end }

    private enum Phase: Sendable { case unstarted, running, ended }

    /// The longest sleep of the loop's thread.
    private static let longestSleep = Duration.seconds(3600)

    private var commands: [EngineCommand] = []
    var timers = TimerHeap()
    private var phase = Phase.unstarted
    private var isClosing = false
    /// The time at which the loop wakes without a signal. Nil while the loop is awake.
    private var sleepsUntil: MonotonicInstant?
    /// The time at which another thread runs the due timers because the loop's thread could not be started. Nil if this
    /// is not scheduled.
    private var standIn: MonotonicInstant?

    // MARK: - Any thread

    mutating func push(_ command: EngineCommand) -> Duty {
      guard phase != .ended else { return .refuse }
      commands.append(command)
      return duty()
    }

    mutating func schedule(
      at instant: MonotonicInstant, _ action: @escaping TimerHeap.Action
    ) -> (TimerToken, Duty) {
      let token = timers.insert(at: instant, action)
      if let sleepsUntil, sleepsUntil <= instant { return (token, .nothing) }
      return (token, duty())
    }

    /// Lets the loop end when no exchange is left.
    mutating func close() -> Duty {
      isClosing = true
      guard phase == .running else {
        phase = .ended
        return .nothing
      }
      return duty()
    }

    private mutating func duty() -> Duty {
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

    /// Moves the commands into `room`, which must be empty.
    mutating func take(_ room: inout [EngineCommand]) {
      swap(&commands, &room)
      sleepsUntil = nil
    }

    /// Decides what the loop does after its work: more work, a sleep that ends at `latest` or earlier, or the end.
    mutating func rest(now: MonotonicInstant, latest: MonotonicInstant?, isBusy: Bool) -> Rest {
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

    /// Handles a failed start of the thread. The timers stay scheduled. Returns the commands, which the caller must
    /// refuse. Also returns the time at which another thread must run the due timers; nil if no such time must be
    /// scheduled.
    mutating func abandon() -> (commands: [EngineCommand], standIn: MonotonicInstant?) {
      phase = isClosing ? .ended : .unstarted
      let left = commands
      commands = []
      guard phase == .unstarted, let next = timers.next, standIn.map({ next < $0 }) ?? true else { return (left, nil) }
      standIn = next
      return (left, next)
    }

    /// Removes and returns the earliest due timer action. Nil if the loop's thread runs, because that thread runs its
    /// timers itself.
    mutating func popStranded(_ now: MonotonicInstant) -> TimerHeap.Action? {
      phase == .unstarted ? timers.popDue(now) : nil
    }

    /// Tries to start the thread again if timers are left.
    mutating func endStandIn() -> Duty {
      standIn = nil
      return phase == .unstarted && timers.next != nil ? duty() : .nothing
    }
  }
#endif
