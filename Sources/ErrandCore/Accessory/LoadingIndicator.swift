import ErrandSupport

/// An accessory that shows a loading indicator while calls run: not for short ones, not for a blink, once for many.
///
/// ```swift
/// let spinner = LoadingIndicator { isShown in view.spinner.isHidden = !isShown }
/// configuration.accessories = [spinner]
/// ```
public final class LoadingIndicator: Accessory {
  private struct State: Sendable {
    var machine: LoadingIndicatorMachine
    /// The calls that chose it: each was asked once, and counts once however often it names this accessory.
    var counted: Set<UInt64> = []
    var timer: (at: MonotonicInstant, token: TimerToken)?
    var told = false
  }

  /// The name by which requests choose it; nil for those that choose none.
  public let name: String?
  private let timers: any Timers
  private let show: @MainActor @Sendable (Bool) -> Void
  private let state: Locked<State>

  /// Makes an indicator.
  ///
  /// - Parameters:
  ///   - name: The name by which requests choose it.
  ///   - delay: How long a call runs before the indicator shows.
  ///   - minimum: How long it stays once it shows.
  ///   - timers: The clock.
  ///   - show: Shows or hides it, on the main actor; called for changes alone.
  public init(
    name: String? = nil, delay: Duration = .milliseconds(300), minimum: Duration = .milliseconds(500),
    timers: any Timers = SharedTimers.shared, show: @escaping @MainActor @Sendable (Bool) -> Void
  ) {
    self.name = name
    self.timers = timers
    self.show = show
    state = Locked(State(machine: LoadingIndicatorMachine(delay: delay, minimum: minimum)))
  }

  /// Counts the call, if it chose this indicator.
  public func willStart(_ call: CallInfo) { countOn(call.id, call.request.indicator) }

  /// Counts the call off.
  public func didStop(_ call: CallInfo, _ ending: CallEnding) { countOff(call.id) }

  /// Counts the group, if it chose this indicator: so it stays between the steps of a chain.
  public func willStart(_ group: GroupInfo) { countOn(group.id, group.indicator) }

  /// Counts the group off.
  public func didStop(_ group: GroupInfo, _ ending: GroupEnding) { countOff(group.id) }

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
    case .named(let chosen): name == chosen
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
    tell()
  }

  private func look() {
    state.withLock { $0.timer = nil }
    change { $0.look(at: timers.now) }
  }

  private func arm(_ instant: MonotonicInstant) {
    let token = timers.schedule(at: instant) { [weak self] in self?.look() }
    let isKept = state.withLock { state in
      guard state.timer == nil, state.machine.next == instant else { return false }
      state.timer = (instant, token)
      return true
    }
    // Another thread was faster, or the moment has passed.
    if !isKept { timers.cancel(token) }
  }

  private func tell() {
    guard state.withLock({ $0.machine.isShown != $0.told }) else { return }
    Task { @MainActor [self] in
      let change = state.withLock { state -> Bool? in
        guard state.machine.isShown != state.told else { return nil }
        state.told = state.machine.isShown
        return state.told
      }
      if let change { show(change) }
    }
  }
}
