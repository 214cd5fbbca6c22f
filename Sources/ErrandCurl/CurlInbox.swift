#if os(Linux)
  import ErrandHTTP

  /// What other threads tell the loop.
  enum CurlCommand: Sendable {
    /// Begin this transfer.
    case submit(CurlTransfer)
    /// End it at once; its caller was stopped.
    case abort(CurlTransfer)
    /// Its sink takes bytes again.
    case resume(CurlTransfer)
    /// The source of its body may give bytes again.
    case resumeUpload(CurlTransfer)
    /// Run a job of a task that prefers the loop's thread.
    case run(UnownedJob, CurlExecutor)
  }

  /// All that the loop's thread shares with others. Decides who has to wake the loop, and performs nothing.
  struct CurlInbox: Sendable {
    /// What the one who changed the inbox has to do once the lock is released.
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
    /// When somebody else looks after the timers, as there is no thread; nil where nobody does.
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

    // MARK: - The loop's side

    /// Takes the commands, leaving an empty array in their place.
    mutating func take(_ taken: inout [CurlCommand]) {
      swap(&commands, &taken)
      sleepsUntil = nil
    }

    /// Takes back that the thread was started. Timers wait on; the commands, which nobody will do now, are given back,
    /// with the moment at which somebody else must look after the timers, unless that is arranged already.
    mutating func abandon() -> ([CurlCommand], standIn: MonotonicInstant?) {
      phase = isClosing ? .ended : .unstarted
      defer { commands = [] }
      guard phase == .unstarted, let next = timers.next, standIn.map({ next < $0 }) ?? true else {
        return (commands, nil)
      }
      standIn = next
      return (commands, next)
    }

    /// Takes out the earliest action that is due, where no thread does it.
    mutating func popStranded(_ now: MonotonicInstant) -> TimerHeap.Action? {
      phase == .unstarted ? timers.popDue(now) : nil
    }

    /// Starts the thread again for the timers that are left.
    mutating func endStandIn() -> Duty {
      standIn = nil
      return phase == .unstarted && timers.next != nil ? duty() : .nothing
    }

    /// Says what follows when all has been done: more work, a sleep that ends at `latest` at the latest, or the end.
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
