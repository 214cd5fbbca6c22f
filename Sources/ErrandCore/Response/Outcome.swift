import ErrandSupport

/// How one run of a request ended: the value or the error, and all that is known beside it.
public struct Outcome<Value: Sendable>: Sendable {
  /// The value or the error.
  public let result: Result<Value, APIError>
  /// The request as it was sent last, redirects followed; nil where none could be built.
  public let request: HTTPRequest?
  /// The answer, if one came: status, fields and raw body.
  public let response: HTTPResponse?
  /// Where the answer came from; nil where none came.
  public let origin: ResponseOrigin?
  /// What was measured.
  public let metrics: CallMetrics
  /// Whether it is the same answer that was told before as the stored one, in `cached, then fresh`.
  public let isUnchanged: Bool

  /// The end of a call that was never made.
  static func failed(_ error: APIError) -> Outcome {
    Outcome(
      result: .failure(error), request: nil, response: nil, origin: nil, metrics: CallMetrics(), isUnchanged: false)
  }

  /// The same with another error in the place of its own.
  func mapError(_ change: (APIError) -> APIError) -> Outcome {
    with(result.mapError(change))
  }

  /// The same as the end of a call that was cancelled.
  var cancelled: Outcome { with(.failure(.stopped(.cancelled))) }

  private func with(_ result: Result<Value, APIError>) -> Outcome {
    Outcome(
      result: result, request: request, response: response, origin: origin, metrics: metrics, isUnchanged: isUnchanged)
  }

  /// The value; nil for a failure.
  public var value: Value? { try? result.get() }
  /// The error; nil for success.
  public var error: APIError? { if case .failure(let error) = result { error } else { nil } }
}
