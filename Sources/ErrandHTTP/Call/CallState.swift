import ErrandSupport
import Synchronization

/// The life of one call: running, stopped, settled, recalled, claimed. Every wait of the call takes it.
///
/// A cancel and the deadline come in through ``stop(_:)``, whatever way the call was started. There are two kinds of
/// wait. Those that *leave* (``wait(_:)``, ``sleep(until:)``) return at once when the call is stopped. Those that
/// *ask* (``wait(asking:_:)``, ``whileAsking(_:_:)``) tell the other side once and return when it has let go.
///
/// | phase | `stop(.cancelled)` | `stop(.expired)` | `settle` | `claim` |
/// |---|---|---|---|---|
/// | running | stopped | stopped | settled | – |
/// | stopped | stays, the first reason counts | the same | stays | claimed: the reason |
/// | settled | recalled | no effect | – | claimed: what came |
/// | recalled | no effect | no effect | – | claimed: cancelled |
/// | claimed | no effect | no effect | – | – |
///
/// Any thread may call any member.
public final class CallState: Sendable {
  /// Why a call was stopped before it came to its end.
  public enum StopReason: Sendable, Hashable {
    /// Somebody cancelled the call, its owner, its tag or all calls, or its task.
    case cancelled
    /// The total deadline passed.
    case expired
  }

  /// Thrown by a wait whose call was stopped.
  public struct Stopped: Error, Sendable, Hashable {
    /// Why the call was stopped.
    public let reason: StopReason

    /// Makes the error, for transports that hear of a stop in ways of their own.
    public init(reason: StopReason) { self.reason = reason }
  }

  /// When the call ends at the latest, or nil when it has no deadline. It never changes to another one, but a call that
  /// turns out to send a transfer loses what it has by default before it goes down the line.
  public var deadline: MonotonicInstant? { isLifted.load(ordering: .relaxed) ? nil : firstDeadline }
  /// The clock and the heap of moments this call waits on.
  public let timers: any Timers

  /// The state whose priority this one has; nil for one with a priority of its own.
  let leader: CallState?
  let urgency: Locked<CallUrgency>
  private let firstDeadline: MonotonicInstant?
  private let isLifted = Atomic(false)
  private let storage: Locked<CallStateMachine>

  /// Makes the state of a call that begins now. The deadline's timer is set at the first wait, if there is one.
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

  /// The time left until the deadline, never negative; nil without one.
  public var timeLeft: Duration? {
    deadline.map { max(.zero, timers.now.duration(to: $0)) }
  }

  /// Whether its own deadline has passed.
  package var isPastDeadline: Bool { deadline.map { $0 <= timers.now } ?? false }

  /// Whether the call has been stopped, or recalled after its work had ended.
  public var isStopped: Bool { storage.withLock { $0.stopReason != nil } }

  /// Whether the work of the call goes on.
  public var isRunning: Bool { storage.withLock { $0.isRunning } }

  /// Stops the call. Returns whether this made a difference to how it will end.
  @discardableResult
  public func stop(_ reason: StopReason) -> Bool {
    let thread = currentThread
    let effect = storage.withLock { $0.stop(reason, on: thread) }
    perform(effect, reason)
    return effect.changed
  }

  /// Throws if the call has been stopped.
  public func check() throws(Stopped) {
    if let reason = storage.withLock({ $0.stopReason }) { throw Stopped(reason: reason) }
  }

