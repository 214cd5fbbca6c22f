/// Runs an interceptor of the app in a separate task. So the interceptor is cancelled with its call, however the call
/// was started.
struct UserInterceptor: Interceptor {
  let inner: any Interceptor
  /// The admission queue in which the call has a slot (the permission to run one exchange). Nil if the interceptor runs
  /// before the call gets a slot.
  let admission: AdmissionControl?

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try context.call.check()
    let userNext = Next(pipeline: next.pipeline, index: next.index, context: context, isForUserCode: true)
    do {
      return try await context.call.running { [inner, admission] in
        let work = { @Sendable in
          try await UserCodeScope.during(type(of: inner), in: context.plan.nesting) {
            try await inner.intercept(request, context: context, next: userNext)
          }
        }
        return if let admission { try await ActiveSlot.during(work, of: admission) } else { try await work() }
      }
    } catch {
      try context.call.check()
      throw Self.masked(error, request, context)
    }
  }

  /// Converts an error of the interceptor. In the resulting error, the secrets that the interceptor has seen are
  /// masked.
  @inline(never)  // frame size
  private static func masked(_ error: any Error, _ request: HTTPRequest, _ context: CallContext) -> APIError {
    var secrets = KnownSecrets(request)
    if case .own(let credential) = context.plan.credential { secrets.add(credential) }
    return APIError.mapping(error, as: .interceptor).masking(secrets)
  }
}

extension CallState {
  /// Runs code of the app in a task, and waits for its end. The task is cancelled if the call is stopped.
  package func running<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Self.task(body)
    return try await whileAsking({ _ in task.cancel() }) { try await task.value }
  }

  /// Runs a hook in a task that does not use the caller's executor, and waits for its end. The task is cancelled if the
  /// call is cancelled. An expired deadline does not cancel the task, because the hook may have to report the expiry.
  func runningElsewhere(_ hook: @escaping @Sendable () async -> Void) async {
    let task = Task { @concurrent in
      // The hook of a cancelled call must run in a cancelled task. The hook may start before `whileAsking` below
      // cancels the task, so the task cancels itself first.
      if self.endsBy == .cancelled { withUnsafeCurrentTask { $0?.cancel() } }
      await hook()
    }
    await whileAsking({ if $0 == .cancelled { task.cancel() } }) { await task.value }
  }

  private static func task<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate { try await body() }
    }
    return Task { try await body() }
  }
}
