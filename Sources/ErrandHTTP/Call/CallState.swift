import ErrandSupport
import Synchronization

/// The state of one call: running, stopped, settled, recalled or claimed. Every wait of the call uses this object.
///
/// A cancellation and the deadline both call ``stop(_:)``, however the call was started. There are two kinds of wait:
/// - A wait that *leaves* (``wait(_:)``, ``sleep(until:)``) returns immediately when the call is stopped.
/// - A wait that *asks* (``wait(asking:_:)``, ``whileAsking(_:_:)``) notifies the other side once when the call is
///   stopped, and returns when the other side has finished.
///
/// | phase | `stop(.cancelled)` | `stop(.expired)` | `settle` | `claim` |
/// |---|---|---|---|---|
/// | running | stopped | stopped | settled | – |
/// | stopped | no change, the first reason counts | no change, the first reason counts | no change | claimed: the reason |
/// | settled | recalled | no effect | – | claimed: the result |
/// | recalled | no effect | no effect | – | claimed: cancelled |
/// | claimed | no effect | no effect | – | – |
///
/// All members may be called from any thread.
public final class CallState: Sendable {
  /// Why a call was stopped before its work ended.
  public enum StopReason: Sendable, Hashable {
    /// The call was cancelled: directly, or with its owner, its tag, its task or all calls.
    case cancelled
    /// The total deadline passed.
    case expired
  }

  /// The error that code gets that waits for a call, if the call is stopped.
  public struct Stopped: Error, Sendable, Hashable {
    /// Why the call was stopped.
    public let reason: StopReason

    /// Makes the error. For transports that are notified of a stop in another way than by a wait.
    public init(reason: StopReason) { self.reason = reason }
  }

  /// The time at which the call ends at the latest; nil if it has no deadline. The deadline does not change, with one
  /// exception: a default deadline is removed from a call that sends a transfer, before the call enters the pipeline.
  public var deadline: MonotonicInstant? { isLifted.load(ordering: .relaxed) ? nil : firstDeadline }
  /// The clock and the timers for the waits of this call.
  public let timers: any Timers

  /// The state whose priority this state shares; nil if this state has its own priority.
  let leader: CallState?
  let urgency: Locked<CallUrgency>
  private let firstDeadline: MonotonicInstant?
  private let isLifted = Atomic(false)
  private let storage: Locked<CallStateMachine>

  /// Makes the state of a call that starts now. A timer for the deadline is set at the first wait.
  public convenience init(deadline: MonotonicInstant? = nil, timers: any Timers = SharedTimers.shared) {
    self.init(deadline: deadline, timers: timers, priority: .normal)
  }

  /// Makes the state of a call with a priority.
  package convenience init(deadline: MonotonicInstant?, timers: any Timers, priority: CallPriority) {
    self.init(deadline, timers, priority, leader: nil)
  }

  init(_ deadline: MonotonicInstant?, _ timers: any Timers, _ priority: CallPriority, leader: CallState?) {
    firstDeadline = deadline
    self.timers = timers
    self.leader = leader
    urgency = Locked(CallUrgency(priority: priority))
    storage = Locked(CallStateMachine(hasDeadline: deadline != nil))
  }

  /// The time left until the deadline, never negative; nil if there is no deadline.
  public var timeLeft: Duration? {
    deadline.map { max(.zero, timers.now.duration(to: $0)) }
  }

  package var isPastDeadline: Bool { deadline.map { $0 <= timers.now } ?? false }

  /// Whether the call was stopped, or was cancelled after its work had finished.
  public var isStopped: Bool { storage.withLock { $0.stopReason != nil } }

  /// Whether the work of the call is still running.
  public var isRunning: Bool { storage.withLock { $0.isRunning } }

  /// Stops the call. Returns true if the stop changed how the call will end.
  @discardableResult
  public func stop(_ reason: StopReason) -> Bool {
    let thread = currentThread
    let effect = storage.withLock { $0.stop(reason, on: thread) }
    perform(effect, reason)
    return effect.changed
  }

  /// Throws if the call was stopped.
  public func check() throws(Stopped) {
    if let reason = storage.withLock({ $0.stopReason }) { throw Stopped(reason: reason) }
  }