  /// Waits until the ``Wakeup`` given to `register` is resumed; a stop ends the wait at once.
  ///
  /// `register` runs once, before the caller is suspended, and may resume the wake-up itself. When the wait throws,
  /// the caller tidies up what it registered.
  public func wait(_ register: (Wakeup) -> Void) async throws(Stopped) {
    startTimer()
    var opened: UInt32?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      opened = storage.withLock { $0.open(.init(continuation: continuation)) }
      if let opened { register(Wakeup(state: self, id: opened)) } else { continuation.resume() }
    }
    try closed(opened)
  }

  /// Waits until the ``Wakeup`` given to `register` is resumed; a stop calls `ask` once, after `register`, and the
  /// wait goes on until the other side has let go and resumes it.
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

  /// Runs `body`; a stop during it calls `ask` once. Returns when `body` does.
  public func whileAsking<Value, Failure: Error>(
    _ ask: @escaping @Sendable (StopReason) -> Void, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    startTimer()
    let (id, stopped) = storage.withLock { $0.openAsking(ask) }
    if let stopped { ask(stopped) }
    defer { storage.withLock { $0.close(id) } }
    return try await body()
  }

  /// Waits until `instant` on the call's clock; a stop ends the wait at once.
  public func sleep(until instant: MonotonicInstant) async throws(Stopped) {
    var token: TimerToken?
    do throws(Stopped) {
      try await wait { wakeup in token = timers.schedule(at: instant) { wakeup.resume() } }
    } catch {
      if let token { timers.cancel(token) }
      throw error
    }
  }

  /// Ends the work: from now on the deadline has no effect, and a cancel recalls what came. A wait that user code has
  /// left behind ends with it.
  package func settle() {
    leader?.drop(self)
    perform(storage.withLock { $0.settle() }, .cancelled)
  }

  /// Stops the call where its deadline has passed, whether or not a timer has said so.
  package func expire(at now: MonotonicInstant) {
    if let deadline, deadline <= now { stop(.expired) }
  }

  /// Takes the deadline away; no effect once it has passed.
  package func liftDeadline() {
    isLifted.store(true, ordering: .relaxed)
    if let timer = storage.withLock({ $0.liftDeadline() }) { timers.cancel(timer) }
  }

  /// Claims the outcome, on the callback executor, in one job with the callback. Nil: deliver what came. Up to
  /// ``conclude()`` a cancel by a callback on this thread still counts.
  package func claim() -> StopReason? {
    let thread = currentThread
    return storage.withLock { $0.claim(on: thread) }
  }

  /// Why the call ends, once the callbacks before its end have run. Nil: deliver what came.
  package func conclude() -> StopReason? { storage.withLock { $0.conclude() } }

  /// Whether the outcome has been claimed: the terminal event is under way or over.
  package var isClaimed: Bool { storage.withLock { $0.isClaimed } }

  /// Why the call ends early, or has ended early; nil where it does not.
  package var endsBy: StopReason? { storage.withLock { $0.stopReason } }

  /// Why those end that belong to it: with its deadline, where that has passed.
  package var reasonToLeave: StopReason { endsBy ?? .cancelled }

  /// The number of waits that are open: nothing may be left after the end.
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
    // Whoever is woken may end what was to be asked, for another reason than this.
    for ask in effect.asks { ask(reason) }
    for wakeup in effect.wakeups { wakeup.resume() }
    if let timer = effect.timer { timers.cancel(timer) }
  }

  private func startTimer() {
    guard let deadline, storage.withLock({ $0.takeTimerDuty() }) else { return }
    // One that has passed is no timer's to tell, which would come after the first step.
    if deadline <= timers.now {
      stop(.expired)
      return
    }
    let token = timers.schedule(at: deadline) { [weak self] in self?.stop(.expired) }
    if storage.withLock({ $0.keepTimer(token) }) { return }
    timers.cancel(token)
  }
}

/// Ends one wait of a ``CallState`` from outside.
public struct Wakeup: Sendable {
  fileprivate let state: CallState
  fileprivate let id: UInt32

  /// Ends the wait. False when the waiter has left already: what was meant for it goes to the next.
  @discardableResult
  public func resume() -> Bool { state.resume(id) }
}

/// How urgent a call is, who is told when that changes, and which states go by it.
struct CallUrgency: Sendable {
  var priority: CallPriority
  var tell: (@Sendable (CallPriority) -> Void)?
  var followers: [CallState] = []
}
