#if os(Linux)
  import ErrandHTTP

  /// What other threads tell the loop.
  enum EngineCommand: Sendable {
    /// Begin this exchange.
    case submit(EngineExchange)
    /// End it at once; its caller was stopped.
    case abort(EngineExchange)
    /// Its sink takes bytes again.
    case resumeBody(EngineExchange)
    /// The source of its body may give bytes again.
    case resumeUpload(EngineExchange)
    /// The look-up of a host has ended.
    case resolved(HTTPURL.Origin, NameLookups.Answer)
    /// Run a job of a task that prefers the loop's thread.
    case run(UnownedJob, EngineExecutor)
  }

  /// What the loop's thread shares with others. It decides who has to wake the loop, and performs nothing.
  struct EngineInbox: Sendable {
    /// What the caller has to do once the lock is released.
    enum Duty: Sendable { case nothing, startThread, wake, refuse }

    /// What the loop does next.
    enum Rest: Sendable, Equatable { case none, sleep(milliseconds: Int32), end }

    private enum Phase: Sendable { case unstarted, running, ended }

    /// The longest sleep. The loop looks around once in this time though nothing is due.
    private static let longestSleep = Duration.seconds(3600)

    private var commands: [EngineCommand] = []
    var timers = TimerHeap()
    private var phase = Phase.unstarted
    private var isClosing = false
    /// When the loop wakes up by itself; nil while it is awake.
    private var sleepsUntil: MonotonicInstant?
    /// When another thread looks after the timers, since there is no thread; nil if none does.
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

    /// Lets the loop end once it has nothing left to do.
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

    /// The loop is awake: nothing needs to wake it.
    mutating func wakeUp() { sleepsUntil = nil }

    /// Takes the commands, leaving `room` in their place.
    mutating func take(_ room: inout [EngineCommand]) {
      swap(&commands, &room)
      sleepsUntil = nil
    }

    /// Says what follows when everything is done: more work, a sleep that ends at `latest` at the latest, or the end.
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

    /// Takes back that the thread was started. Timers wait on. The commands are given back, since nothing will perform
    /// them, with the moment at which another thread must look after the timers, unless that is arranged already.
    mutating func abandon() -> (commands: [EngineCommand], standIn: MonotonicInstant?) {
      phase = isClosing ? .ended : .unstarted
      let left = commands
      commands = []
      guard phase == .unstarted, let next = timers.next, standIn.map({ next < $0 }) ?? true else { return (left, nil) }
      standIn = next
      return (left, next)
    }

    /// Takes out the earliest action that is due, if no thread does it.
    mutating func popStranded(_ now: MonotonicInstant) -> TimerHeap.Action? {
      phase == .unstarted ? timers.popDue(now) : nil
    }

    /// Starts the thread again for the timers that are left.
    mutating func endStandIn() -> Duty {
      standIn = nil
      return phase == .unstarted && timers.next != nil ? duty() : .nothing
    }
  }
#endif
