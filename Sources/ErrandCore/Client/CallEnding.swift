/// How a call ended.
public struct CallEnding: Sendable {
  /// Apart, so that an ending is cheap to hand on: calls that wait hold room for it in every frame.
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

  /// Whether it is the same answer that was told before as the stored one, in `cached, then fresh`.
  public internal(set) var isUnchanged = false

  init(
    error: APIError?, request: HTTPRequest?, response: HTTPResponse?, origin: ResponseOrigin?, metrics: CallMetrics
  ) {
    storage = Storage(error, request, response, origin, metrics)
  }

  /// Why it failed; nil for success.
  public var error: APIError? { storage.error }
  /// The request as it was sent last, redirects followed; nil where none could be built.
  public var request: HTTPRequest? { storage.request }
  /// The answer, if one came.
  public var response: HTTPResponse? { storage.response }
  /// Where the answer came from; nil where none came.
  public var origin: ResponseOrigin? { storage.origin }
  /// What was measured.
  public var metrics: CallMetrics { storage.metrics }

  func replaced(by error: APIError) -> CallEnding {
    CallEnding(error: error, request: request, response: response, origin: origin, metrics: metrics)
  }

  /// The entry that this call's rules refuse: shape, code or decoder, not the status.
  var refusedHit: (any StoredHit)? {
    guard let error, error.stage == .decode || error.stage == .validate, error.code != .status else { return nil }
    return error.response?.hit ?? response?.hit
  }
}
