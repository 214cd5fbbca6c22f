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
