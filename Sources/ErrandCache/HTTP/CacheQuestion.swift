package import ErrandCore

/// The properties of a call that cache decisions depend on. They never change; only the stored responses and the time
/// are passed to each decision.
///
/// An interceptor calls the methods in this order:
/// 1. ``beforeLooking()``
/// 2. The lookup in the store, which calls ``choice(among:)``.
/// 3. ``decide(_:at:)`` if a response was found, otherwise ``decide(without:)``.
/// 4. After a response of the server: ``renewal(of:by:)``, ``storing(_:)`` and ``invalidations(by:)``.
///
/// A class, so that passing it on is cheap.
package final class CacheQuestion: Sendable {
  /// The request method.
  package let method: HTTPMethod
  /// The target URL.
  package let url: HTTPURL
  /// The header fields of the request when it reaches the cache. Interceptors below the cache may add more fields.
  package let fields: HTTPFields
  /// The cache policy that the request declares.
  package let policy: CachePolicy
  /// How the call reads from the cache.
  package let mode: CacheReadMode
  /// The version of the app.
  package let appVersion: String
  /// The random bytes of the store. Every digest begins with them.
  package let salt: [UInt8]
  /// The cache directives in the request's header fields.
  package let asks: CacheControl
  /// Whether the request has the field `Range`.
  let wantsPart: Bool
  /// The requested byte range, if it can be cut out of a complete stored response; nil if only the server can serve it.
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

  /// A copy for a request with other header fields.
  func asked(by request: HTTPRequest) -> CacheQuestion {
    CacheQuestion(request, policy: policy, mode: mode, appVersion: appVersion, salt: salt)
  }

  /// Whether the method is GET or HEAD. Only responses to these methods may be reused for other requests.
  var isReading: Bool { method == .get || method == .head }

  /// Whether the cache follows the server's directives. It ignores them if the policy is only a declared lifetime.
  var heedsServer: Bool { policy.model != .lifetime }

  /// The fields to add to a request to the server, so that other caches on the way do the same as this cache (RFC 9111
  /// section 5.2.1): `Cache-Control: max-age=0` if the call revalidates, and `no-cache` if the call ignores the cache.
  /// Empty if the request already has `Cache-Control`.
  package var fieldsToAdd: [HTTPField] {
    guard policy.model != nil, !fields.contains(.cacheControl) else { return [] }
    return switch mode {
    case .revalidating: [HTTPField(.cacheControl, "max-age=0")]
    case .ignoringCache: [HTTPField(.cacheControl, "no-cache")]
    default: []
    }
  }

  /// The directives of a stored response; empty if the policy ignores the server's directives.
  func directives(of answer: ResponseHead) -> CacheControl {
    heedsServer ? CacheControl(answer: answer.fields) : CacheControl()
  }

  /// The freshness of a stored response for this request.
  package func freshness(of stored: CacheEntryHead, at now: CacheMoment) -> Freshness {
    Freshness(of: stored, policy: policy, now: now)
  }
}

extension CacheQuestion {
  /// The URLs whose stored responses become invalid when this request succeeds (RFC 9111 section 4.4): its own URL, and
  /// the URLs in `Location` and `Content-Location` if they have the same origin. The responses become invalid under all
  /// cache policies.
  ///
  /// A request that declares a lifetime is treated as a read, so it invalidates nothing, whatever its method is.
  package func invalidations(by answer: ResponseHead) -> [HTTPURL] {
    guard (200...399).contains(answer.status), policy.model != .lifetime, !method.isSafe else { return [] }
    let named = [HTTPFieldName.location, "Content-Location"].flatMap { answer.fields.references(of: $0) }
    let others = named.compactMap { try? url.resolving($0) }.filter { $0.origin == url.origin }
    return others.reduce(into: [url]) { urls, other in
      if !urls.contains(other) { urls.append(other) }
    }
  }
}

