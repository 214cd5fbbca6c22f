/// What a ``CallState`` holds behind its lock: the phase and the open waits. Decides, and performs nothing.
struct CallStateMachine: Sendable {
  typealias StopReason = CallState.StopReason
  typealias Ask = @Sendable (StopReason) -> Void
  typealias Continuation = UnsafeContinuation<Void, Never>

  /// One wait. A *leave* has a continuation alone, an *ask* a question too, user code a question alone.
  struct Wait: Sendable {
    var continuation: Continuation?
    var ask: Ask?
    var id: UInt32 = 0
    var left: StopReason?
    var isArmed = false
    var isAsked = false

    init(continuation: Continuation?, ask: Ask? = nil) {
      self.continuation = continuation
      self.ask = ask
    }
  }

  /// What a stop has to do once the lock is released.
  struct StopEffect: Sendable {
    var changed = false
    var wakeups: [Continuation] = []
    var asks: [Ask] = []
    var timer: TimerToken?
  }

  private enum Phase: Sendable {
    case running
    case stopped(StopReason)
    case settled
    case recalled
    case claimed(StopReason?)
  }

  private enum Deadline: Sendable {
    case none, wanted, pending, set(TimerToken), done
  }

  private var phase = Phase.running
  /// The thread that tells everybody how the call ended, while it does so.
  private var teller: UInt?
  private var deadline: Deadline
  private var lastID: UInt32 = 0
  private var first: Wait?
  private var others: [Wait] = []

  init(hasDeadline: Bool) {
    deadline = hasDeadline ? .wanted : .none
  }

  var isRunning: Bool { if case .running = phase { true } else { false } }

  var isClaimed: Bool { if case .claimed = phase { true } else { false } }

  var stopReason: StopReason? {
    switch phase {
    case .stopped(let reason): reason
    case .recalled: .cancelled
    case .claimed(let reason): reason
    case .running, .settled: nil
    }
  }

  var openWaits: Int { (first == nil ? 0 : 1) + others.count }

  // MARK: - Waits

  /// Opens a wait, or returns nil when the call has been stopped.
  mutating func open(_ wait: Wait) -> UInt32? {
    guard stopReason == nil else { return nil }
    return keep(wait)
  }

  /// Opens a wait that has no continuation; also where the call has been stopped, with the reason.
  mutating func openAsking(_ ask: @escaping Ask) -> (UInt32, StopReason?) {
    var wait = Wait(continuation: nil, ask: ask)
    wait.isArmed = true
    wait.isAsked = stopReason != nil
    return (keep(wait), stopReason)
  }

  /// Marks the registration of an asking wait as done; returns the reason if it must be asked now.
  mutating func arm(_ id: UInt32) -> StopReason? {
    let reason = stopReason
    return change(id) { wait in
      wait.isArmed = true
      guard let reason, !wait.isAsked else { return nil }
      wait.isAsked = true
      return reason
    }
  }

  /// Ends a wait from outside; nil when it has ended already. The other side has let go: it is not asked any more.
  mutating func resume(_ id: UInt32) -> Continuation? {
    change(id) { wait in
      defer { wait.continuation = nil }
      wait.isAsked = true
      return wait.continuation
    }
  }

  /// Takes a wait out; returns the reason if a stop made it leave.
  @discardableResult
  mutating func close(_ id: UInt32) -> StopReason? {
    if first?.id == id {
      defer { first = nil }
      return first?.left
    }
    guard let index = others.firstIndex(where: { $0.id == id }) else { return nil }
    return others.remove(at: index).left
  }

  private mutating func keep(_ wait: Wait) -> UInt32 {
    lastID &+= 1
    var wait = wait
    wait.id = lastID
    if first == nil { first = wait } else { others.append(wait) }
    return lastID
  }

  private mutating func change<Result>(_ id: UInt32, _ body: (inout Wait) -> Result?) -> Result? {
    if var wait = first, wait.id == id {
      defer { first = wait }
      return body(&wait)
    }
    guard let index = others.firstIndex(where: { $0.id == id }) else { return nil }
    return body(&others[index])
  }

  // MARK: - The end

  /// - Parameter thread: The present thread. A cancel by the thread that tells everybody comes from one of the
  ///   callbacks before the end, and no success may follow it. One from another thread comes too late.
  mutating func stop(_ reason: StopReason, on thread: UInt? = nil) -> StopEffect {
    switch phase {
    case .claimed(nil) where reason == .cancelled && teller != nil && teller == thread:
      phase = .claimed(.cancelled)
      return StopEffect(changed: true)
    case .running:
      phase = .stopped(reason)
      return leaveAndAsk(reason)
    case .settled where reason == .cancelled:
      phase = .recalled
      return leaveAndAsk(reason)
    case .settled, .stopped, .recalled, .claimed:
      return StopEffect()
    }
  }

  private mutating func leaveAndAsk(_ reason: StopReason) -> StopEffect {
    var effect = StopEffect(changed: true, timer: takeTimer())
    func visit(_ wait: inout Wait) {
      if let ask = wait.ask {
        guard wait.isArmed, !wait.isAsked else { return }
        wait.isAsked = true
        effect.asks.append(ask)
      } else if let continuation = wait.continuation {
        wait.continuation = nil
        wait.left = reason
        effect.wakeups.append(continuation)
      }
    }
    if var wait = first {
      visit(&wait)
      first = wait
    }
    for index in others.indices { visit(&others[index]) }
    return effect
  }

  /// Ends the work. What still waits was left behind by user code: it is woken or asked, as by a cancel.
  mutating func settle() -> StopEffect {
    guard case .running = phase else { return StopEffect(timer: takeTimer()) }
    phase = .settled
    return leaveAndAsk(.cancelled)
  }

  mutating func claim(on thread: UInt? = nil) -> StopReason? {
    precondition(!isClaimed, "the outcome of a call was claimed twice")
    let reason = stopReason
    phase = .claimed(reason)
    teller = thread
    return reason
  }

  /// Called before the last callbacks: from here on no cancel counts.
  mutating func conclude() -> StopReason? {
    teller = nil
    return stopReason
  }

  // MARK: - The deadline's timer

  /// True once: for the wait that has to set the timer.
  mutating func takeTimerDuty() -> Bool {
    guard case .wanted = deadline, isRunning else { return false }
    deadline = .pending
    return true
  }

  /// Keeps the timer that was set; false when the call ended meanwhile and the timer must go.
  mutating func keepTimer(_ token: TimerToken) -> Bool {
    guard case .pending = deadline else { return false }
    deadline = .set(token)
    return true
  }

  /// There is no deadline any more; returns the timer that goes with it.
  mutating func liftDeadline() -> TimerToken? { takeTimer() }

  private mutating func takeTimer() -> TimerToken? {
    defer { deadline = .done }
    if case .set(let token) = deadline { return token }
    return nil
  }
}
