/// Requests that run concurrently and end together. A batch is a value: it can be started with callbacks, started
/// several times, and used as a step of another batch or a chain.
///
/// ```swift
/// let page = Batch(GetUser(id: 7), Avatar(name: "x"), LatestNews())
/// client.start(page) { user, avatar, news in … } onFailure: { error in print(error.members) }
/// ```
///
/// In `async` code the functions of ``CallSender`` are shorter: `try await client.batch(GetUser(id: 7), Avatar(name:
/// "x"))`. A batch without members completes at once.
public struct Batch<Response: Sendable>: CallGroup {
  /// The members of one run of a batch, and the function that makes the value of the batch from the values of the
  /// members.
  struct Parts: Sendable {
    let members: BatchMembers
    /// Makes the value of the batch. The argument contains the indexes of the members that have succeeded, in the order
    /// in which they ended.
    let response: @Sendable ([Int]) throws(APIError) -> Response
  }

  private let goal: BatchMachine.Goal
  private let width: Int?
  private let parts: @Sendable () -> Parts

  /// The kind of the group, which is always ``GroupKind/batch``.
  public var kind: GroupKind { .batch }
  /// The name of the group, which is always `batch`.
  public var name: String { "batch" }

  /// Makes a batch that ends when its goal is reached or can no longer be reached.
  ///
  /// - Parameters:
  ///   - width: The maximum number of members that run at the same time; nil for no limit.
  ///   - parts: A closure that returns the `Parts` of a new run of the batch.
  init(_ goal: BatchMachine.Goal, width: Int?, parts: @escaping @Sendable () -> Parts) {
    self.goal = goal
    self.width = width
    self.parts = parts
  }

  /// Runs the members concurrently.
  public func body(in group: GroupScope) async throws -> Response {
    let parts = parts()
    return try parts.response(try await run(parts.members, in: group))
  }

  /// Runs the members until the goal of the batch is reached or can no longer be reached. Then cancels the members that
  /// still run, and waits for their ends. Returns the indexes of the members that have succeeded, in the order in which
  /// they ended.
  private func run(_ members: BatchMembers, in group: GroupScope) async throws(APIError) -> [Int] {
    group.run.record.expect(members.count)
    if case .successes(let wanted) = goal, wanted > members.count { throw Self.tooFew(wanted, members.count) }
    let count = min(members.count, max(width ?? members.count, 1))
    let run = BatchRun(members, goal, tasks: count)
    if count == 0 { return try run.successes() }
    try? await withThrowingDiscardingTaskGroup { tasks in
      for _ in 0..<count { tasks.addTask { try await run.work(in: group) } }
      // If the group is stopped, `wait` throws, and the task group cancels its tasks. Custom steps need this
      // cancellation, because a custom step may wait for something that is not a call of the group.
      try await run.wait(group.run.state)
    }
    return try run.successes()
  }

  private static func tooFew(_ wanted: Int, _ count: Int) -> APIError {
    let successes = wanted == 1 ? "1 success" : "\(wanted) successes"
    let members = count == 0 ? "no members" : count == 1 ? "1 member" : "\(count) members"
    return APIError(
      .group, .tooFew, "The batch needs \(successes), but has \(members); require fewer successes, or add members.")
  }
}

extension Batch {
  /// Makes a batch of requests of different types. The value of the batch is a tuple of their values. The first failure
  /// cancels the other requests.
  ///
  /// - Parameters:
  ///   - step: The requests. Groups and custom steps are possible, too.
  ///   - width: The maximum number of members that run at the same time; nil for no limit. A value below one counts as
  ///     one.
  public init<each S: GroupStep>(_ step: repeat each S, width: Int? = nil)
  where Response == (repeat (each S).Response) {
    let tuple = BatchTuple(repeat each step)
    self.init(.all, width: width) { tuple.parts }
  }

