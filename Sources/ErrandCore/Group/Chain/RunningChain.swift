import ErrandSupport

/// A running ``StepChain``, which the callbacks of its steps receive. All methods and properties may be used on any
/// thread.
public final class RunningChain: Sendable {
  private struct State: Sendable {
    var steps: [ChainStep]
    var nextStep = 0
    var failure: (any Error)?
    var isOver = false
  }

  let group: GroupScope
  private let state: Locked<State>

  init(_ group: GroupScope, _ steps: [ChainStep]) {
    self.group = group
    state = Locked(State(steps: steps))
  }

  /// The report on the steps so far. The report can be printed.
  public var report: GroupReport { group.run.record.report }

  /// Adds a step to this run of the chain, after all other steps.
  ///
  /// - Parameters:
  ///   - step: A request, a group or a custom step.
  ///   - then: The callback that receives the step's value on the main actor, before the next step starts.
  /// - Returns: True if the step was added. False if the chain was stopped, has failed, or has ended because the
  ///   callback of its last step has returned.
  @discardableResult
  public func add<S: GroupStep>(_ step: S, then: (@MainActor (S.Response, RunningChain) -> Void)? = nil) -> Bool {
    add(ChainStep(step, then))
  }

  /// Adds a step to this run of the chain, after all other steps. The callback of the step runs on the given executor.
  ///
  /// - Parameters:
  ///   - step: A request, a group or a custom step.
  ///   - executor: The executor of the callback.
  ///   - then: The callback that receives the step's value, before the next step starts.
  /// - Returns: True if the step was added. False if the chain was stopped, has failed, or has ended because the
  ///   callback of its last step has returned.
  @discardableResult
  public func add<S: GroupStep>(
    _ step: S, on executor: CallbackExecutor, then: @escaping @Sendable (S.Response, RunningChain) -> Void
  ) -> Bool {
    add(ChainStep(step, on: executor, then))
  }

  /// Cancels the chain. The chain ends as cancelled, never as a success, and no further callback of a step is called.
  public func stop() { group.cancel() }

  /// Makes the chain fail with the given error when the current callback has returned. If the function is called
  /// several times, the first error counts.
  public func fail(_ error: any Error) {
    state.withLock { $0.failure = $0.failure ?? error }
  }

  /// Returns the next step; nil if no step is left. After this method has returned nil, no step can be added.
  /// - Throws: The error of ``fail(_:)``, or an error if the chain was stopped.
  func next() throws -> ChainStep? {
    try group.run.state.check()
    return try state.withLock { state in
      if let failure = state.failure {
        state.isOver = true
        throw failure
      }
      guard state.steps.indices.contains(state.nextStep) else {
        state.isOver = true
        return nil
      }
      defer { state.nextStep += 1 }
      return state.steps[state.nextStep]
    }
  }

  /// Ends the chain, so that no step can be added. Also releases the callbacks, because they may retain this object.
  func close() {
    let released = state.withLock { state in
      state.isOver = true
      defer { state.steps = [] }
      return state.steps
    }
    _ = released
  }

  /// Runs a callback on an executor and waits until it has returned. If the chain is stopped before the callback
  /// starts, the callback is not called.
  func runCallback(on executor: CallbackExecutor, _ job: @escaping @Sendable () -> Void) async throws {
    let isTaken = Locked(false)
    let waiting = Locked<Wakeup?>(nil)
    try await group.run.state.wait(
      asking: { _ in if isTaken.setOnce() { waiting.withLock { $0 }?.resume() } },
      { wakeup in
        waiting.withLock { $0 = wakeup }
        executor.run { [group] in
          guard isTaken.setOnce() else { return }
          if !group.isStopped { job() }
          wakeup.resume()
        }
      })
  }

  private func add(_ step: ChainStep) -> Bool {
    if group.isStopped { return false }
    return state.withLock { state in
      if state.isOver { return false }
      state.steps.append(step)
      return true
    }
  }
}

/// A step of a chain and its callback, in type-erased form.
struct ChainStep: Sendable {
  /// Runs the step, then its callback, and returns the value of the step.
  let run: @Sendable (RunningChain) async throws -> any Sendable

  init<S: GroupStep>(_ step: S, _ then: (@MainActor (S.Response, RunningChain) -> Void)?) {
    run = { chain in
      let value = try await step.run(in: chain.group)
      if let then {
        try await chain.runCallback(on: .main) { MainActor.assumeIsolated { then(value, chain) } }
      }
      return value
    }
  }

  init<S: GroupStep>(
    _ step: S, on executor: CallbackExecutor, _ then: @escaping @Sendable (S.Response, RunningChain) -> Void
  ) {
    run = { chain in
      let value = try await step.run(in: chain.group)
      try await chain.runCallback(on: executor) { then(value, chain) }
      return value
    }
  }
}
