extension APIClient: CallSender {
  /// Runs a group of calls on the caller's executor. Returns its outcome with a report of its members; never throws.
  ///
  /// Cancelling the task cancels the group.
  public func outcome<G: CallGroup>(of group: G, options: GroupOptions) async -> GroupOutcome<G.Response> {
    await GroupRun(group.kind, group.name, options, self).outcome(of: group)
  }

  /// Starts a group. The closures are called on the main actor: either `onSuccess` or `onFailure`, exactly once.
  ///
  /// The group runs to its end even if the handle is released.
  @discardableResult
  public func start<G: CallGroup>(
    _ group: G, options: GroupOptions = GroupOptions(), onSuccess: @escaping @MainActor (G.Response) -> Void,
    onFailure: (@MainActor (APIError) -> Void)? = nil, onProgress: (@MainActor (GroupProgress) -> Void)? = nil
  ) -> GroupCall {
    let callbacks = GroupRun.Callbacks(
      executor: .main,
      onProgress: onProgress.map { onProgress -> GroupProgressCallback in
        { _, progress in MainActor.assumeIsolated { onProgress(progress) } }
      })
    return launch(group, options, callbacks) { _, outcome in
      MainActor.assumeIsolated { outcome.result.notify(onSuccess, onFailure) }
    }
  }

  /// Starts a group. The closures are called on `executor`: either `onSuccess` or `onFailure`, exactly once.
  @discardableResult
  public func start<G: CallGroup>(
    _ group: G, on executor: CallbackExecutor, options: GroupOptions = GroupOptions(),
    onSuccess: @escaping @Sendable (G.Response) -> Void, onFailure: (@Sendable (APIError) -> Void)? = nil,
    onProgress: (@Sendable (GroupProgress) -> Void)? = nil
  ) -> GroupCall {
    let callbacks = GroupRun.Callbacks(
      executor: executor, onProgress: onProgress.map { onProgress -> GroupProgressCallback in { onProgress($1) } })
    return launch(group, options, callbacks) { _, outcome in outcome.result.notify(onSuccess, onFailure) }
  }

  /// Starts a group. `onEnd` is called for success and for failure, exactly once, on the main actor.
  @discardableResult
  public func start<G: CallGroup>(
    outcomeOf group: G, options: GroupOptions = GroupOptions(),
    _ onEnd: @escaping @MainActor (GroupOutcome<G.Response>) -> Void
  ) -> GroupCall {
    launch(group, options, .init(executor: .main)) { _, outcome in MainActor.assumeIsolated { onEnd(outcome) } }
  }

  /// Starts a group. `onEnd` is called for success and for failure, exactly once, on `executor`.
  @discardableResult
  public func start<G: CallGroup>(
    outcomeOf group: G, on executor: CallbackExecutor, options: GroupOptions = GroupOptions(),
    _ onEnd: @escaping @Sendable (GroupOutcome<G.Response>) -> Void
  ) -> GroupCall {
    launch(group, options, .init(executor: executor)) { _, outcome in onEnd(outcome) }
  }

  /// Starts a group. When the group ends, the delegate is notified on the main actor, exactly once. The group
  /// references the delegate weakly: a delegate that no longer exists is not notified.
  @discardableResult
  public func start<G: CallGroup>(
    _ group: G, options: GroupOptions = GroupOptions(), delegate: any GroupDelegate
  ) -> GroupCall {
    let callbacks = GroupRun.Callbacks(executor: .main, onProgress: delegate.progressCallback)
    return launch(group, options, callbacks) { [weak delegate] info, outcome in
      MainActor.assumeIsolated { delegate?.notify(info, outcome) }
    }
  }

  /// Starts a group. The body of the group is code of the app, so it runs in a task that is cancelled when the group is
  /// stopped.
  private func launch<G: CallGroup>(
    _ group: G, _ options: GroupOptions, _ callbacks: GroupRun.Callbacks,
    _ onEnd: @escaping @Sendable (GroupInfo, GroupOutcome<G.Response>) -> Void
  ) -> GroupCall {
    let run = GroupRun(group.kind, group.name, options, self, callbacks: callbacks)
    let watch =
      callbacks.executor.isMain ? DeliveryWatch(run.info.id, run.info.name, snapshot, registry) : nil
    Task { @concurrent in
      let result = await run.workInTask(group)
      watch?.start()
      run.hand {
        watch?.stop()
        run.finish(error: result.error) { onEnd(run.info, $0.outcome(result)) }
      }
    }
    return GroupCall(run.record)
  }
}

extension APIClient {
  /// Runs a chain, which is a group of calls that depend on each other, on the caller's executor. A step can use the
  /// values of earlier steps, and branches run concurrently.
  ///
  /// ```swift
  /// let done = try await client.chain { chain in
  ///   let account = try await chain.send(Register(name: "x"))
  ///   async let user = chain.send(GetUser(id: account.id))
  ///   async let avatar = chain.send(Avatar(name: account.avatar))
  ///   return try await chain.send(Welcome(user, avatar))
  /// }
  /// ```
  ///
  /// If the closure throws, the branches that still run are cancelled. Cancelling the task cancels the chain.
  /// Cancelling by owner or tag cancels the calls of the chain; the closure then throws the errors of these calls.
  /// - Throws: The error of the closure. An error of a step is an ``APIError`` whose ``APIError/members`` names the
  ///   step. If the chain was cancelled or its deadline passed, the method throws an ``APIError`` of stage `cancelled`
  ///   or `deadline`, even if the closure returns a value. If the closure's error type cannot represent this error, the
  ///   chain ends with the closure's own value or error.
  public func chain<Value, Failure>(
    options: GroupOptions = GroupOptions(), _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await GroupRun(.chain, GroupRun.inlineName, options, self).inline(steps)
  }
}

extension GroupRun {
  /// The name of a chain that is written as a closure.
  static var inlineName: String { "chain" }

  func inline<Value, Failure>(
    _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let (result, error) = await listening {
      let result = await runBody(steps)
      var thrown: APIError?
      if case .failure(let error) = result { thrown = mapping(error) }
      return (result, await settle(thrown))
    }
    let ending = finish(error: error) { $0 }
    // If the chain was stopped, the error of the stopped chain replaces the result of the closure, even if the closure
    // returned a value.
    if let error = ending.error, state.endsBy != nil, let error = error as? Failure { throw error }
    return try result.get()
  }
}
