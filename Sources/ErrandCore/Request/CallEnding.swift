/// The ending of a call: its error or success, request, response, origin and metrics.
public struct CallEnding: Sendable {
  /// The values of the ending, in one object, so that an ending is a single reference. Endings are copied often and are
  /// stored in the async frames of waiting calls, so they must be small.
  private final class Storage: Sendable {
    let error: APIError?
    let request: HTTPRequest?
    let response: HTTPResponse?
    let origin: ResponseOrigin?
    let metrics: CallMetrics

    init(
      _ error: APIError?, _ request: HTTPRequest?, _ response: HTTPResponse?, _ origin: ResponseOrigin?,
      _ metrics: CallMetrics
    ) {
      self.error = error
      self.request = request
      self.response = response
      self.origin = origin
      self.metrics = metrics
    }
  }

  private let storage: Storage

  /// True if the response equals the stored response that a `cachedThenFresh` call delivered before.
  public internal(set) var isUnchanged = false

  init(
    error: APIError?, request: HTTPRequest?, response: HTTPResponse?, origin: ResponseOrigin?, metrics: CallMetrics
  ) {
    storage = Storage(error, request, response, origin, metrics)
  }

  /// The error; nil for success.
  public var error: APIError? { storage.error }
  /// The request as it was last sent, after redirects; nil if the request could not be built.
  public var request: HTTPRequest? { storage.request }
  /// The response; nil if none arrived.
  public var response: HTTPResponse? { storage.response }
  /// The source of the response; nil if none arrived.
  public var origin: ResponseOrigin? { storage.origin }
  /// The metrics of the call.
  public var metrics: CallMetrics { storage.metrics }

  func replaced(by error: APIError) -> CallEnding {
    CallEnding(error: error, request: request, response: response, origin: origin, metrics: metrics)
  }

  /// The cached entry that this call's rules reject because of the shape, the business code or the decoder; nil for
  /// other errors. An entry that is rejected because of its status is not returned.
  var refusedHit: (any StoredHit)? {
    guard let error, error.stage == .decode || error.stage == .validate, error.code != .status else { return nil }
    return error.response?.hit ?? response?.hit
  }
}
