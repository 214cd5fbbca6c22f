/// The ending of a call: success or an error, together with the request, the response, its origin and the metrics.
public struct CallEnding: Sendable {
  /// The values of a ``CallEnding``, stored in one object so that an ending is a single reference. Endings are copied
  /// often and are stored in the async frames of waiting calls, so they must be small.
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
  /// The response; nil if no response arrived.
  public var response: HTTPResponse? { storage.response }
  /// Whether the response comes from the network or the cache; nil if there is no response.
  public var origin: ResponseOrigin? { storage.origin }
  /// The metrics of the call.
  public var metrics: CallMetrics { storage.metrics }

  func replaced(by error: APIError) -> CallEnding {
    CallEnding(error: error, request: request, response: response, origin: origin, metrics: metrics)
  }

  /// The cache entry whose response this call rejected, for example because of its JSON structure, its business code or
  /// its decoder; nil if the call did not fail in this way. An entry that was rejected because of its status is not
  /// returned.
  var rejectedEntry: (any StoredHit)? {
    guard let error, error.stage == .decode || error.stage == .validate, error.code != .status else { return nil }
    return error.response?.hit ?? response?.hit
  }
}
