/// Requests that run side by side and end as one, as a value: it can be started with callbacks, again, and as a step of
/// another batch or a chain.
///
/// ```swift
/// let page = Batch(GetUser(id: 7), Avatar(name: "x"), LatestNews())
/// client.start(page) { user, avatar, news in … } onFailure: { error in print(error.members) }
/// ```
///
/// In `async` code the verbs of ``CallSender`` are shorter: `try await client.batch(GetUser(id: 7), Avatar(name: "x"))`.
/// An empty batch completes at once.
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
