import ErrandSupport

/// A ``StepChain`` at work, for the callbacks of its steps. Any thread may call any member.
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

  /// Who the chain is.
  public var info: GroupInfo { group.info }
  /// What ran so far; it can be printed.
  public var report: GroupReport { group.report }

  /// Adds a step behind all others of this run.
  ///
  /// - Parameters:
  ///   - step: A request, or a group or a step of your own.
  ///   - then: Told the step's value on the main actor, before the next step begins.
  /// - Returns: False, and nothing is added, where the chain was stopped or is over: it has failed, or the callback of
  ///   its last step has returned.
  @discardableResult
  public func add<S: GroupStep>(_ step: S, then: (@MainActor (S.Response, RunningChain) -> Void)? = nil) -> Bool {
    add(ChainStep(step, then))
  }

  /// Adds a step whose callback comes on an executor of choice.
  ///
  /// - Parameters:
  ///   - step: A request, or a group or a step of your own.
  ///   - executor: Where the callback comes.
  ///   - then: Told the step's value, before the next step begins.
  /// - Returns: False, and nothing is added, where the chain was stopped or is over: it has failed, or the callback of
  ///   its last step has returned.
  @discardableResult
  public func add<S: GroupStep>(
    _ step: S, on executor: CallbackExecutor, then: @escaping @Sendable (S.Response, RunningChain) -> Void
  ) -> Bool {
    add(ChainStep(step, on: executor, then))
  }

  /// Cancels the chain: it ends as cancelled, never as a success, and no further callback of a step comes.
  public func stop() { group.cancel() }

  /// Lets the chain fail when the callback that runs now has returned. The first error counts.
  public func fail(_ error: any Error) {
    state.withLock { $0.failure = $0.failure ?? error }
  }

  /// The next step; nil when there is none, and from then on none can be added.
  func next() throws -> ChainStep? {
    try state.withLock { state in
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

  /// The chain is over, whichever way: nothing can be added any more. Lets go of the callbacks, which may hold this.
  func close() {
    let released = state.withLock { state in
      state.isOver = true
      defer { state.steps = [] }
      return state.steps
    }
    _ = released
  }

  /// Runs a callback on an executor and waits for its end. A stop takes back one that has not begun.
  func tell(on executor: CallbackExecutor, _ job: @escaping @Sendable () -> Void) async throws {
    let isOpen = Locked(true)
    let take: @Sendable () -> Bool = {
      isOpen.withLock { isOpen in
        defer { isOpen = false }
        return isOpen
      }
    }
    let waiting = Locked<Wakeup?>(nil)
    try await group.run.state.wait(
      asking: { _ in if take() { waiting.withLock { $0 }?.resume() } },
      { wakeup in
        waiting.withLock { $0 = wakeup }
        executor.run { [group] in
          guard take() else { return }
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
