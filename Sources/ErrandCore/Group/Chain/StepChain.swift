/// A chain that is built step by step and started later, with a callback for each step.
///
/// ```swift
/// var chain = StepChain()
/// chain.add(Register(name: "x")) { account, chain in
///   chain.add(GetUser(id: account.id))
/// }
/// client.start(chain, delegate: self)
/// ```
///
/// A step starts when the callback of the previous step has returned, so a callback may add steps. A `StepChain` is a
/// value: a run has the steps that were added before the run started, and the steps that the callbacks of the run add.
public struct StepChain: CallGroup {
  /// The name of the chain in reports, logs and errors.
  public let name: String
  private var steps: [ChainStep] = []

  /// Makes a chain without steps. A chain without steps completes at once.
  public init(_ name: String = "chain") { self.name = name }

  /// Adds a step.
  ///
  /// - Parameters:
  ///   - step: A request, a group or a custom step.
  ///   - then: The callback that receives the step's value on the main actor, before the next step starts. The callback
  ///     may add steps, stop the chain or make the chain fail. The callback is not called after the chain was stopped.
  public mutating func add<S: GroupStep>(_ step: S, then: (@MainActor (S.Response, RunningChain) -> Void)? = nil) {
    steps.append(ChainStep(step, then))
  }

  /// Adds a step whose callback runs on the given executor.
  ///
  /// - Parameters:
  ///   - step: A request, a group or a custom step.
  ///   - executor: The executor of the callback.
  ///   - then: The callback that receives the step's value, before the next step starts. The callback may add steps,
  ///     stop the chain or make the chain fail.
  public mutating func add<S: GroupStep>(
    _ step: S, on executor: CallbackExecutor, then: @escaping @Sendable (S.Response, RunningChain) -> Void
  ) {
    steps.append(ChainStep(step, on: executor, then))
  }

  /// Runs one step after the other and returns the values in the order of the steps.
  public func body(in group: GroupScope) async throws -> StepValues {
    let running = RunningChain(group, steps)
    defer { running.close() }
    var values: [any Sendable] = []
    while let step = try running.next() { values.append(try await step.run(running)) }
    return StepValues(all: values)
  }
}

/// The values of the steps of a ``StepChain``.
public struct StepValues: Sendable {
  /// The values, in the order of the steps.
  public let all: [any Sendable]

  /// The first value of the given type; nil if no step returned a value of this type.
  public func first<Value>(_ type: Value.Type) -> Value? { all.lazy.compactMap { $0 as? Value }.first }
}
