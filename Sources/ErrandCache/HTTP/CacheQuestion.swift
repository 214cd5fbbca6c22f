package import ErrandCore

/// What a call asks of the cache, frozen: everything decisions are made of but the stored answers and the time.
///
/// A station reads: ``beforeLooking()``; the store, which is given ``choice(among:)``; ``decide(_:at:)`` or
/// ``decide(without:)``; and once an answer of the server is there, ``renewal(of:by:)``, ``storing(_:)`` and
/// ``invalidations(by:)``. An object, since every step of a look-up has it.
package final class CacheQuestion: Sendable {
  /// The method.
  package let method: HTTPMethod
  /// Where it goes.
  package let url: HTTPURL
  /// The fields as they are frozen, before anything is added below.
  package let fields: HTTPFields
  /// What the request declares.
  package let policy: CachePolicy
  /// What the call asks for.
  package let mode: CacheReadMode
  /// The version of the app.
  package let appVersion: String
  /// The store's own bytes.
  package let salt: [UInt8]
  /// The directives of the request's own fields.
  package let asks: CacheControl
  /// Whether the request has a `Range`.
  let wantsPart: Bool
  /// The range that a complete stored response can answer; nil if only the server can.
  package let range: StoredRange?

  package init(
    _ request: HTTPRequest, policy: CachePolicy, mode: CacheReadMode = .asDeclared, appVersion: String = "",
    salt: [UInt8] = []
  ) {
    method = request.method
    url = request.url
    fields = request.fields
    self.policy = policy
    self.mode = mode
    self.appVersion = appVersion
    self.salt = salt
    asks = CacheControl(request: request.fields)
    wantsPart = request.fields.contains("Range")
    range = wantsPart && request.method == .get ? StoredRange(request.fields) : nil
  }

  /// The same question by a request that differs in its fields.
  func asked(by request: HTTPRequest) -> CacheQuestion {
    CacheQuestion(request, policy: policy, mode: mode, appVersion: appVersion, salt: salt)
  }

  /// Whether the request only reads, by HTTP's own rules, something that others may have read.
  var isReading: Bool { method == .get || method == .head }

  /// Whether the server's directives count.
  var heedsServer: Bool { policy.model != .lifetime }

  /// The fields that are added to a request that goes to the server, so that caches on the way act alike (RFC 9111
  /// section 5.2.1): `Cache-Control: max-age=0` if the call revalidates, and `no-cache` if it ignores the cache. A
  /// request with a `Cache-Control` of its own is left as it is.
  package var fieldsToAdd: [HTTPField] {
    guard policy.model != nil, !fields.contains(.cacheControl) else { return [] }
    return switch mode {
    case .revalidating: [HTTPField(.cacheControl, "max-age=0")]
    case .ignoringCache: [HTTPField(.cacheControl, "no-cache")]
    default: []
    }
  }

  /// The directives of a stored answer, where they count.
  func directives(of answer: ResponseHead) -> CacheControl {
    heedsServer ? CacheControl(answer: answer.fields) : CacheControl()
  }

  /// How fresh a stored answer is to this request.
  package func freshness(of stored: CacheEntryHead, at now: CacheMoment) -> Freshness {
    Freshness(of: stored, policy: policy, now: now)
  }
}
