/// The outcome of one run of a batch or a chain: the value or the error, and the report on its members.
///
/// Accessories and the hooks of ``GroupOptions`` receive a `GroupOutcome<Void>`, which has no value.
public struct GroupOutcome<Value: Sendable>: Sendable {
  /// The value or the error of the group. ``APIError/members`` names the failed member.
  public let result: Result<Value, APIError>
  /// The report on the members: their order, durations and sources.
  public let report: GroupReport

  /// True if the group sent at least one call and all responses are from the cache.
  public var isFromCache: Bool { report.isFromCache }
  /// The value; nil for a failure.
  public var value: Value? { try? result.get() }
  /// The error; nil for success.
  public var error: APIError? { result.error }
}

extension GroupOutcome where Value == Void {
  init(error: APIError?, report: GroupReport) {
    self.init(result: error.map { .failure($0) } ?? .success(()), report: report)
  }

  /// Returns an outcome whose result is the error of this outcome, or the given result if this outcome has no error.
  func outcome<Other>(_ result: Result<Other, APIError>) -> GroupOutcome<Other> {
    GroupOutcome<Other>(result: error.map { .failure($0) } ?? result, report: report)
  }
}
