/// How one run of a batch or a chain ended, for accessories and hooks.
public struct GroupEnding: Sendable {
  /// Why it failed; nil for success. ``APIError/members`` says which member it was.
  public let error: APIError?
  /// What ran, in which order, how long, and from where.
  public let report: GroupReport

  /// Whether there were calls and the answers of all of them came from the cache.
  public var isFromCache: Bool { report.isFromCache }
}

/// How one run of a batch or a chain ended: the value or the error, and the plan of what ran.
public struct GroupOutcome<Value: Sendable>: Sendable {
  /// The value or the error. ``APIError/members`` says which member failed.
  public let result: Result<Value, APIError>
  /// What ran, in which order, how long, and from where.
  public let report: GroupReport

  /// Whether there were calls and the answers of all of them came from the cache.
  public var isFromCache: Bool { report.isFromCache }
  /// The value; nil for a failure.
  public var value: Value? { try? result.get() }
  /// The error; nil for success.
  public var error: APIError? { if case .failure(let error) = result { error } else { nil } }
}

extension GroupEnding {
  /// The same with the value that came, if nothing turned it.
  func outcome<Value>(_ came: Result<Value, APIError>) -> GroupOutcome<Value> {
    GroupOutcome(result: error.map { .failure($0) } ?? came, report: report)
  }
}

extension Result where Failure == APIError {
  var error: APIError? { if case .failure(let error) = self { error } else { nil } }
}
