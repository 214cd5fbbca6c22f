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
/// A step begins when the callback of the one before has returned; so a callback may add steps. It is a value: each run
/// has the steps that were added before its start, and those that its own callbacks add.
public struct StepChain: CallGroup {
  /// The name in plans, logs and errors.
  public let name: String
  private var steps: [ChainStep] = []

  /// Makes a chain without steps; it completes at once.
  public init(_ name: String = "chain") { self.name = name }

  /// Adds a step.
  ///
  /// - Parameters:
  ///   - step: A request, or a group or a step of your own.
  ///   - then: Told the step's value on the main actor, before the next step begins; may add steps, stop the chain or
  ///     let it fail. Not called any more once the chain is stopped.
  public mutating func add<S: GroupStep>(_ step: S, then: (@MainActor (S.Response, RunningChain) -> Void)? = nil) {
    steps.append(ChainStep(step, then))
  }

  /// Adds a step whose callback comes on an executor of choice.
  ///
  /// - Parameters:
  ///   - step: A request, or a group or a step of your own.
  ///   - executor: Where the callback comes.
  ///   - then: Told the step's value, before the next step begins; may add steps, stop the chain or let it fail.
  public mutating func add<S: GroupStep>(
    _ step: S, on executor: CallbackExecutor, then: @escaping @Sendable (S.Response, RunningChain) -> Void
  ) {
    steps.append(ChainStep(step, on: executor, then))
  }

  /// Runs one step after the other; returns what they gave, in order.
  public func body(in group: GroupScope) async throws -> StepValues {
    let running = RunningChain(group, steps)
    defer { running.close() }
    var values: [any Sendable] = []
    while let step = try running.next() { values.append(try await step.run(running)) }
    return StepValues(all: values)
  }
}

/// What the steps of a ``StepChain`` gave.
public struct StepValues: Sendable {
  /// The values, in the order of the steps.
  public let all: [any Sendable]

  /// The first value of a type; nil where no step gave one.
  public func first<Value>(_ type: Value.Type) -> Value? { all.lazy.compactMap { $0 as? Value }.first }
}