  /// Makes a batch of requests of one type. The value of the batch is an array of their values, in the order of the
  /// requests. The first failure cancels the other requests.
  ///
  /// - Parameters:
  ///   - steps: The requests. Groups and custom steps are possible, too.
  ///   - width: The maximum number of members that run at the same time; nil for no limit. A value below one counts as
  ///     one.
  public init<S: Sequence>(_ steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [S.Element.Response] {
    let steps = Array(steps)
    self.init(.all, width: width) {
      Self.parts(steps) { slots, _ throws(APIError) in try slots.map { slot throws(APIError) in try slot.value() } }
    }
  }

  /// Makes a batch of requests of mixed types. The value of the batch is an array of their values, in the order of the
  /// requests. The first failure cancels the other requests.
  public init(mixed steps: [any GroupStep], width: Int? = nil) where Response == [any Sendable] {
    self.init(steps.map(AnyStep.init), width: width)
  }

  /// Makes a batch that runs every request to its end. The value of the batch is an array of their results, in the
  /// order of the requests.
  public init<S: Sequence>(outcomesOf steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [Result<S.Element.Response, APIError>] {
    let steps = Array(steps)
    self.init(.outcomes, width: width) {
      Self.parts(steps) { slots, _ in slots.map { $0.outcome ?? .failure(.stopped(.cancelled)) } }
    }
  }

  /// Makes a batch of requests of mixed types that runs every request to its end. The value of the batch is an array of
  /// their results, in the order of the requests.
  public init(outcomesOfMixed steps: [any GroupStep], width: Int? = nil)
  where Response == [Result<any Sendable, APIError>] {
    self.init(outcomesOf: steps.map(AnyStep.init), width: width)
  }

  /// Makes a batch whose value is the first value that arrives; the other requests are then cancelled. If every request
  /// fails, the batch fails with the first failure.
  public init<S: Sequence>(firstOf steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == S.Element.Response {
    let steps = Array(steps)
    self.init(.successes(1), width: width) {
      Self.parts(steps) { slots, successes throws(APIError) in
        guard let first = successes.first else { throw APIError.stopped(.cancelled) }
        return try slots[first].value()
      }
    }
  }

  /// Makes a batch of requests of mixed types whose value is the first value that arrives; the other requests are then
  /// cancelled. If every request fails, the batch fails with the first failure.
  public init(firstOfMixed steps: [any GroupStep], width: Int? = nil) where Response == any Sendable {
    self.init(firstOf: steps.map(AnyStep.init), width: width)
  }

  /// Makes a batch that ends when `count` requests have succeeded; the other requests are then cancelled. The value of
  /// the batch contains the values of the successful requests, in the order of the requests. The batch fails with the
  /// first failure as soon as `count` successes are no longer possible.
  public init<S: Sequence>(atLeast count: Int, of steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [S.Element.Response] {
    let steps = Array(steps)
    self.init(.successes(max(count, 0)), width: width) {
      Self.parts(steps) { slots, successes throws(APIError) in
        try successes.sorted().map { index throws(APIError) in try slots[index].value() }
      }
    }
  }

  /// Makes a batch of requests of mixed types that ends when `count` requests have succeeded; the other requests are
  /// then cancelled. The value of the batch contains the values of the successful requests, in the order of the
  /// requests. The batch fails with the first failure as soon as `count` successes are no longer possible.
  public init(atLeast count: Int, ofMixed steps: [any GroupStep], width: Int? = nil)
  where Response == [any Sendable] {
    self.init(atLeast: count, of: steps.map(AnyStep.init), width: width)
  }

  private static func parts<S: GroupStep>(
    _ steps: [S], _ response: @escaping @Sendable ([BatchSlot<S.Response>], [Int]) throws(APIError) -> Response
  ) -> Parts {
    let uniform = UniformMembers(steps)
    return Parts(members: uniform.members) { successes throws(APIError) in try response(uniform.slots, successes) }
  }
}

/// The members of a batch that was made from a parameter pack. The members may have different types, which are known at
/// compile time.
private struct BatchTuple<each S: GroupStep>: Sendable {
  private let steps: (repeat each S)

  init(_ step: repeat each S) { steps = (repeat each step) }

  var parts: Batch<(repeat (each S).Response)>.Parts {
    let slots = (repeat BatchSlot.fitting(each steps))
    var members: [AnyMember] = []
    repeat members.append(AnyMember(each steps, each slots))
    return .init(members: BatchMembers(members)) { _ throws(APIError) in
      (repeat try (each slots).value())
    }
  }
}

/// The members of a batch, which all have the same type, and the storage for their outcomes.
struct UniformMembers<S: GroupStep>: Sendable {
  let steps: [S]
  let slots: [BatchSlot<S.Response>]

  init(_ steps: [S]) {
    self.steps = steps
    slots = steps.map { BatchSlot.fitting($0) }
  }

  var members: BatchMembers {
    BatchMembers(
      count: steps.count, name: { [steps] in MemberName(ofAny: steps[$0]) },
      run: { index, group in await slots[index].run(steps[index], in: group) })
  }
}

/// The members of one run of a batch in type-erased form: their number, their names, and a function that runs one
/// member.
struct BatchMembers: Sendable {
  let count: Int
  let name: @Sendable (Int) -> MemberName
  /// Runs the member with the given index in the given group. Returns the error of the member; nil if the member
  /// succeeded.
  let run: @Sendable (Int, GroupScope) async -> APIError?
}

extension BatchMembers {
  init(_ members: [AnyMember]) {
    self.init(
      count: members.count, name: { members[$0].name() }, run: { index, group in await members[index].run(group) })
  }
}

/// A member of a batch that was made from a parameter pack, in type-erased form.
struct AnyMember: Sendable {
  let name: @Sendable () -> MemberName
  let run: @Sendable (GroupScope) async -> APIError?

  init<S: GroupStep>(_ step: S, _ slot: BatchSlot<S.Response>) {
    name = { MemberName(ofAny: step) }
    run = { group in await slot.run(step, in: group) }
  }
}

/// A step of any type, so that steps of different types can be elements of one array.
struct AnyStep: GroupStep {
  let base: any GroupStep

  func run(in group: GroupScope) async throws(APIError) -> any Sendable { try await base.run(in: group) }
}
