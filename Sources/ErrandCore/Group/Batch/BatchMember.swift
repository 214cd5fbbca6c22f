import ErrandSupport

/// One member of one run of a batch: knows how to run and, after, how it ended; nothing of types is said outside.
struct BatchMember: Sendable {
  let name: String
  /// Runs the member in a group; returns why it failed.
  let run: @Sendable (GroupScope) async -> APIError?
}

/// Where the outcome of a member lies until the batch is over.
final class BatchSlot<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, APIError>?>(nil)

  /// A slot for the outcome of a step.
  static func fitting<S: GroupStep>(_ step: S) -> BatchSlot<Value> where S.Response == Value { BatchSlot() }

  /// The member that leaves its outcome here.
  func member<S: GroupStep>(_ step: S) -> BatchMember where S.Response == Value {
    BatchMember(name: step.typeName) { group in
      let came: Result<Value, APIError>
      do throws(APIError) {
        came = .success(try await step.run(in: group))
      } catch {
        came = .failure(error)
      }
      self.result.withLock { $0 = came }
      return came.error
    }
  }

  /// How the member ended; one that was never started was cancelled.
  var outcome: Result<Value, APIError> { result.withLock { $0 } ?? .failure(.stopped(.cancelled)) }

  /// The value of a member that must have one.
  func value() throws(APIError) -> Value { try outcome.get() }
}
