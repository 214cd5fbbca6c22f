/// Decides which thread must wake the event loop of a transport, how long the loop sleeps, and when it ends. Other
/// threads share the state with the loop's thread. It performs no I/O, and it holds the timers of the loop.
@usableFromInline
package struct LoopState: Sendable {
  /// The action that a thread must take after it has changed the state and released the lock.
  @usableFromInline package enum WakeDecision: Sendable { case nothing, startThread, wake, refuse }

  /// The next action of the event loop: more work without a sleep (`none`), a sleep, or the end of the loop.
  @usableFromInline package enum SleepDecision: Sendable, Equatable { case none, sleep(milliseconds: Int32), end }

  private enum Phase: Sendable { case unstarted, running, ended }

  /// The longest sleep of the loop's thread.
  private static let longestSleep = Duration.seconds(3600)

  @usableFromInline package var timers = TimerHeap()
  private var phase = Phase.unstarted
  private var isClosing = false
  /// The time at which the loop wakes without a signal. Nil while the loop is awake.
  private var sleepsUntil: MonotonicInstant?
  /// The time at which another thread runs the due timers because the loop's thread could not be started. Nil if no
  /// other thread is scheduled to run the timers.
  private var fallbackTime: MonotonicInstant?

  package init() {}

  // MARK: - Any thread

  /// Records that a thread adds a command for the loop. The result `refuse` means that the loop has ended and takes no
  /// command.
  @usableFromInline package mutating func addCommand() -> WakeDecision { phase == .ended ? .refuse : decideWake() }

  @usableFromInline package mutating func schedule(
    at instant: MonotonicInstant, _ action: @escaping TimerHeap.Action
  ) -> (TimerToken, WakeDecision) {
    let token = timers.insert(at: instant, action)
    if let sleepsUntil, sleepsUntil <= instant { return (token, .nothing) }
    return (token, decideWake())
  }

  /// Lets the event loop's thread end when no exchange is left.
  package mutating func close() -> WakeDecision {
    isClosing = true
    guard phase == .running else {
      phase = .ended
      return .nothing
    }
    return decideWake()
  }

  private mutating func decideWake() -> WakeDecision {
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
  @usableFromInline package mutating func wakeUp() { sleepsUntil = nil }

  /// Decides what the event loop does after its work: more work, a sleep until `latest` or earlier, or the end of the
  /// loop.
  /// - Parameter isBusy: Whether exchanges are in progress.
  @usableFromInline package mutating func decideSleep(
    now: MonotonicInstant, latest: MonotonicInstant?, hasCommands: Bool, isBusy: Bool
  ) -> SleepDecision {
    if hasCommands { return .none }
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

  /// Handles a failed start of the loop's thread. The timers stay scheduled. Returns the time at which another thread
  /// must run the due timers. The time is nil if no timer is left, or if an earlier time is already scheduled.
  package mutating func abandon() -> MonotonicInstant? {
    phase = isClosing ? .ended : .unstarted
    guard phase == .unstarted, let next = timers.next, fallbackTime.map({ next < $0 }) ?? true else { return nil }
    fallbackTime = next
    return next
  }

  /// Removes and returns the earliest due timer action. Returns nil while the loop's thread runs, because that thread
  /// runs its timers itself.
  package mutating func popFallbackTimer(_ now: MonotonicInstant) -> TimerHeap.Action? {
    phase == .unstarted ? timers.popDue(now) : nil
  }

  /// Records that another thread has run the due timers. If timers are left, the result asks the caller to start the
  /// loop's thread again.
  package mutating func endFallback() -> WakeDecision {
    fallbackTime = nil
    return phase == .unstarted && timers.next != nil ? decideWake() : .nothing
  }
}
