import ErrandSupport

/// The outcome of one call: the value or the error, together with the request, the response and the measurements.
public struct Outcome<Value: Sendable>: Sendable {
  /// The value of a successful call, or the error of a failed call.
  public let result: Result<Value, APIError>
  /// The request as it was last sent, after redirects; nil if no request could be built.
  public let request: HTTPRequest?
  /// The response: status, header fields and the bytes of the body; nil if there is no response.
  public let response: HTTPResponse?
  /// Whether the response comes from the network or the cache; nil if there is no response.
  public let origin: ResponseOrigin?
  /// The measurements of the call.
  public let metrics: CallMetrics
  /// True if a `cachedThenFresh` call delivers a fresh response that equals the stored response that it delivered
  /// before.
  public let isUnchanged: Bool

  /// The outcome of a call that was never started.
  static func failed(_ error: APIError) -> Outcome {
    Outcome(
      result: .failure(error), request: nil, response: nil, origin: nil, metrics: CallMetrics(), isUnchanged: false)
  }

  /// Returns a copy of the outcome in which `change` has replaced the error; a success is unchanged.
  func mapError(_ change: (APIError) -> APIError) -> Outcome {
    with(result.mapError(change))
  }

  /// A copy of the outcome whose result is the error of a cancelled call.
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
