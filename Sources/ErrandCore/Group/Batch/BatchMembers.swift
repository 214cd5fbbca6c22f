import ErrandSupport

/// The members of one run of a batch: how each runs, and what it is called; nothing of types is said outside.
struct BatchMembers: Sendable {
  let count: Int
  let name: @Sendable (Int) -> MemberName
  /// Runs a member in a group; returns why it failed.
  let run: @Sendable (Int, GroupScope) async -> APIError?
}

/// Where the outcome of a member lies until the batch is over.
final class BatchSlot<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, APIError>?>(nil)

  /// A slot for the outcome of a step.
  static func fitting<S: GroupStep>(_ step: S) -> BatchSlot<Value> where S.Response == Value { BatchSlot() }

  /// Runs a step and keeps how it ended; returns why it failed.
  func run<S: GroupStep>(_ step: S, in group: GroupScope) async -> APIError? where S.Response == Value {
    do throws(APIError) {
      let value = try await step.run(in: group)
      result.withLock { $0 = .success(value) }
      return nil
    } catch {
      result.withLock { $0 = .failure(error) }
      return error
    }
  }

  /// How the member ended; nil for one that was never started.
  var outcome: Result<Value, APIError>? { result.withLock { $0 } }

  /// The value of a member that must have one.
  func value() throws(APIError) -> Value {
    guard let outcome else { throw .stopped(.cancelled) }
    return try outcome.get()
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
