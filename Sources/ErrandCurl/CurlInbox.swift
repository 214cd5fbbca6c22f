#if os(Linux)
  import ErrandHTTP

  /// Commands from other threads for the loop.
  enum CurlCommand: Sendable {
    /// Start this transfer.
    case submit(CurlTransfer)
    /// End the transfer at once because its call was stopped.
    case abort(CurlTransfer)
    /// The sink of the transfer accepts bytes again.
    case resume(CurlTransfer)
    /// The source of the request body may have bytes again.
    case resumeUpload(CurlTransfer)
    /// Run the job of a task that prefers the loop's thread.
    case run(UnownedJob, CurlExecutor)
  }

  /// All state that the loop's thread shares with other threads. It only decides which thread must wake the loop, and
  /// does no I/O.
  struct CurlInbox: Sendable {
    /// What the thread that changed the inbox must do after the lock is released.
    enum Duty: Sendable { case nothing, startThread, wake, refuse }

    /// What the loop does next.
    enum Rest: Sendable { case none, sleep(milliseconds: Int32), end }

    private enum Phase: Sendable { case unstarted, running, ended }

    var commands: [CurlCommand] = []
    var timers = TimerHeap()
    private var phase = Phase.unstarted
    private var isClosing = false
    /// The moment until which the loop sleeps; nil while it is awake.
    private var sleepsUntil: MonotonicInstant?
    /// The moment at which the shared timers take over, because the loop has no thread; nil if this is not arranged.
    private var standIn: MonotonicInstant?

    mutating func push(_ command: CurlCommand) -> Duty {
      guard phase != .ended else { return .refuse }
      commands.append(command)
      return duty()
    }

    mutating func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> (TimerToken, Duty)
    {
      let token = timers.insert(at: instant, action)
      if let sleepsUntil, sleepsUntil <= instant { return (token, .nothing) }
      return (token, duty())
    }

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

    // MARK: - Loop thread

    /// Takes the commands and leaves an empty array in their place.
    mutating func take(_ taken: inout [CurlCommand]) {
      swap(&commands, &taken)
      sleepsUntil = nil
    }

    /// Reverts the state after the thread could not be started. Timers remain. Returns the commands, which must be
    /// rejected, and the moment at which the shared timers must take over, unless that is already arranged.
    mutating func abandon() -> ([CurlCommand], standIn: MonotonicInstant?) {
      phase = isClosing ? .ended : .unstarted
      defer { commands = [] }
      guard phase == .unstarted, let next = timers.next, standIn.map({ next < $0 }) ?? true else {
        return (commands, nil)
      }
      standIn = next
      return (commands, next)
    }

    /// Takes out the earliest action that is due if the loop has no thread.
    mutating func popStranded(_ now: MonotonicInstant) -> TimerHeap.Action? {
      phase == .unstarted ? timers.popDue(now) : nil
    }

    /// Starts the thread again for the remaining timers.
    mutating func endStandIn() -> Duty {
      standIn = nil
      return phase == .unstarted && timers.next != nil ? duty() : .nothing
    }

    /// Decides what follows when all work is done: more work, a sleep until at most `latest`, or the end.
    mutating func rest(now: MonotonicInstant, latest: MonotonicInstant?, running: Int) -> Rest {
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
