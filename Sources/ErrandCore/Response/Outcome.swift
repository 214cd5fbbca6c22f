import ErrandSupport

/// The outcome of one call: the value or the error, together with the request, the response and the metrics.
///
/// Accessories and the hooks of ``CallOptions`` receive an `Outcome<Void>`, which has no value.
public struct Outcome<Value: Sendable>: Sendable {
  /// The value of a successful call, or the error of a failed call.
  public let result: Result<Value, APIError>
  private let details: Boxed<CallDetails>
  /// True if a `cachedThenFresh` call delivers a fresh response that equals the stored response that it delivered
  /// before.
  public internal(set) var isUnchanged = false

  fileprivate init(_ result: Result<Value, APIError>, _ details: Boxed<CallDetails>, isUnchanged: Bool) {
    self.result = result
    self.details = details
    self.isUnchanged = isUnchanged
  }

  /// The request as it was last sent, after redirects; nil if no request could be built.
  public var request: HTTPRequest? { details.value.request }
  /// The response: status, header fields and the bytes of the body; nil if there is no response.
  public var response: HTTPResponse? { details.value.response }
  /// Whether the response comes from the network or the cache; nil if there is no response.
  public var origin: ResponseOrigin? { details.value.origin }
  /// The metrics of the call.
  public var metrics: CallMetrics { details.value.metrics }
  /// The value; nil for a failure.
  public var value: Value? { try? result.get() }
  /// The error; nil for success.
  public var error: APIError? { result.error }

  /// The outcome of a call that was never started.
  static func failed(_ error: APIError) -> Outcome {
    Outcome(.failure(error), Boxed(CallDetails()), isUnchanged: false)
  }

  func with<Other>(_ result: Result<Other, APIError>) -> Outcome<Other> {
    Outcome<Other>(result, details, isUnchanged: isUnchanged)
  }

  var cancelled: Outcome { with(.failure(.stopped(.cancelled))) }

  /// The value of the call as an ``APIResponse``, which also contains the request, the response and the metrics. Nil if
  /// the call failed.
  var full: APIResponse<Value>? {
    guard let value, let request, let response, let origin else { return nil }
    return APIResponse(
      value: value, request: request, raw: response, origin: origin, metrics: metrics, isUnchanged: isUnchanged)
  }

  /// The same as ``full``, with a value of any type, for delegates.
  var erased: APIResponse<any Sendable>? { full.map { $0.with($0.value as any Sendable) } }
}

extension Outcome where Value == Void {
  init(
    error: APIError?, request: HTTPRequest?, response: HTTPResponse?, origin: ResponseOrigin?, metrics: CallMetrics
  ) {
    let details = CallDetails(request: request, response: response, origin: origin, metrics: metrics)
    self.init(error.map { .failure($0) } ?? .success(()), Boxed(details), isUnchanged: false)
  }

  /// The cache entry whose response this call rejected, for example because of its JSON structure, its business code or
  /// its decoder; nil if the call did not fail in this way. An entry that was rejected because of its status is not
  /// returned.
  var rejectedEntry: (any StoredHit)? {
    guard let error, error.stage == .decode || error.stage == .validate, error.code != .status else { return nil }
    return error.response?.hit ?? response?.hit
  }
}

extension Result where Failure == APIError {
  var error: APIError? { if case .failure(let error) = self { error } else { nil } }

  func notify(_ onSuccess: (Success) -> Void, _ onFailure: ((APIError) -> Void)?) {
    switch self {
    case .success(let value): onSuccess(value)
    case .failure(let error): onFailure?(error)
    }
  }
}

/// The values of an ``Outcome`` that do not depend on its type. They are stored in a box, because outcomes are
/// copied often and are stored in the async frames of waiting calls.
private struct CallDetails: Sendable {
  var request: HTTPRequest?
  var response: HTTPResponse?
  var origin: ResponseOrigin?
  var metrics = CallMetrics()
}

/// A successful response: the decoded value and its metadata.
public struct APIResponse<Value: Sendable>: Sendable {
  /// The decoded value. For a ``CallDelegate`` its type is the `Response` type of the request;
  /// ``CallInfo/value(of:in:)`` returns it with this type.
  public let value: Value
  /// The request as it was last sent, after redirects.
  public let request: HTTPRequest
  /// The HTTP response: status, header fields and the bytes of the body.
  public let raw: HTTPResponse
  /// Whether the response comes from the network or the cache.
  public let origin: ResponseOrigin
  /// The metrics of the call, such as its duration.
  public let metrics: CallMetrics
  /// True if a `cachedThenFresh` call delivers a fresh response that equals the stored response that it delivered
  /// before.
  public let isUnchanged: Bool

  /// The status code of the response.
  public var status: Int { raw.status }
  /// The header fields of the response.
  public var fields: HTTPFields { raw.fields }

  /// Not available. The status code is ``status``.
  @available(*, unavailable, renamed: "status")
  public var statusCode: Int { status }
  /// Not available. The header fields are ``fields``.
  @available(*, unavailable, renamed: "fields")
  public var headers: HTTPFields { fields }

  func with<Other>(_ value: Other) -> APIResponse<Other> {
    APIResponse<Other>(
      value: value, request: request, raw: raw, origin: origin, metrics: metrics, isUnchanged: isUnchanged)
  }
}

/// The response type of a call whose response has no value. The body is not decoded, but a declared JSON structure and
/// a business code are still validated.
public struct Nothing: Sendable, Hashable, Codable {
  /// Makes the only value of the type.
  public init() {}
}
