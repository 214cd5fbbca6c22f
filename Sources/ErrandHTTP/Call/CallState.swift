import ErrandSupport
import Synchronization

/// The state of one call: running, stopped, settled, cancelled after settling, or claimed. Every wait of the call uses
/// this object.
///
/// The work of a *settled* call has finished. The outcome of a *claimed* call is being delivered to the caller or has
/// been delivered.
///
/// A cancellation and the deadline both call ``stop(_:)``, however the call was started. There are two kinds of wait:
/// - A wait that *leaves* (``wait(_:)``, ``sleep(until:)``) returns immediately when the call is stopped.
/// - A wait that *asks* (``wait(asking:_:)``, ``whileAsking(_:_:)``) waits for an operation, such as a transfer. When
///   the call is stopped, the wait notifies the operation once, and returns when the operation has finished.
///
/// | phase | `stop(.cancelled)` | `stop(.expired)` | `settle` | `claim` |
/// |---|---|---|---|---|
/// | running | stopped | stopped | settled | – |
/// | stopped | no change, the first reason counts | no change, the first reason counts | no change | claimed: the reason |
/// | settled | cancelled after settling | no effect | – | claimed: the result |
/// | cancelled after settling | no effect | no effect | – | claimed: cancelled |
/// | claimed | no effect | no effect | – | – |
///
/// A dash marks a method that is not called in this phase.
///
/// All members may be called from any thread.
public final class CallState: Sendable {
  /// The reason why a call was stopped early.
  public enum StopReason: Sendable, Hashable {
    /// The call was stopped because it was cancelled, either alone or with all calls of its owner, its tag, its task or
    /// its client.
    case cancelled
    /// The call was stopped because the deadline for the whole call passed.
    case expired
  }

  /// The error that every wait of the call throws when the call is stopped.
  public struct Stopped: Error, Sendable, Hashable {
    /// The reason why the call was stopped.
    public let reason: StopReason

    /// Makes the error. A transport needs this initializer if it does not use the waits of ``CallState`` and learns of
    /// the stop by other means.
    public init(reason: StopReason) { self.reason = reason }
  }

  /// The time at which the call ends at the latest; nil if the call has no deadline. If a call sends a streamed body or
  /// a file, a default deadline is removed before the call enters the pipeline. Any other deadline does not change.
  public var deadline: MonotonicInstant? { isDeadlineRemoved.load(ordering: .relaxed) ? nil : firstDeadline }
  /// The clock and the timers for the waits of this call.
  public let timers: any Timers

  /// The state of the leader: the call inside which this exchange runs. This state has the priority of the leader. Nil
  /// if the state belongs to a call of its own.
  let leader: CallState?
  let priorityState: Locked<PriorityState>
  private let firstDeadline: MonotonicInstant?
  private let isDeadlineRemoved = Atomic(false)
  private let storage: Locked<CallStateMachine>

  /// Makes the state of a call that starts now. A timer for the deadline is set at the first wait.
  public convenience init(deadline: MonotonicInstant? = nil, timers: any Timers = SharedTimers.shared) {
    self.init(deadline: deadline, timers: timers, priority: .normal)
  }

  package convenience init(deadline: MonotonicInstant?, timers: any Timers, priority: CallPriority) {
    self.init(deadline, timers, priority, leader: nil)
  }

  init(_ deadline: MonotonicInstant?, _ timers: any Timers, _ priority: CallPriority, leader: CallState?) {
    firstDeadline = deadline
    self.timers = timers
    self.leader = leader
    priorityState = Locked(PriorityState(priority: priority))
    storage = Locked(CallStateMachine(hasDeadline: deadline != nil))
  }

  /// The time left until the deadline, never negative; nil if there is no deadline.
  public var timeLeft: Duration? {
    deadline.map { max(.zero, timers.now.duration(to: $0)) }
  }

  package var isPastDeadline: Bool { deadline.map { $0 <= timers.now } ?? false }

  /// Whether the call was stopped, or was cancelled after its work had finished.
  public var isStopped: Bool { storage.withLock { $0.stopReason != nil } }

  /// Whether the call is running: its work has not finished, and the call was not stopped.
  public var isRunning: Bool { storage.withLock { $0.isRunning } }

  /// Stops the call. Returns true if this stop changed the way in which the call ends.
  @discardableResult
  public func stop(_ reason: StopReason) -> Bool {
    let thread = currentThread
    let effect = storage.withLock { $0.stop(reason, on: thread) }
    perform(effect, reason)
    return effect.changed
  }

  /// Throws ``Stopped`` if the call was stopped.
  public func check() throws(Stopped) {
    if let reason = storage.withLock({ $0.stopReason }) { throw Stopped(reason: reason) }
  }

