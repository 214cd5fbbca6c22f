/// Decides when a loading indicator is shown and hidden: a state machine whose caller passes the time.
///
/// The indicator is shown after a call has run for `delay`. It stays visible for at least `minimum`, and is hidden when
/// no call runs.
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

  /// The next time at which the caller must call ``look(at:)``, because the indicator may be shown or hidden; nil for
  /// none.
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

  /// Shows or hides the indicator if it is time for that.
  mutating func look(at now: MonotonicInstant) {
    if case .delaying(let instant) = phase, instant <= now { phase = .showing(notBefore: now.advanced(by: minimum)) }
    if case .showing(let instant) = phase, running == 0, instant <= now { phase = .idle }
  }
}