extension CacheQuestion {
  /// Selects the newest stored response that matches this request, however old it is. Returns its index; nil if none
  /// matches.
  ///
  /// - Parameter heads: The heads (status, fields and cache data) of all responses stored under the key, newest first.
  package func choice(among heads: [CacheEntryHead]) -> Int? {
    heads.firstIndex { fits($0) && isThisVersion($0) && $0.appVersion == appVersion }
  }

  /// The reason why none of the stored responses can be used.
  package func miss(among heads: [CacheEntryHead]) -> CacheMiss {
    let fitting = heads.filter(fits)
    if fitting.isEmpty { return .missing }
    return fitting.contains(where: isThisVersion) ? .otherAppVersion : .otherVersion
  }

  /// Whether a stored response matches this request. Its request fields named by `Vary` must match. A response to HEAD
  /// cannot be used for GET, because it has no body.
  private func fits(_ stored: CacheEntryHead) -> Bool {
    stored.policy.model == policy.model
      && (stored.label.method != HTTPMethod.head.rawValue || method == .head)
      && Varying.matches(stored.vary, fields, salt: salt)
  }

  private func isThisVersion(_ stored: CacheEntryHead) -> Bool { stored.policy.version == policy.version }
}

extension CacheQuestion {
  /// The conditional request fields (RFC 9110 section 13.1).
  static let conditions: [HTTPFieldName] = [
    "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
  ]

  /// Whether the caller set a conditional field, such as `If-None-Match`.
  var hasConditional: Bool { Self.conditions.contains { fields.contains($0) } }

  /// Whether the caller already has the stored response, according to the caller's conditional fields (RFC 9110 section
  /// 13.2.2).
  func isKnownToCaller(_ stored: CacheEntryHead) -> Bool {
    guard isReading, stored.answer.isSuccess else { return false }
    let tags = fields.values(of: "If-None-Match").flatMap(FieldList.members)
    if fields.contains("If-None-Match") { return tags.contains { Self.matches($0, stored.answer) } }
    let dates = fields.values(of: "If-Modified-Since")
    guard let text = dates.first, dates.count == 1, let since = HTTPDate.read(text, now: stored.responseTime) else {
      return false
    }
    let changed =
      FreshnessRule.lastModified(of: stored.answer.fields, now: stored.responseTime)
      ?? FreshnessRule.date(of: stored.answer.fields, stored.responseTime)
    return changed <= since
  }

  private static func matches(_ tag: Substring, _ answer: ResponseHead) -> Bool {
    if tag == "*" { return true }
    guard let wanted = EntityTag(tag), let stored = EntityTag(of: answer.fields) else { return false }
    return wanted.isWeaklyEqual(stored)
  }

  /// The 304 response for a caller that already has the stored response, with the fields of RFC 9110 section 15.4.5.
  static func notModified(_ stored: CacheEntryHead, _ now: CacheMoment) -> ResponseHead {
    var names: [HTTPFieldName] = [.eTag, .date, .cacheControl, "Expires", "Vary", "Content-Location"]
    if !stored.answer.fields.contains(.eTag) { names.append("Last-Modified") }
    var fields = stored.answer.fields
    fields.removeAll { !names.contains($0.name) }
    fields.append(CacheAge.field(of: stored, now: now))
    return ResponseHead(status: 304, reason: "Not Modified", version: stored.answer.version, fields: fields)
  }
}

extension CacheQuestion {
  /// Evaluates a response to a validation of a stored response, usually a 304 (RFC 9111 section 4.3.4).
  ///
  /// If the result is ``CacheRenewal/unrelated``, the 304 refers to another response. The request must then be sent
  /// again without the conditional fields that the cache added, because a caller that set no condition must not receive
  /// a 304.
  package func renewal(of stored: CacheEntryHead, by answer: ReceivedResponse) -> CacheRenewal {
    guard answer.head.status == 304, Self.names(answer.head, stored) else { return .unrelated }
    return renewed(stored, by: answer)
  }

