import ErrandSupport

/// An accessory (an observer of calls) that shows a loading indicator while calls run. Calls that end quickly do not
/// show the indicator. After it is shown, the indicator stays visible for a minimum time. If several calls run at the
/// same time, they share one indicator.
///
/// ```swift
/// let spinner = LoadingIndicator { isShown in view.spinner.isHidden = !isShown }
/// configuration.accessories = [spinner]
/// ```
public final class LoadingIndicator: Accessory {
  private struct State: Sendable {
    var machine: LoadingIndicatorMachine
    /// The `id` of each running call and group that selects this indicator. The set ensures that each call and group is
    /// counted once, even if the app registers this accessory several times.
    var counted: Set<UInt64> = []
    var timer: (at: MonotonicInstant, token: TimerToken)?
    var reported = false
  }

  /// The name by which requests select this indicator. If the name is nil, the indicator counts the requests that
  /// select no indicator.
  public let name: String?
  private let timers: any Timers
  private let show: @MainActor @Sendable (Bool) -> Void
  private let state: Locked<State>

  /// Makes an indicator.
  ///
  /// - Parameters:
  ///   - name: The name by which requests select the indicator; nil to count the requests that select no indicator.
  ///   - delay: The time that a call must run before the indicator is shown.
  ///   - minimum: The shortest time for which the indicator is shown.
  ///   - timers: The clock that measures `delay` and `minimum`.
  ///   - show: A closure that shows the indicator if its argument is true, and hides the indicator otherwise. It runs
  ///     on the main actor, and only if the indicator must be shown or hidden.
  public init(
    name: String? = nil, delay: Duration = .milliseconds(300), minimum: Duration = .milliseconds(500),
    timers: any Timers = SharedTimers.shared, show: @escaping @MainActor @Sendable (Bool) -> Void
  ) {
    self.name = name
    self.timers = timers
    self.show = show
    state = Locked(State(machine: LoadingIndicatorMachine(delay: delay, minimum: minimum)))
  }

  /// Counts the call if its request selects this indicator.
  public func willStart(_ call: CallInfo) { countOn(call.id, call.indicator) }

  /// Removes the call from the count of running calls.
  public func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) { countOff(call.id) }

  /// Counts the group if the group selects this indicator. The indicator therefore stays visible between two steps of a
  /// chain, when no call runs.
  public func willStart(_ group: GroupInfo) { countOn(group.id, group.indicator) }

  /// Removes the group from the count of running calls and groups.
  public func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { countOff(group.id) }

  private func countOn(_ id: UInt64, _ choice: IndicatorChoice) {
    guard counts(choice), state.withLock({ $0.counted.insert(id).inserted }) else { return }
    change { $0.started(at: timers.now) }
  }

  private func countOff(_ id: UInt64) {
    guard state.withLock({ $0.counted.remove(id) }) != nil else { return }
    change { $0.stopped(at: timers.now) }
  }

  private func counts(_ choice: IndicatorChoice) -> Bool {
    switch choice {
    case .inherited: name == nil
    case .none: false
    case .named(let chosen): name.hasSameBytes(as: chosen)
    }
  }

  private func change(_ event: (inout LoadingIndicatorMachine) -> Void) {
    let (next, old) = state.withLock { state -> (MonotonicInstant?, TimerToken?) in
      event(&state.machine)
      guard state.machine.next != state.timer?.at else { return (nil, nil) }
      let old = state.timer?.token
      state.timer = nil
      return (state.machine.next, old)
    }
    if let old { timers.cancel(old) }
    if let next { arm(next) }
    report()
  }

  private func look() {
    state.withLock { $0.timer = nil }
    change { $0.look(at: timers.now) }
  }

  private func arm(_ instant: MonotonicInstant) {
    // The timer keeps the indicator. The app may have passed it to a single call, and the indicator must be hidden even
    // after the call has released it.
    let token = timers.schedule(at: instant) { self.look() }
    let isKept = state.withLock { state in
      guard state.timer == nil, state.machine.next == instant else { return false }
      state.timer = (instant, token)
      return true
    }
    // Another thread may have stored a timer already, or may have moved the next change of the indicator to another
    // time. Then the new timer is not needed.
    if !isKept { timers.cancel(token) }
  }

  private func report() {
    guard state.withLock({ $0.machine.isShown != $0.reported }) else { return }
    Task { @MainActor [self] in
      let now = timers.now
      let changed = state.withLock { state -> Bool? in
        guard state.machine.isShown != state.reported else { return nil }
        state.reported = state.machine.isShown
        // Under the same lock, so that the timer of the minimum time cannot hide the indicator in between.
        if state.reported { state.machine.appeared(at: now) }
        return state.reported
      }
      guard let isShown = changed else { return }
      if isShown { change { _ in } }  // sets the timer for the later end of the minimum time
      show(isShown)
    }
  }
}

/// A state machine that decides when a loading indicator is shown and hidden. The machine has no clock: its methods
/// receive the current time from the caller.
///
/// The indicator is shown when calls have been running for `delay`. It stays visible for at least `minimum`. After that
/// time, the indicator is hidden as soon as no call runs.
struct LoadingIndicatorMachine: Sendable {
  private enum Phase: Sendable {
    case idle
    case delaying(until: MonotonicInstant)
    case showing(notBefore: MonotonicInstant)
  }

  let delay: Duration
  let minimum: Duration
  private var phase = Phase.idle
  private var running = 0

  init(delay: Duration, minimum: Duration) {
    self.delay = delay
    self.minimum = minimum
  }

  var isShown: Bool { if case .showing = phase { true } else { false } }

  /// The time at which the caller must next call ``look(at:)``, because the indicator may then be shown or hidden; nil
  /// if no change is due.
  var next: MonotonicInstant? {
    switch phase {
    case .delaying(let instant): instant
    case .showing(let instant) where running == 0: instant
    case .idle, .showing: nil
    }
  }

  mutating func started(at now: MonotonicInstant) {
    running += 1
    if case .idle = phase { phase = .delaying(until: now.advanced(by: delay)) }
    look(at: now)
  }

  mutating func stopped(at now: MonotonicInstant) {
    running = max(0, running - 1)
    if running == 0, case .delaying = phase { phase = .idle }
    look(at: now)
  }

  /// Lets the minimum time begin at `now`, because the indicator has become visible only now. The main actor, which
  /// shows the indicator, may have been busy since the machine decided to show it.
  mutating func appeared(at now: MonotonicInstant) {
    if isShown { phase = .showing(notBefore: now.advanced(by: minimum)) }
  }

  /// Shows the indicator if the delay is over at `now`. Hides the indicator if no call runs and the minimum time is
  /// over.
  mutating func look(at now: MonotonicInstant) {
    if case .delaying(let instant) = phase, instant <= now { phase = .showing(notBefore: now.advanced(by: minimum)) }
    if case .showing(let instant) = phase, running == 0, instant <= now { phase = .idle }
  }
}
