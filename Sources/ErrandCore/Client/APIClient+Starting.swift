extension APIClient {
  /// Starts a request. The closures are called on the main actor: either `onSuccess` or `onFailure`, exactly once.
  ///
  /// The call runs to its end even if the handle is released.
  @discardableResult
  public func start<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions(), onSuccess: @escaping @MainActor (R.Response) -> Void,
    onFailure: (@MainActor (APIError) -> Void)? = nil, onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call {
    let callbacks = CallCallbacks<R.Response>(
      executor: .main, onProgress: ProgressListener.onMain(onProgress),
      onEnd: { _, outcome in
        MainActor.assumeIsolated { outcome.tell(onSuccess, onFailure) }
      })
    return launch(request, options, callbacks)
  }

  /// Starts a request. The closures are called on an executor of choice: either `onSuccess` or `onFailure`, exactly
  /// once.
  @discardableResult
  public func start<R: APIRequest>(
    _ request: R, on executor: CallbackExecutor, options: CallOptions = CallOptions(),
    onSuccess: @escaping @Sendable (R.Response) -> Void, onFailure: (@Sendable (APIError) -> Void)? = nil,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Call {
    let callbacks = CallCallbacks<R.Response>(
      executor: executor, onProgress: ProgressListener.anywhere(onProgress),
      onEnd: { _, outcome in outcome.tell(onSuccess, onFailure) })
    return launch(request, options, callbacks)
  }

  /// Starts a request. `onEnd` is called for success and for failure, exactly once, on the main actor.
  @discardableResult
  public func start<R: APIRequest>(
    outcomeOf request: R, options: CallOptions = CallOptions(),
    _ onEnd: @escaping @MainActor (Outcome<R.Response>) -> Void,
    onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call {
    let callbacks = CallCallbacks<R.Response>(
      executor: .main, onProgress: ProgressListener.onMain(onProgress),
      onEnd: { _, outcome in MainActor.assumeIsolated { onEnd(outcome) } })
    return launch(request, options, callbacks)
  }

  /// Starts a request. `onEnd` is called for success and for failure, exactly once, on an executor of choice.
  @discardableResult
  public func start<R: APIRequest>(
    outcomeOf request: R, on executor: CallbackExecutor, options: CallOptions = CallOptions(),
    _ onEnd: @escaping @Sendable (Outcome<R.Response>) -> Void,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Call {
    let callbacks = CallCallbacks<R.Response>(
      executor: executor, onProgress: ProgressListener.anywhere(onProgress), onEnd: { onEnd($1) })
    return launch(request, options, callbacks)
  }

  /// Starts a request; the delegate is called on the main actor, exactly once, if it still exists. The call references
  /// the delegate weakly.
  @discardableResult
  public func start<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions(), delegate: any CallDelegate
  ) -> Call {
    let callbacks = CallCallbacks<R.Response>(
      executor: .main,
      onProgress: { [weak delegate] info, progress in
        MainActor.assumeIsolated { delegate?.requestProgressed(info, progress) }
      },
      onEnd: { [weak delegate] info, outcome in
        MainActor.assumeIsolated { delegate?.tell(info, outcome) }
      })
    return launch(request, options, callbacks)
  }

  func launch<R: APIRequest>(
    _ request: R, _ options: CallOptions, _ callbacks: CallCallbacks<R.Response>
  ) -> Call {
    let typed = TypedCall(request, onCached: callbacks.onCached)
    return launch(typed, options, executor: callbacks.executor, onProgress: callbacks.onProgress) { info, _ in
      { ending in _ = typed.tell(ending) { callbacks.onEnd(info, $0) } }
    }
  }

  /// - Parameter prepare: Receives the ending of the call's work. It does not run on the callback executor. It returns
  ///   the job that reports the ending on the callback executor. If the call is cancelled in the meantime, the job
  ///   receives a cancelled ending instead.
  func launch<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, executor: CallbackExecutor, onProgress: ProgressCallback?,
    prepare: @escaping @Sendable (CallInfo, CallEnding) -> @Sendable (CallEnding) -> Void
  ) -> Call {
    let snapshot = snapshot
    let run = CallRun(
      typed, options, .ordinary, snapshot, registry, delivery: .init(executor: executor, onProgress: onProgress))
    let watch = executor.isMain ? DeliveryWatch(run.info.id, run.info.name, snapshot, registry) : nil
    Task { @concurrent in
      let ending = await run.work()
      let tell = prepare(run.info, ending)
      watch?.start()
      run.hand {
        watch?.stop()
        run.finish(ending, tell)
      }
    }
    return Call(info: run.info, state: run.state)
  }
}

typealias ProgressCallback = @Sendable (CallInfo, TransferProgress) -> Void

/// Converts a progress closure without a parameter for the call into a ``ProgressCallback``.
enum ProgressListener {
  static func onMain(_ tell: (@MainActor (TransferProgress) -> Void)?) -> ProgressCallback? {
    guard let tell else { return nil }
    return { _, progress in MainActor.assumeIsolated { tell(progress) } }
  }

  static func anywhere(_ tell: (@Sendable (TransferProgress) -> Void)?) -> ProgressCallback? {
    guard let tell else { return nil }
    return { _, progress in tell(progress) }
  }
}

/// The callbacks of a started call, and their executor.
struct CallCallbacks<Value: Sendable>: Sendable {
  let executor: CallbackExecutor
  let onProgress: ProgressCallback?
  /// Receives the stored response of a `cachedThenFresh` call.
  var onCached: (@Sendable (CallInfo, Outcome<Value>) -> Void)?
  let onEnd: @Sendable (CallInfo, Outcome<Value>) -> Void
}

extension Outcome {
  /// The value together with request, response, origin and metrics; nil for a failure.
  var full: APIResponse<Value>? {
    guard let value, let request, let response, let origin else { return nil }
    return APIResponse(value: value, request: request, raw: response, origin: origin, metrics: metrics)
  }

  /// The finished call that a delegate receives; nil for a failure.
  func finished(_ info: CallInfo) -> FinishedCall? {
    guard let value, let request, let response, let origin else { return nil }
    return FinishedCall(
      info: info, value: value, request: request, response: response, origin: origin, metrics: metrics,
      isUnchanged: isUnchanged)
  }

  fileprivate func tell(_ onSuccess: (Value) -> Void, _ onFailure: ((APIError) -> Void)?) {
    switch result {
    case .success(let value): onSuccess(value)
    case .failure(let error): onFailure?(error)
    }
  }
}

extension CallDelegate {
  func tell(_ info: CallInfo, _ outcome: Outcome<some Sendable>) {
    switch outcome.result {
    case .success: if let call = outcome.finished(info) { requestFinished(call) }
    case .failure(let error):
      requestFailed(
        FailedCall(
          info: info, error: error, response: outcome.response, origin: outcome.origin, metrics: outcome.metrics))
    }
  }
}