  /// Evaluates a response to HEAD, which may refresh a stored response to GET (RFC 9111 section 4.3.5).
  package func freshening(of stored: CacheEntryHead, byHead answer: ReceivedResponse) -> CacheRenewal {
    guard method == .head, answer.head.status == 200, stored.answer.status == 200,
      stored.label.method != HTTPMethod.head.rawValue
    else { return .unrelated }
    let names: [HTTPFieldName] = [.eTag, "Last-Modified", .contentLength]
    let said = names.filter { answer.head.fields.contains($0) }
    let agrees = said.allSatisfy { answer.head.fields.octets(of: $0) == stored.answer.fields.octets(of: $0) }
    if !agrees { return .outdated }
    return said.allSatisfy { $0 == .contentLength } ? .unrelated : renewed(stored, by: answer)
  }

  /// True if a response that is not stored shows that the stored response is outdated. The stored response is then
  /// removed. Otherwise a call that accepts any age would receive it, although it is known to be wrong.
  package func isOutdated(by answer: ResponseHead) -> Bool {
    guard method == .get || !heedsServer, !fields.contains("Range") else { return false }
    switch answer.status {
    case 206, 304: return false
    case 200...399, 404, 410: return true
    default: return false
    }
  }

  /// Whether a 304 refers to this stored response. It does in three cases: the entity tags match, `Last-Modified` is
  /// equal, or the 304 has no validator.
  ///
  /// RFC 9111 requires that a strong entity tag is exactly equal. But some servers that compress, such as nginx, mark
  /// the tag of the 200 response as weak and the tag of the 304 not. Only one response was validated, so tags that
  /// differ only in this mark still refer to it.
  private static func names(_ answer: ResponseHead, _ stored: CacheEntryHead) -> Bool {
    if answer.fields.contains(.eTag) {
      guard let tag = EntityTag(of: answer.fields), let ours = EntityTag(of: stored.answer.fields) else {
        return answer.fields.octets(of: .eTag) == stored.answer.fields.octets(of: .eTag)
      }
      return tag.isWeaklyEqual(ours)
    }
    let changed = answer.fields.values(of: "Last-Modified")
    return changed.isEmpty || changed == stored.answer.fields.values(of: "Last-Modified")
  }

  private func renewed(_ stored: CacheEntryHead, by answer: ReceivedResponse) -> CacheRenewal {
    var head = stored
    head.answer.fields = StoredFields.merged(
      stored.answer.fields, with: answer.head.fields, at: answer.responseTime)
    // A 304 to a weak tag does not prove that the stored bytes are equal, so the stored tag stays weak.
    let tag = EntityTag(of: stored.answer.fields)
    if let tag, tag.isWeak { head.answer.fields.replace(HTTPField(.eTag, "W/\(tag.opaque)")) }
    head.requestTime = answer.requestTime
    head.responseTime = answer.responseTime
    head.received = answer.received
    head.policy = policy
    let control = CacheControl(answer: answer.head.fields)
    let varying = Varying(
      answer: head.answer.fields, request: fields, stamped: answer.stamped, isDeclared: !heedsServer, salt: salt)
    guard case .fields(let vary) = varying else { return .last(head) }
    head.vary = vary
    if asks.noStore { return .unstored(head) }
    if heedsServer, control.noStore, !control.mustUnderstand { return .last(head) }
    head.isMemoryOnly = head.isMemoryOnly || control.noStore && !heedsServer
    return .renewed(head)
  }
}

/// The consequence of a later response for a stored response.
package enum CacheRenewal: Sendable, Hashable {
  /// The stored response is still valid: store it with this head.
  case renewed(CacheEntryHead)
  /// The stored response is still valid: serve it with this head one last time, and remove it from the store.
  case last(CacheEntryHead)
  /// The stored response is still valid: serve it with this head. The store is not updated, because the request has
  /// `no-store`.
  case unstored(CacheEntryHead)
  /// The stored response is outdated: remove it.
  case outdated
  /// The later response does not refer to the stored response.
  case unrelated

  /// The head with which the stored body is served; nil if the stored response cannot be served.
  package var head: CacheEntryHead? {
    switch self {
    case .renewed(let head), .last(let head), .unstored(let head): head
    case .outdated, .unrelated: nil
    }
  }
}