  /// Passes a ``Wakeup`` to `register`, and waits until the ``Wakeup`` is resumed. If the call is stopped, the wait
  /// throws immediately.
  ///
  /// `register` runs once, before the caller is suspended, and may resume the ``Wakeup`` itself. If the wait throws,
  /// the caller must undo what `register` did.
  public func wait(_ register: (Wakeup) -> Void) async throws(Stopped) {
    startTimer()
    var opened: UInt32?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      opened = storage.withLock { $0.open(.init(continuation: continuation)) }
      if let opened { register(Wakeup(state: self, id: opened)) } else { continuation.resume() }
    }
    try closed(opened)
  }

  /// Passes a ``Wakeup`` to `register`, and waits until an operation, such as a transfer, resumes the ``Wakeup``.
  ///
  /// If the call is stopped, `onStop` is called once, after `register` has returned, and tells the operation to end
  /// early. The wait then continues until the operation has finished and resumes the ``Wakeup``.
  public func wait(
    asking onStop: @escaping @Sendable (StopReason) -> Void, _ register: (Wakeup) -> Void
  ) async throws(Stopped) {
    startTimer()
    var opened: UInt32?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      opened = storage.withLock { $0.open(.init(continuation: continuation, onStop: onStop)) }
      guard let opened else { return continuation.resume() }
      register(Wakeup(state: self, id: opened))
      if let reason = storage.withLock({ $0.arm(opened) }) { onStop(reason) }
    }
    try closed(opened)
    try check()
  }

  /// Runs `body` to its end. If the call is stopped while `body` runs, `onStop` is called once and tells the work in
  /// `body` to end early.
  public func whileAsking<Value, Failure: Error>(
    _ onStop: @escaping @Sendable (StopReason) -> Void, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    startTimer()
    let (id, stopped) = storage.withLock { $0.openStopHandler(onStop) }
    if let stopped { onStop(stopped) }
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

  /// Marks the work of the call as finished. After `settle`, the deadline has no effect, and a cancellation discards
  /// the result. If waits are still open, for example in a task that user code did not await, they end as if the call
  /// were cancelled.
  package func settle() {
    leader?.drop(self)
    perform(storage.withLock { $0.settle() }, .cancelled)
  }

  /// Stops the call if its deadline has passed, even if the timer of the deadline has not fired yet.
  package func expire(at now: MonotonicInstant) {
    if let deadline, deadline <= now { stop(.expired) }
  }

  /// Removes the deadline. Has no effect if the deadline has already stopped the call.
  package func removeDeadline() {
    isDeadlineRemoved.store(true, ordering: .relaxed)
    if let timer = storage.withLock({ $0.takeTimer() }) { timers.cancel(timer) }
  }

  /// Marks the outcome of the call as claimed: its delivery begins. Returns the reason why the call ends early, or nil
  /// if the result is to be delivered. Called on the callback executor, in the same job as the callbacks. A callback on
  /// the same thread can still cancel the call until ``conclude()``.
  package func claim() -> StopReason? {
    let thread = currentThread
    return storage.withLock { $0.claim(on: thread) }
  }

  /// Ends the time in which a callback can still cancel the call. Called before the last callbacks of the call. Returns
  /// the reason why the call ends early, or nil if the result is to be delivered.
  package func conclude() -> StopReason? { storage.withLock { $0.conclude() } }

  /// Whether the outcome was claimed, which means that it is being delivered or has been delivered.
  package var isClaimed: Bool { storage.withLock { $0.isClaimed } }

  /// The reason why the call ends or ended early; nil if the call was not stopped.
  package var endsBy: StopReason? { storage.withLock { $0.stopReason } }

  /// The reason with which this call stops its child calls: the reason why this call was stopped, or
  /// ``StopReason/cancelled`` if this call was not stopped.
  package var stopReasonForChildren: StopReason { endsBy ?? .cancelled }

  /// The number of waits of this call that have not ended; zero after the end of the call.
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
    // Call the `onStop` closures first, with the reason of this stop. Otherwise a task that is resumed here could
    // cancel the same operation earlier and with another reason.
    for stopHandler in effect.stopHandlers { stopHandler(reason) }
    for wakeup in effect.wakeups { wakeup.resume() }
    if let timer = effect.timer { timers.cancel(timer) }
  }

  private func startTimer() {
    guard let deadline, storage.withLock({ $0.takeTimerDuty() }) else { return }
    // Stop the call now if its deadline has already passed. A timer would fire only after the call has begun its work.
    if deadline <= timers.now {
      stop(.expired)
      return
    }
    let token = timers.schedule(at: deadline) { [weak self] in self?.stop(.expired) }
    if storage.withLock({ $0.keepTimer(token) }) { return }
    timers.cancel(token)
  }
}

/// Ends one wait of a ``CallState``. Each wait passes a `Wakeup` to its `register` closure. The operation that is
/// awaited keeps the `Wakeup` and calls ``resume()``.
public struct Wakeup: Sendable {
  fileprivate let state: CallState
  fileprivate let id: UInt32

  /// Ends the wait. Returns false if the wait has already ended. If the wait was for a resource, such as a place in a
  /// queue, the caller must then give the resource to another waiter.
  @discardableResult
  public func resume() -> Bool { state.resume(id) }
}

/// The priority of a call, the observer of priority changes, and the states of exchanges that share the priority.
struct PriorityState: Sendable {
  var priority: CallPriority
  var onPriorityChange: (@Sendable (CallPriority) -> Void)?
  var followers: [CallState] = []
}
