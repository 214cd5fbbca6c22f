/// Requests that run side by side and end as one, as a value: it can be started with callbacks, again, and as a step of
/// another batch or a chain.
///
/// ```swift
/// let page = Batch(GetUser(id: 7), Avatar(name: "x"), LatestNews())
/// client.start(page) { user, avatar, news in … } onFailure: { error in print(error.members) }
/// ```
///
/// In `async` code the verbs of ``CallSender`` are shorter: `try await client.batch(GetUser(id: 7), Avatar(name:
/// "x"))`. An empty batch completes at once.
public struct Batch<Response: Sendable>: CallGroup {
  /// One run of the members: what runs, and what becomes of it.
  struct Parts: Sendable {
    let members: BatchMembers
    /// What comes of it; takes the members that have succeeded, in the order of their ends.
    let response: @Sendable ([Int]) throws(APIError) -> Response
  }

  private let goal: BatchMachine.Goal
  private let width: Int?
  private let parts: @Sendable () -> Parts

  /// A batch.
  public var kind: GroupKind { .batch }
  /// The kind's name.
  public var name: String { "batch" }

  /// - Parameters:
  ///   - width: How many members run at once; nil for all.
  ///   - parts: Makes the members of one run.
  init(_ goal: BatchMachine.Goal, width: Int?, parts: @escaping @Sendable () -> Parts) {
    self.goal = goal
    self.width = width
    self.parts = parts
  }

  /// Runs the members side by side.
  public func body(in group: GroupScope) async throws -> Response {
    let parts = parts()
    return try parts.response(try await run(parts.members, in: group))
  }

  /// Runs the members until the goal is reached or missed; those that still run then are cancelled and awaited. Returns
  /// the members that have succeeded, in the order of their ends.
  private func run(_ members: BatchMembers, in group: GroupScope) async throws(APIError) -> [Int] {
    group.run.ledger.expect(members.count)
    if case .successes(let wanted) = goal, wanted > members.count { throw Self.tooFew(wanted, members.count) }
    let count = min(members.count, max(width ?? members.count, 1))
    let run = BatchRun(members, goal, tasks: count)
    if count == 0 { return try run.successes() }
    try? await withThrowingDiscardingTaskGroup { tasks in
      for _ in 0..<count { tasks.addTask { try await run.work(in: group) } }
      // A stop leaves here and cancels the tasks: so it reaches whatever else their steps wait for.
      try await run.wait(group.run.state)
    }
    return try run.successes()
  }

  private static func tooFew(_ wanted: Int, _ count: Int) -> APIError {
    let successes = wanted == 1 ? "1 success was" : "\(wanted) successes were"
    let members = count == 0 ? "no members" : count == 1 ? "1 member" : "\(count) members"
    return APIError(
      .group, .tooFew, "\(successes) asked for, and the batch has \(members); ask for fewer, or give it more.")
  }
}

extension Batch {
  /// A batch of different requests, whose value is a tuple of theirs; the first failure cancels the rest.
  ///
  /// - Parameters:
  ///   - step: The requests, or groups and steps of your own.
  ///   - width: How many run at once; nil for all, less than one counts as one.
  public init<each S: GroupStep>(_ step: repeat each S, width: Int? = nil)
  where Response == (repeat (each S).Response) {
    let tuple = BatchTuple(repeat each step)
    self.init(.all, width: width) { tuple.parts }
  }

