/// Runs an interceptor of the app in a separate task. So the interceptor is cancelled with its call, however the call
/// was started.
struct UserInterceptor: Interceptor {
  let inner: any Interceptor
  /// The admission queue in which the call has a slot (the permission to run one exchange). Nil if the interceptor runs
  /// before the call gets a slot.
  let admission: AdmissionControl?

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try context.call.check()
    let sends = context.record.flight == nil ? nil : UserSends(inner)
    let userNext = Next(pipeline: next.pipeline, index: next.index, context: context, caller: .app(sends))
    do {
      return try await context.call.running { [inner, admission] in
        let work = { @Sendable in
          try await UserCodeScope.during(type(of: inner), in: context.plan.access.nesting) {
            try await inner.intercept(request, context: context, next: userNext)
          }
        }
        guard let admission else { return try await work() }
        return try await ActiveSlot.during(work, of: admission, at: request.url.origin)
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
    if case .own(let credential) = context.plan.access.credential { secrets.add(credential) }
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

extension CallContext {
  /// Runs code of the app in a task while the call waits for it, and waits for its end. The task is cancelled if the
  /// call is stopped. Calls that the code sends are nested in the call.
  /// - Parameter name: The type that contains the code of the app, for the error message.
  package func running<Value: Sendable>(
    _ name: Any.Type, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await call.running { [plan] in
      try await UserCodeScope.during(name, in: plan.access.nesting) { try await body() }
    }
  }
}

/// Marks the current task as a task that runs an exchange interceptor for an API call. The API call has a slot (the
/// permission to run one exchange), and waits for the interceptor. So a request that the interceptor sends must not
/// wait until this slot is free.
final class ActiveSlot: Sendable {
  @TaskLocal static var current: ActiveSlot?

  private let control: AdmissionControl
  private let origin: HTTPURL.Origin
  private let outer: ActiveSlot?
  private let period = TaskPeriod()

  private init(_ control: AdmissionControl, _ origin: HTTPURL.Origin, within outer: ActiveSlot?) {
    self.control = control
    self.origin = origin
    self.outer = outer
  }

  /// Runs an interceptor whose API call has a slot in an admission queue. While the interceptor runs, its requests do
  /// not wait for a slot. After the interceptor has ended, requests of tasks that the interceptor started wait for a
  /// slot as usual.
  static func during<Value: Sendable>(
    _ work: @Sendable () async throws -> Value, of control: AdmissionControl, at origin: HTTPURL.Origin
  ) async rethrows -> Value {
    let slot = ActiveSlot(control, origin, within: current)
    defer { slot.period.end() }
    return try await $current.withValue(slot) { try await work() }
  }

  /// Whether the current task works for a call that has a slot for an exchange in the admission queue of any client.
  static var isHeld: Bool { current?.isHeld { _ in true } == true }

  /// Whether the current task works for a call that has a slot for an exchange in the admission queue `control`.
  func isHeld(of control: AdmissionControl) -> Bool { isHeld { $0.control === control } }

  /// Whether the current task works for a call whose exchange with an origin has a slot in an admission queue.
  static func isHeld(of control: AdmissionControl, at origin: HTTPURL.Origin) -> Bool {
    current?.isHeld { $0.control === control && $0.origin == origin } == true
  }

  private func isHeld(_ matches: (ActiveSlot) -> Bool) -> Bool {
    period.lasts && matches(self) || outer?.isHeld(matches) == true
  }
}
