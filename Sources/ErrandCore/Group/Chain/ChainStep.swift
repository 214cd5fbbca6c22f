import ErrandSupport

/// A step of a chain with its callback; nothing of types is said outside.
struct ChainStep: Sendable {
  /// Runs the step and its callback.
  let run: @Sendable (RunningChain) async throws -> any Sendable

  init<S: GroupStep>(_ step: S, _ then: (@MainActor (S.Response, RunningChain) -> Void)?) {
    run = { chain in
      let value = try await step.run(in: chain.group)
      if let then {
        try await chain.tell(on: .main) { MainActor.assumeIsolated { then(value, chain) } }
      }
      return value
    }
  }

  init<S: GroupStep>(
    _ step: S, on executor: CallbackExecutor, _ then: @escaping @Sendable (S.Response, RunningChain) -> Void
  ) {
    run = { chain in
      let value = try await step.run(in: chain.group)
      try await chain.tell(on: executor) { then(value, chain) }
      return value
    }
  }
}
