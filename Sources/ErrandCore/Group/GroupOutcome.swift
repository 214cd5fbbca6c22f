/// The ending of one run of a batch or a chain, without its value. Accessories and hooks receive this type.
public struct GroupEnding: Sendable {
  /// The error of the group; nil for success. ``APIError/members`` names the failed member.
  public let error: APIError?
  /// The report on the members: their order, durations and sources.
  public let report: GroupReport

  /// True if the group sent at least one call and all responses are from the cache.
  public var isFromCache: Bool { report.isFromCache }
}

/// The outcome of one run of a batch or a chain: the value or the error, and the report on its members.
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
  public var error: APIError? { if case .failure(let error) = result { error } else { nil } }
}

extension GroupEnding {
  /// Returns an outcome whose result is the error of this ending, or the given result if this ending has no error.
  func outcome<Value>(_ result: Result<Value, APIError>) -> GroupOutcome<Value> {
    GroupOutcome(result: error.map { .failure($0) } ?? result, report: report)
  }
}

extension Result where Failure == APIError {
  var error: APIError? { if case .failure(let error) = self { error } else { nil } }
}
