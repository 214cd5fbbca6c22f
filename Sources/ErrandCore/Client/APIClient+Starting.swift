import ErrandSupport

extension APIClient {
  /// Starts a request whose outcome the caller does not need. Accessories, hooks and the log still receive the outcome.
  ///
  /// The call runs to its end even if the handle is released. Hooks run on the main actor.
  @discardableResult
  public func start<R: APIRequest>(_ request: R, options: CallOptions = CallOptions()) -> Call {
    launch(request, options, .init(executor: .main)) { _, _ in }
  }

  /// Starts a request. The closures are called on the main actor: either `onSuccess` or `onFailure`, exactly once.
  ///
  /// The call runs to its end even if the handle is released.
  @discardableResult
  public func start<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions(), onSuccess: @escaping @MainActor (R.Response) -> Void,
    onFailure: (@MainActor (APIError) -> Void)? = nil, onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call {
    start(outcomeOf: request, options: options, { $0.result.notify(onSuccess, onFailure) }, onProgress: onProgress)
  }

  /// Starts a request. The closures are called on `executor`: either `onSuccess` or `onFailure`, exactly once.
  @discardableResult
  public func start<R: APIRequest>(
    _ request: R, on executor: CallbackExecutor, options: CallOptions = CallOptions(),
    onSuccess: @escaping @Sendable (R.Response) -> Void, onFailure: (@Sendable (APIError) -> Void)? = nil,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Call {
    start(
      outcomeOf: request, on: executor, options: options, { $0.result.notify(onSuccess, onFailure) },
      onProgress: onProgress)
  }

  /// Starts a request. `onEnd` is called for success and for failure, exactly once, on the main actor.
  @discardableResult
  public func start<R: APIRequest>(
    outcomeOf request: R, options: CallOptions = CallOptions(),
    _ onEnd: @escaping @MainActor (Outcome<R.Response>) -> Void,
    onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call {
    launch(request, options, .onMain(onProgress)) { _, outcome in MainActor.assumeIsolated { onEnd(outcome) } }
  }

  /// Starts a request. `onEnd` is called for success and for failure, exactly once, on `executor`.
  @discardableResult
  public func start<R: APIRequest>(
    outcomeOf request: R, on executor: CallbackExecutor, options: CallOptions = CallOptions(),
    _ onEnd: @escaping @Sendable (Outcome<R.Response>) -> Void,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Call {
    launch(request, options, .on(executor, onProgress)) { _, outcome in onEnd(outcome) }
  }

  /// Starts a request. When the call ends, the delegate is notified on the main actor, exactly once. The call
  /// references the delegate weakly: a delegate that no longer exists is not notified.
  @discardableResult
  public func start<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions(), delegate: any CallDelegate
  ) -> Call {
    launch(request, options, .init(executor: .main, onProgress: delegate.progressCallback)) {
      [weak delegate] info, outcome in
      MainActor.assumeIsolated { delegate?.notify(info, outcome) }
    }
  }

  /// - Parameter onCached: Receives the stored response of a `cachedThenFresh` call; nil for other calls.
  func launch<R: APIRequest>(
    _ request: R, _ options: CallOptions, _ callbacks: CallRun.Callbacks,
    onCached: (@Sendable (CallInfo, Outcome<R.Response>) -> Void)? = nil,
    onEnd: @escaping @Sendable (CallInfo, Outcome<R.Response>) -> Void
  ) -> Call {
    let typed = TypedCall(request, onCached: onCached)
    return launch(typed, options, callbacks) { info, _ in { ending in onEnd(info, typed.outcome(ending)) } }
  }

  /// - Parameter prepare: A function that receives the result of the call and returns a closure. The closure runs
  ///   later, on the callback executor, and reports the final ending of the call to the app. The final ending differs
  ///   from the result if the call was cancelled before the closure ran.
  func launch<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, _ callbacks: CallRun.Callbacks,
    membership: RepeatMembership? = nil,
    prepare: @escaping @Sendable (CallInfo, Outcome<Void>) -> @Sendable (Outcome<Void>) -> Void
  ) -> Call {
    let snapshot = snapshot
    let run = CallRun(typed, options, .ordinary, snapshot, registry, callbacks: callbacks, membership)
    let watch = callbacks.executor.isMain ? DeliveryWatch(run.info.id, run.info.name, snapshot, registry) : nil
    Task { @concurrent in
      let ending = await run.work()
      let notify = prepare(run.info, ending)
      watch?.start()
      run.hand {
        watch?.stop()
        run.finish(ending, notify)
      }
    }
    return Call(info: run.info, state: run.state)
  }
}

typealias ProgressCallback = @Sendable (CallInfo, TransferProgress) -> Void

extension CallRun.Callbacks {
  static func onMain(_ report: (@MainActor (TransferProgress) -> Void)?) -> Self {
    guard let report else { return Self(executor: .main) }
    return Self(executor: .main) { _, progress in MainActor.assumeIsolated { report(progress) } }
  }

  static func on(_ executor: CallbackExecutor, _ report: (@Sendable (TransferProgress) -> Void)?) -> Self {
    guard let report else { return Self(executor: executor) }
    return Self(executor: executor) { _, progress in report(progress) }
  }
}

/// Logs a warning, once per client, if the callback of a call waits five seconds for the main actor. The reason for
/// such a long wait is that the main thread is blocked, or that its run loop does not run.
final class DeliveryWatch: Sendable {
  private let id: UInt64
  private let name: String
  private let timers: any Timers
  private let registry: CallRegistry
  private let log: @Sendable (LogLine) -> Void
  private let token = Locked<TimerToken?>(nil)

  init(_ id: UInt64, _ name: String, _ snapshot: ClientSnapshot, _ registry: CallRegistry) {
    self.id = id
    self.name = name
    self.registry = registry
    timers = snapshot.timers
    log = snapshot.configuration.warningLog
  }

  func start() {
    let set = timers.schedule(at: timers.now.advanced(by: .seconds(5))) { [id, name, log, registry] in
      guard registry.takeWarning() else { return }
      let text = "the outcome of \(name) has waited five seconds for the main actor; do not block the main thread"
      log(LogLine(level: .warning, call: id, text: text))
    }
    token.withLock { $0 = set }
  }

  func stop() {
    if let set = token.withLock({ $0 }) { timers.cancel(set) }
  }
}
