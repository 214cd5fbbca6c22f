/// Runs an interceptor of the app in a task of its own, so that a cancel reaches it however the call was started.
struct UserStation: Interceptor {
  let inner: any Interceptor
  /// The queue that the call has a slot of; nil where it stands around the call, which has none yet.
  let admission: AdmissionControl?

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try context.call.check()
    let userNext = Next(line: next.line, index: next.index, context: context, isForUserCode: true)
    do {
      return try await context.call.running { [inner, admission] in
        let work = { @Sendable in
          try await AppScope.during(type(of: inner), in: context.plan.nesting) {
            try await inner.intercept(request, context: context, next: userNext)
          }
        }
        return if let admission { try await HeldSlot.during(work, of: admission) } else { try await work() }
      }
    } catch {
      try context.call.check()
      throw Self.told(error, request, context)
    }
  }

  /// The error without the secrets that the interceptor was shown.
  @inline(never)
  private static func told(_ error: any Error, _ request: HTTPRequest, _ context: CallContext) -> APIError {
    var secrets = KnownSecrets(request)
    if case .own(let credential) = context.plan.credential { secrets.add(credential) }
    return APIError.mapping(error, as: .interceptor).masking(secrets)
  }
}

extension CallState {
  /// Runs user code in a task that a stop cancels, and waits for its end.
  package func running<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Self.task(body)
    return try await whileAsking({ _ in task.cancel() }) { try await task.value }
  }

  /// Runs a hook in a task that a cancel ends, on no executor of the caller's. That the deadline has passed does not:
  /// a hook that tells of it has work to do.
  func runningElsewhere(_ hook: @escaping @Sendable () async -> Void) async {
    let task = Task { @concurrent in
      // If the call was cancelled before, the task may begin before `whileAsking` below has cancelled it.
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
