import ErrandSupport

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

  /// How the member ended, or that it was never started.
  func outcome(else failure: APIError) -> Result<Value, APIError> { outcome ?? .failure(failure) }

  /// The value of a member that must have one.
  func value() throws(APIError) -> Value {
    guard let outcome else { throw .stopped(.cancelled) }
    return try outcome.get()
  }
}
