/// What a run of a call and a run of a group have in common: both notify accessories and hooks, and both report their
/// outcome exactly once.
protocol Run: AnyObject, Sendable {
  /// The outcome without its value, which accessories and hooks receive.
  associatedtype Ending: Sendable

  var state: CallState { get }
  var accessories: [any Accessory] { get }
  /// The number of calls in which the run is nested, see ``UserCodeScope``.
  var nesting: Int { get }
  var runsHooks: Bool { get }
  var executor: CallbackExecutor { get }
  /// Keeps the callback jobs of the run in order; nil for a run that reports only its end, because a single job needs
  /// no order.
  var callbackQueue: CallbackQueue? { get }
  var log: CallLog? { get }
  var registry: CallRegistry { get }
  var place: Int { get }

  /// Returns the ending of a run that was stopped for `reason`: the ending has the error for that reason. If `reason`
  /// is nil, the run was not stopped, and the method returns `ending` unchanged.
  func applyStop(to ending: Ending, by reason: CallState.StopReason?) -> Ending
  /// Called as soon as the outcome of the run is claimed.
  func didClaim()
  func willStop(_ accessory: any Accessory, _ ending: Ending)
  func didStop(_ accessory: any Accessory, _ ending: Ending)
  /// Runs the hooks after the completion. Each hook receives `ending()`, because an earlier hook may have cancelled the
  /// run.
  func runHooks(after ending: () -> Ending)
  /// Called once when the ending is final, before the callback receives it.
  func didConclude(_ ending: Ending)
  func logLine(_ ending: Ending) -> String
}

extension Run {
  /// Passes a job to the callback executor. The job runs after all earlier jobs of the run.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let callbackQueue { callbackQueue.run(job) } else { executor.run(job) }
  }

  /// Decides the final outcome, and notifies accessories, hooks and the callback. All of this happens in one job on the
  /// current executor.
  ///
  /// If `willStop` of an accessory or a hook after the completion cancels the run during this job, the accessories and
  /// hooks that follow and the callback receive a cancellation and no success. Later cancellations have no effect.
  func finish<Value>(_ result: Ending, _ notify: (Ending) -> Value) -> Value {
    let claimed = applyStop(to: result, by: state.claim())
    didClaim()
    notifyAccessories { willStop($0, applyStop(to: claimed, by: state.endsBy)) }
    if runsHooks { runHooks { applyStop(to: claimed, by: state.endsBy) } }
    let ending = applyStop(to: claimed, by: state.conclude())
    didConclude(ending)
    // Before the callback, which may end a loop over a stream or start the next call. Lines about these must follow.
    if let log { log.info(logLine(ending)) }
    let value = notify(ending)
    // Not nested: the run has ended, so what `didStop` sends is a new call.
    for accessory in accessories { didStop(accessory, ending) }
    registry.remove(place)
    return value
  }

  /// Notifies the accessories. Calls that an accessory sends are nested in this run.
  func notifyAccessories(_ notify: (any Accessory) -> Void) {
    for accessory in accessories {
      UserCodeScope.during(type(of: accessory), in: nesting) { notify(accessory) }
    }
  }
}