  /// Waits until the ``Wakeup`` passed to `register` is resumed. If the call is stopped, the wait throws immediately.
  ///
  /// `register` runs once, before the caller is suspended, and may resume the ``Wakeup`` itself. If the wait throws,
  /// the caller removes what `register` has registered.
  public func wait(_ register: (Wakeup) -> Void) async throws(Stopped) {
    startTimer()
    var opened: UInt32?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      opened = storage.withLock { $0.open(.init(continuation: continuation)) }
      if let opened { register(Wakeup(state: self, id: opened)) } else { continuation.resume() }
    }
    try closed(opened)
  }

  /// Waits until the ``Wakeup`` passed to `register` is resumed. If the call is stopped, `ask` is called once, after
  /// `register` has returned. The wait then continues until the other side has finished and resumes the ``Wakeup``.
  public func wait(
    asking ask: @escaping @Sendable (StopReason) -> Void, _ register: (Wakeup) -> Void
  ) async throws(Stopped) {
    startTimer()
    var opened: UInt32?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      opened = storage.withLock { $0.open(.init(continuation: continuation, ask: ask)) }
      guard let opened else { return continuation.resume() }
      register(Wakeup(state: self, id: opened))
      if let reason = storage.withLock({ $0.arm(opened) }) { ask(reason) }
    }
    try closed(opened)
    try check()
  }

  /// Runs `body` to its end. If the call is stopped meanwhile, `ask` is called once with the reason.
  public func whileAsking<Value, Failure: Error>(
    _ ask: @escaping @Sendable (StopReason) -> Void, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    startTimer()
    let (id, stopped) = storage.withLock { $0.openAsking(ask) }
    if let stopped { ask(stopped) }
    defer { storage.withLock { $0.close(id) } }
    return try await body()
  }

  /// Waits until `instant` on the call's clock. If the call is stopped, the wait throws immediately.
  public func sleep(until instant: MonotonicInstant) async throws(Stopped) {
    var token: TimerToken?
    do throws(Stopped) {
      try await wait { wakeup in token = timers.schedule(at: instant) { wakeup.resume() } }
    } catch {
      if let token { timers.cancel(token) }
      throw error
    }
  }

  /// Marks the work of the call as finished. From now on the deadline has no effect, and a cancellation discards the
  /// result. Waits that are still open, for example in a task that user code did not await, are ended as by a
  /// cancellation.
  package func settle() {
    leader?.drop(self)
    perform(storage.withLock { $0.settle() }, .cancelled)
  }

  /// Stops the call if its deadline has passed, even if the timer of the deadline has not fired yet.
  package func expire(at now: MonotonicInstant) {
    if let deadline, deadline <= now { stop(.expired) }
  }

  /// Removes the deadline. Has no effect if the deadline has already stopped the call.
  package func liftDeadline() {
    isLifted.store(true, ordering: .relaxed)
    if let timer = storage.withLock({ $0.liftDeadline() }) { timers.cancel(timer) }
  }

  /// Claims the outcome: returns the reason why the call ends early, or nil to deliver the result. Called on the
  /// callback executor, in the same job as the callbacks. Until ``conclude()``, a cancellation by a callback on the
  /// same thread still counts.
  package func claim() -> StopReason? {
    let thread = currentThread
    return storage.withLock { $0.claim(on: thread) }
  }

  /// Ends the time in which a callback can cancel the call. Returns the reason why the call ends early, or nil to
  /// deliver the result. Called before the last callbacks.
  package func conclude() -> StopReason? { storage.withLock { $0.conclude() } }

  /// Whether the outcome was claimed: the outcome is being delivered or has been delivered.
  package var isClaimed: Bool { storage.withLock { $0.isClaimed } }

  /// The reason why the call ends or ended early; nil if the call was not stopped.
  package var endsBy: StopReason? { storage.withLock { $0.stopReason } }

  /// The reason with which child calls are stopped: that of this call, or ``StopReason/cancelled`` if this call was not
  /// stopped.
  package var reasonToLeave: StopReason { endsBy ?? .cancelled }

  /// The number of open waits; it is zero after the end of the call.
  package var openWaits: Int { storage.withLock { $0.openWaits } }

  fileprivate func resume(_ id: UInt32) -> Bool {
    guard let continuation = storage.withLock({ $0.resume(id) }) else { return false }
    continuation.resume()
    return true
  }

  private func closed(_ id: UInt32?) throws(Stopped) {
    guard let id else { return try check() }
    if let reason = storage.withLock({ $0.close(id) }) { throw Stopped(reason: reason) }
  }

  private func perform(_ effect: CallStateMachine.StopEffect, _ reason: StopReason) {
    // Call the `ask` closures first: a woken waiter could stop the same work with another reason.
    for ask in effect.asks { ask(reason) }
    for wakeup in effect.wakeups { wakeup.resume() }
    if let timer = effect.timer { timers.cancel(timer) }
  }

  private func startTimer() {
    guard let deadline, storage.withLock({ $0.takeTimerDuty() }) else { return }
    // Stop immediately if the deadline has passed: a timer would fire only after the first step of the call.
    if deadline <= timers.now {
      stop(.expired)
      return
    }
    let token = timers.schedule(at: deadline) { [weak self] in self?.stop(.expired) }
    if storage.withLock({ $0.keepTimer(token) }) { return }
    timers.cancel(token)
  }
}

/// Ends one wait of a ``CallState``. It is passed to the side that the call waits for.
public struct Wakeup: Sendable {
  fileprivate let state: CallState
  fileprivate let id: UInt32

  /// Ends the wait. Returns false if the wait has already ended; the caller must then give what was meant for this
  /// waiter to another one.
  @discardableResult
  public func resume() -> Bool { state.resume(id) }
}

/// The priority of a call, the observer of its changes, and the states that follow it.
struct CallUrgency: Sendable {
  var priority: CallPriority
  var tell: (@Sendable (CallPriority) -> Void)?
  var followers: [CallState] = []
}
