/// The part of a ``CallState`` that a lock guards: the phase and the open waits. The machine returns the actions to
/// perform, and performs none itself.
struct CallStateMachine: Sendable {
  typealias StopReason = CallState.StopReason
  typealias Ask = @Sendable (StopReason) -> Void
  typealias Continuation = UnsafeContinuation<Void, Never>

  /// One open wait of the call.
  /// - A wait that leaves when the call is stopped has only a continuation.
  /// - A wait that asks the other side to finish has a continuation and an `ask` closure.
  /// - A running closure (``CallState/whileAsking(_:_:)``) has only an `ask` closure.
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

  /// The actions that the caller performs after a stop, when the lock is released.
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
  /// The thread that delivers the outcome; nil before and after the delivery.
  private var deliveringThread: UInt?
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

  /// Adds a wait and returns its id; nil if the call was stopped.
  mutating func open(_ wait: Wait) -> UInt32? {
    guard stopReason == nil else { return nil }
    return keep(wait)
  }

  /// Adds a wait that has only an `ask` closure, also if the call was stopped. Returns the id of the wait, and the
  /// reason if the call was stopped.
  mutating func openAsking(_ ask: @escaping Ask) -> (UInt32, StopReason?) {
    var wait = Wait(continuation: nil, ask: ask)
    wait.isArmed = true
    wait.isAsked = stopReason != nil
    return (keep(wait), stopReason)
  }

  /// Records that the `register` closure of a wait with an `ask` closure has returned. Returns the reason if the call
  /// was stopped before and `ask` must be called now.
  mutating func arm(_ id: UInt32) -> StopReason? {
    let reason = stopReason
    return change(id) { wait in
      wait.isArmed = true
      guard let reason, !wait.isAsked else { return nil }
      wait.isAsked = true
      return reason
    }
  }

  /// Ends a wait from the other side, and returns the continuation to resume; nil if the wait has already ended. The
  /// other side has finished, so `ask` is not called any more.
  mutating func resume(_ id: UInt32) -> Continuation? {
    change(id) { wait in
      defer { wait.continuation = nil }
      wait.isAsked = true
      return wait.continuation
    }
  }

  /// Removes a wait. Returns the reason if a stop ended the wait.
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

  // MARK: - Ending the call

  /// - Parameter thread: The current thread. A cancellation by a callback on the thread that delivers the outcome still
  ///   counts: the call then ends as cancelled. A cancellation by another thread is too late.
  mutating func stop(_ reason: StopReason, on thread: UInt? = nil) -> StopEffect {
    switch phase {
    case .claimed(nil) where reason == .cancelled && deliveringThread != nil && deliveringThread == thread:
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

  /// Marks the work as finished. Waits that are still open, for example of a task that user code did not await, are
  /// ended as by a cancellation.
  mutating func settle() -> StopEffect {
    guard case .running = phase else { return StopEffect(timer: takeTimer()) }
    phase = .settled
    return leaveAndAsk(.cancelled)
  }

  mutating func claim(on thread: UInt? = nil) -> StopReason? {
    precondition(!isClaimed, "the outcome of a call was claimed twice")
    let reason = stopReason
    phase = .claimed(reason)
    deliveringThread = thread
    return reason
  }

  /// Called before the last callbacks. Cancellations after `conclude` have no effect.
  mutating func conclude() -> StopReason? {
    deliveringThread = nil
    return stopReason
  }

  // MARK: - The deadline's timer

  /// Returns true to the first wait of a call with a deadline: this wait must set the timer.
  mutating func takeTimerDuty() -> Bool {
    guard case .wanted = deadline, isRunning else { return false }
    deadline = .pending
    return true
  }

  /// Stores the timer of the deadline. Returns false if the call has ended and the caller must cancel the timer.
  mutating func keepTimer(_ token: TimerToken) -> Bool {
    guard case .pending = deadline else { return false }
    deadline = .set(token)
    return true
  }

  /// Removes the deadline. Returns the timer of the deadline, which the caller cancels.
  mutating func liftDeadline() -> TimerToken? { takeTimer() }

  private mutating func takeTimer() -> TimerToken? {
    defer { deadline = .done }
    if case .set(let token) = deadline { return token }
    return nil
  }
}