  /// A batch of requests of one kind, whose value is an array of theirs in the same order; the first failure cancels
  /// the rest.
  ///
  /// - Parameters:
  ///   - steps: The requests, or groups and steps of your own.
  ///   - width: How many run at once; nil for all, less than one counts as one.
  public init<S: Sequence>(_ steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [S.Element.Response] {
    let steps = Array(steps)
    self.init(.all, width: width) {
      Self.parts(steps) { slots, _ throws(APIError) in try slots.map { slot throws(APIError) in try slot.value() } }
    }
  }

  /// A batch of requests that are known only at run time, whose value is an array of theirs in the same order; the
  /// first failure cancels the rest.
  public init(mixed steps: [any GroupStep], width: Int? = nil) where Response == [any Sendable] {
    self.init(.all, width: width) {
      Self.parts(mixed: steps) { entries, _ throws(APIError) in
        try entries.map { entry throws(APIError) in try entry.value() }
      }
    }
  }

  /// A batch in which every request comes to its own end; its value is how each of them ended, in the same order.
  public init<S: Sequence>(outcomesOf steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [Result<S.Element.Response, APIError>] {
    let steps = Array(steps)
    self.init(.outcomes, width: width) {
      Self.parts(steps) { slots, _ in slots.map { $0.outcome ?? .failure(.stopped(.cancelled)) } }
    }
  }

  /// A batch of requests that are known only at run time, in which every one comes to its own end; its value is how
  /// each of them ended, in the same order.
  public init(outcomesOfMixed steps: [any GroupStep], width: Int? = nil)
  where Response == [Result<any Sendable, APIError>] {
    self.init(.outcomes, width: width) {
      Self.parts(mixed: steps) { entries, _ in entries.map { $0.outcome() ?? .failure(.stopped(.cancelled)) } }
    }
  }

  /// A batch whose value is the first success; the rest is cancelled. It fails when every request has failed, with the
  /// failure that came first.
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

  /// A batch of requests that are known only at run time, whose value is the first success; the rest is cancelled. It
  /// fails when every request has failed, with the failure that came first.
  public init(firstOfMixed steps: [any GroupStep], width: Int? = nil) where Response == any Sendable {
    self.init(.successes(1), width: width) {
      Self.parts(mixed: steps) { entries, successes throws(APIError) in
        guard let first = successes.first else { throw APIError.stopped(.cancelled) }
        return try entries[first].value()
      }
    }
  }

  /// A batch that ends with the success of so many requests; the rest is cancelled. Its value holds theirs, in the
  /// order of the requests. It fails as soon as it cannot succeed any more, with the failure that came first.
  public init<S: Sequence>(atLeast count: Int, of steps: S, width: Int? = nil)
  where S.Element: GroupStep, Response == [S.Element.Response] {
    let steps = Array(steps)
    self.init(.successes(max(count, 0)), width: width) {
      Self.parts(steps) { slots, successes throws(APIError) in
        try successes.sorted().map { index throws(APIError) in try slots[index].value() }
      }
    }
  }

  /// A batch of requests that are known only at run time, which ends with the success of so many; the rest is
  /// cancelled. Its value holds theirs, in the order of the requests. It fails as soon as it cannot succeed any more,
  /// with the failure that came first.
  public init(atLeast count: Int, ofMixed steps: [any GroupStep], width: Int? = nil)
  where Response == [any Sendable] {
    self.init(.successes(max(count, 0)), width: width) {
      Self.parts(mixed: steps) { entries, successes throws(APIError) in
        try successes.sorted().map { index throws(APIError) in try entries[index].value() }
      }
    }
  }

  private static func parts<S: GroupStep>(
    _ steps: [S], _ response: @escaping @Sendable ([BatchSlot<S.Response>], [Int]) throws(APIError) -> Response
  ) -> Parts {
    let row = BatchRow(steps)
    return Parts(members: row.members) { successes throws(APIError) in try response(row.slots, successes) }
  }

  private static func parts(
    mixed steps: [any GroupStep],
    _ response: @escaping @Sendable ([MixedEntry], [Int]) throws(APIError) -> Response
  ) -> Parts {
    let entries = steps.map { MixedEntry($0) }
    return Parts(members: BatchMembers(entries)) { successes throws(APIError) in try response(entries, successes) }
  }
}

/// The members of a batch of different types.
private struct BatchTuple<each S: GroupStep>: Sendable {
  private let steps: (repeat each S)

  init(_ step: repeat each S) { steps = (repeat each step) }

  var parts: Batch<(repeat (each S).Response)>.Parts {
    let slots = (repeat BatchSlot.fitting(each steps))
    var entries: [MixedEntry] = []
    repeat entries.append(MixedEntry(each steps, each slots))
    return .init(members: BatchMembers(entries)) { _ throws(APIError) in
      (repeat try (each slots).value())
    }
  }
}

/// The members of a batch of one kind, and where their outcomes lie.
struct BatchRow<S: GroupStep>: Sendable {
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

/// The members of one run of a batch: how each runs, and what it is called; nothing of types is said outside.
struct BatchMembers: Sendable {
  let count: Int
  let name: @Sendable (Int) -> MemberName
  /// Runs a member in a group; returns why it failed.
  let run: @Sendable (Int, GroupScope) async -> APIError?
}
