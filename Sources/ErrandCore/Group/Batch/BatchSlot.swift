import ErrandSupport

/// Stores the outcome of one member of a batch until the batch is over.
final class BatchSlot<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, APIError>?>(nil)

  /// Makes an empty slot for the outcome of a step. The argument only determines the type of the slot.
  static func fitting<S: GroupStep>(_ step: S) -> BatchSlot<Value> where S.Response == Value { BatchSlot() }

  /// Runs a step and stores its result. Returns the error if the step fails.
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

  /// The result of the member; nil if the member was never started.
  var outcome: Result<Value, APIError>? { result.withLock { $0 } }

  /// The result of the member, or `failure` if the member was never started.
  func outcome(else failure: APIError) -> Result<Value, APIError> { outcome ?? .failure(failure) }

  /// The value of the member.
  /// - Throws: The member's error; an error of stage `cancelled` if the member was never started.
  func value() throws(APIError) -> Value {
    guard let outcome else { throw .stopped(.cancelled) }
    return try outcome.get()
  }
}
