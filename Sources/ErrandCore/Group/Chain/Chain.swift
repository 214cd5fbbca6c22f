/// Steps that can use the values of earlier steps. A chain is a value: it can be started with callbacks, started
/// several times, and used as a step of another chain or a batch.
///
/// ```swift
/// let signUp = Chain("sign up") { chain in
///   let account = try await chain.send(Register(name: "x"))
///   async let user = chain.send(GetUser(id: account.id))
///   async let avatar = chain.send(Avatar(name: account.avatar))
///   return try await chain.send(Welcome(user, avatar))
/// }
/// client.start(signUp) { welcome in … }
/// ```
///
/// In `async` code the method ``APIClient/chain(options:_:)`` is shorter. If the closure throws an error, the `async
/// let` branches that still run are cancelled. The closure may run in any task. A closure that uses the main actor must
/// declare it: `{ @MainActor chain in … }`.
public struct Chain<Response: Sendable>: CallGroup {
  /// The name of the chain in reports, logs and errors.
  public let name: String
  private let steps: @Sendable (GroupScope) async throws -> Response

  /// Makes a chain.
  public init(_ name: String = "chain", _ steps: @escaping @Sendable (GroupScope) async throws -> Response) {
    self.name = name
    self.steps = steps
  }

  /// Runs the steps.
  public func body(in group: GroupScope) async throws -> Response { try await steps(group) }
}

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
