/// The part of a ``CallState`` that a lock guards: the phase of the call and its open waits. The machine performs no
/// actions itself. It returns the actions, and ``CallState`` performs them after it has released the lock.
struct CallStateMachine: Sendable {
  typealias StopReason = CallState.StopReason
  typealias StopHandler = @Sendable (StopReason) -> Void
  typealias Continuation = UnsafeContinuation<Void, Never>

  /// One open wait of the call.
  /// - A wait that ends at once when the call is stopped has only a continuation.
  /// - A wait for an operation has a continuation and an `onStop` closure, which tells the operation to finish.
  /// - A running closure (``CallState/whileAsking(_:_:)``) has only an `onStop` closure.
  struct Wait: Sendable {
    var continuation: Continuation?
    var onStop: StopHandler?
    var id: UInt32 = 0
    /// The reason why the call was stopped, if the stop ended this wait; otherwise nil.
    var stopReason: StopReason?
    var isArmed = false
    var isNotified = false
  }

  /// The actions that are necessary after a call was stopped. The caller performs them after it has released the lock.
  struct StopEffect: Sendable {
    var changed = false
    var wakeups: [Continuation] = []
    var stopHandlers: [StopHandler] = []
    var timer: TimerToken?
  }

  private enum Phase: Sendable {
    case running
    case stopped(StopReason)
    case settled
    case cancelledAfterSettling
    case claimed(StopReason?)
  }

  private enum Deadline: Sendable {
    case none, wanted, pending, set(TimerToken)
  }

  private var phase = Phase.running
  /// The thread that delivers the outcome to the callbacks; nil before and after the delivery.
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
    case .cancelledAfterSettling: .cancelled
    case .claimed(let reason): reason
    case .running, .settled: nil
    }
  }

  var openWaits: Int { (first == nil ? 0 : 1) + others.count }

  // MARK: - Waits

  /// Adds a wait that has a continuation. Returns the id of the wait; nil if the call was stopped.
  mutating func open(_ wait: Wait) -> UInt32? {
    guard stopReason == nil else { return nil }
    return keep(wait)
  }

  /// Adds a wait that has only an `onStop` closure, even if the call was stopped. Returns the id of the wait, and the
  /// reason if the call was stopped.
  mutating func openStopHandler(_ onStop: @escaping StopHandler) -> (UInt32, StopReason?) {
    (keep(Wait(onStop: onStop, isArmed: true, isNotified: stopReason != nil)), stopReason)
  }

  /// Records that the `register` closure of a wait has returned. From now on, a stop calls the `onStop` closure of the
  /// wait. Returns the reason if the call was already stopped; the caller must then call `onStop`.
  mutating func arm(_ id: UInt32) -> StopReason? {
    let reason = stopReason
    return change(id) { wait in
      wait.isArmed = true
      guard let reason, !wait.isNotified else { return nil }
      wait.isNotified = true
      return reason
    }
  }

  /// Ends a wait because the awaited operation has finished. Returns the continuation to resume; nil if the wait has
  /// already ended. A later stop does not call the `onStop` closure of this wait.
  mutating func resume(_ id: UInt32) -> Continuation? {
    change(id) { wait in
      defer { wait.continuation = nil }
      wait.isNotified = true
      return wait.continuation
    }
  }

  /// Removes a wait. Returns the reason if the wait ended because the call was stopped.
  @discardableResult
  mutating func close(_ id: UInt32) -> StopReason? {
    if first?.id == id {
      defer { first = nil }
      return first?.stopReason
    }
    guard let index = others.firstIndex(where: { $0.id == id }) else { return nil }
    return others.remove(at: index).stopReason
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

  /// Stops the call. Returns the actions that the caller must perform. While the outcome is delivered, a callback can
  /// still cancel the call, but only on the thread that delivers the outcome.
  /// - Parameter thread: The current thread.
  mutating func stop(_ reason: StopReason, on thread: UInt? = nil) -> StopEffect {
    switch phase {
    case .claimed(nil) where reason == .cancelled && deliveringThread != nil && deliveringThread == thread:
      phase = .claimed(.cancelled)
      return StopEffect(changed: true)
    case .running:
      phase = .stopped(reason)
      return stopWaits(reason)
    case .settled where reason == .cancelled:
      phase = .cancelledAfterSettling
      return stopWaits(reason)
    case .settled, .stopped, .cancelledAfterSettling, .claimed:
      return StopEffect()
    }
  }

  private mutating func stopWaits(_ reason: StopReason) -> StopEffect {
    var effect = StopEffect(changed: true, timer: takeTimer())
    func stopWait(_ wait: inout Wait) {
      if let onStop = wait.onStop {
        guard wait.isArmed, !wait.isNotified else { return }
        wait.isNotified = true
        effect.stopHandlers.append(onStop)
      } else if let continuation = wait.continuation {
        wait.continuation = nil
        wait.stopReason = reason
        effect.wakeups.append(continuation)
      }
    }
    if var wait = first {
      stopWait(&wait)
      first = wait
    }
    for index in others.indices { stopWait(&others[index]) }
    return effect
  }

  /// Marks the work of the call as finished. If waits are still open, for example in a task that user code did not
  /// await, they end as if the call were cancelled.
  mutating func settle() -> StopEffect {
    guard case .running = phase else { return StopEffect(timer: takeTimer()) }
    phase = .settled
    return stopWaits(.cancelled)
  }

  mutating func claim(on thread: UInt? = nil) -> StopReason? {
    precondition(!isClaimed, "two parts of the library tried to deliver the outcome of one call")
    let reason = stopReason
    phase = .claimed(reason)
    deliveringThread = thread
    return reason
  }

  /// Ends the time in which a callback can cancel the call. Called before the last callbacks. Cancellations after
  /// `conclude` have no effect.
  mutating func conclude() -> StopReason? {
    deliveringThread = nil
    return stopReason
  }

  // MARK: - The deadline's timer

  /// Whether the caller must set the timer of the deadline. True only for the first wait of a call with a deadline.
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
  mutating func takeTimer() -> TimerToken? {
    defer { deadline = .none }
    if case .set(let token) = deadline { return token }
    return nil
  }
}
