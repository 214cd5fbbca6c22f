package import ErrandCore
import ErrandSupport

/// The cache rules for one call. The properties describe the call and never change. The methods make the cache
/// decisions. They receive the stored responses and the current time as arguments.
///
/// An interceptor calls the methods in this order:
/// 1. ``decideBeforeLookup()``
/// 2. The lookup in the store, which calls ``choice(among:)``.
/// 3. ``decide(_:at:)`` if a response was found, otherwise ``decide(without:)``.
/// 4. After a response of the server: ``renewal(of:by:)``, ``storing(_:tag:)`` and ``invalidations(by:)``.
///
/// This type is a class, so that passing it to a function copies only a reference.
package final class CacheRules: Sendable {
  package let method: HTTPMethod
  package let url: HTTPURL
  /// The header fields of the request when it reaches the cache. Interceptors between the cache and the server may add
  /// more fields.
  package let fields: HTTPFields
  package let policy: CachePolicy
  package let mode: CacheReadMode
  package let appVersion: String
  /// The salt: the random bytes of the store that are part of every digest.
  package let salt: [UInt8]
  package let requestDirectives: CacheControl
  /// Whether the request has the field `Range`.
  let hasRange: Bool
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
    requestDirectives = CacheControl(request: request.fields)
    hasRange = request.fields.contains("Range")
    range = hasRange && (request.method == .get || request.method == .query) ? StoredRange(request.fields) : nil
  }

  /// The rules for the same call, but for a request with other header fields.
  func with(_ request: HTTPRequest) -> CacheRules {
    CacheRules(request, policy: policy, mode: mode, appVersion: appVersion, salt: salt)
  }

  /// Whether the method is GET, HEAD or QUERY. Under HTTP rules, only requests with these methods are served from the
  /// cache.
  var isReading: Bool { method == .get || method == .head || method == .query }

  /// Whether the cache follows the server's directives. The cache ignores them if the policy is only a declared
  /// lifetime.
  var followsHTTPRules: Bool { policy.model != .lifetime }

  package var fieldsToAdd: [HTTPField] { mode.fieldsToAdd(to: fields) }

  /// The directives of a stored response; empty if the policy ignores the server's directives.
  func directives(of response: ResponseHead) -> CacheControl {
    followsHTTPRules ? CacheControl(response: response.fields) : CacheControl()
  }

  package func freshness(of stored: CacheEntryHead, at now: CacheMoment) -> Freshness {
    Freshness(of: stored, policy: policy, now: now)
  }
}

extension CacheRules {
  /// The URLs whose stored responses become invalid when this request succeeds (RFC 9111 section 4.4). These are the
  /// URL of the request, and the URLs in `Location` and `Content-Location` if they have the same origin. The responses
  /// become invalid whatever the cache policy is with which they were stored.
  ///
  /// A request that declares a lifetime is treated as a read, so it invalidates nothing, whatever its method is.
  /// - Parameter resolve: Returns the URL that one of these fields names; nil to resolve it against the URL of the
  ///   request.
  package func invalidations(
    by response: ResponseHead, resolving resolve: ((String) -> HTTPURL?)? = nil
  ) -> [HTTPURL] {
    guard (200...399).contains(response.status), policy.model != .lifetime, !method.isSafe else { return [] }
    let named = [HTTPFieldName.location, "Content-Location"].flatMap { response.fields.values(of: $0) }
    let resolve = resolve ?? { [url] in try? url.resolving($0) }
    let others = named.compactMap(resolve).filter { $0.origin == url.origin }
    return others.reduce(into: [url]) { urls, other in
      if !urls.contains(other) { urls.append(other) }
    }
  }
}

extension CacheRules {
  /// Selects the newest stored response that matches this request, however old the response is. Returns the index of
  /// the response; nil if no response matches.
  ///
  /// - Parameter heads: The heads (status, fields and cache data) of all responses stored under the key, newest first.
  package func choice(among heads: [CacheEntryHead]) -> Int? { heads.firstIndex(where: isUsable) }

  /// Selects a stored response for an equivalent URL. The response must still declare the same variation.
  func choice(among heads: [CacheEntryHead], _ variation: SearchVariation) -> Int? {
    guard let index = choice(among: heads), SearchVariation(heads[index].answer.fields) == variation else { return nil }
    return index
  }

  private func isUsable(_ stored: CacheEntryHead) -> Bool {
    fits(stored) && isThisVersion(stored) && stored.appVersion == appVersion
  }

  /// The reason why none of the stored responses can be used.
  package func miss(among heads: [CacheEntryHead]) -> CacheMiss {
    let fitting = heads.filter(fits)
    if fitting.isEmpty { return .missing }
    return fitting.contains(where: isThisVersion) ? .otherAppVersion : .otherVersion
  }

  /// Whether a stored response matches this request. The request fields that `Vary` names must have the stored values.
  /// A response to HEAD cannot be used for GET, because it has no body.
  private func fits(_ stored: CacheEntryHead) -> Bool {
    stored.policy.model == policy.model
      && (stored.label.method != HTTPMethod.head.rawValue || method == .head)
      && Varying.matches(selectors(stored), fields, salt: salt)
  }

  /// The fields that `Vary` names and that must have the stored values. A request for a range asks for a body without a
  /// content coding. A stored body without a coding is such a body, whatever codings its request accepted.
  private func selectors(_ stored: CacheEntryHead) -> [VaryingField] {
    let isPlain =
      range != nil && fields.values(of: .acceptEncoding) == ["identity"]
      && !stored.answer.fields.contains(.contentEncoding)
    return isPlain ? stored.vary.filter { $0.name != "accept-encoding" } : stored.vary
  }

  private func isThisVersion(_ stored: CacheEntryHead) -> Bool { stored.policy.version == policy.version }
}

extension CacheRules {
  /// The conditional request fields (RFC 9110 section 13.1).
  static let conditions: [HTTPFieldName] = [
    "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
  ]

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

  private static func matches(_ tag: Substring, _ response: ResponseHead) -> Bool {
    if tag == "*" { return true }
    guard let wanted = EntityTag(tag), let stored = EntityTag(of: response.fields) else { return false }
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

extension CacheRules {
  /// Evaluates a response to a validation of a stored response, usually a 304 response (RFC 9111 section 4.3.4).
  ///
  /// If the result is ``CacheRenewal/unrelated``, the 304 response refers to another response. The request must then be
  /// sent again without the conditional fields that the cache added, because a caller that set no condition must not
  /// receive a 304 response.
  package func renewal(of stored: CacheEntryHead, by response: ReceivedResponse) -> CacheRenewal {
    guard response.head.status == 304, Self.names(response.head, stored) else { return .unrelated }
    return renewed(stored, by: response)
  }

  /// Evaluates a response to HEAD, which may refresh a stored response to GET (RFC 9111 section 4.3.5).
  package func freshening(of stored: CacheEntryHead, byHead response: ReceivedResponse) -> CacheRenewal {
    guard method == .head, response.head.status == 200, stored.answer.status == 200,
      stored.label.method != HTTPMethod.head.rawValue
    else { return .unrelated }
    let names: [HTTPFieldName] = [.eTag, "Last-Modified", .contentLength]
    let said = names.filter { response.head.fields.contains($0) }
    let agrees = said.allSatisfy { response.head.hasSameValues(of: $0, as: stored.answer) }
    if !agrees { return .outdated }
    return said.allSatisfy { $0 == .contentLength } ? .unrelated : renewed(stored, by: response)
  }

  /// True if a new response shows that the stored response is outdated, although the new response is not stored. The
  /// stored response is then removed. Otherwise a call that accepts a response of any age would receive the outdated
  /// response.
  package func isOutdated(by response: ResponseHead) -> Bool {
    guard method == .get || method == .query || !followsHTTPRules, !fields.contains("Range") else { return false }
    switch response.status {
    case 206, 304: return false
    case 200...399, 404, 410: return true
    default: return false
    }
  }

  /// Whether a 304 response refers to this stored response. This is true in three cases: the entity tags match,
  /// `Last-Modified` is equal, or the 304 response has no validator.
  ///
  /// RFC 9111 requires that a strong entity tag is exactly equal. But some servers that compress, such as nginx, mark
  /// the tag of the 200 response as weak and the tag of the 304 response as strong. Only one stored response was
  /// validated, so tags that differ only in this mark count as equal.
  private static func names(_ response: ResponseHead, _ stored: CacheEntryHead) -> Bool {
    if response.fields.contains(.eTag) {
      guard let tag = EntityTag(of: response.fields), let ours = EntityTag(of: stored.answer.fields) else {
        return response.hasSameValues(of: .eTag, as: stored.answer)
      }
      return tag.isWeaklyEqual(ours)
    }
    return !response.fields.contains("Last-Modified") || response.hasSameValues(of: "Last-Modified", as: stored.answer)
  }

  private func renewed(_ stored: CacheEntryHead, by response: ReceivedResponse) -> CacheRenewal {
    var head = stored
    head.answer.fields = StoredFields.merged(
      stored.answer.fields, with: response.head.fields, at: response.responseTime)
    // A 304 response to a weak entity tag does not prove that the stored bytes are equal, so the stored tag stays weak.
    let tag = EntityTag(of: stored.answer.fields)
    if let tag, tag.isWeak { head.answer.fields.replace(HTTPField(.eTag, "W/\(tag.opaque)")) }
    head.requestTime = response.requestTime
    head.responseTime = response.responseTime
    head.received = response.received
    head.policy = policy
    let control = CacheControl(response: response.head.fields)
    let varying = Varying(
      response: head.answer.fields, request: fields, changedFields: response.changedFields,
      isDeclared: !followsHTTPRules, salt: salt)
    guard case .fields(let vary) = varying else { return .last(head) }
    head.vary = vary
    if requestDirectives.noStore { return .unstored(head) }
    if followsHTTPRules, control.noStore, !control.mustUnderstand { return .last(head) }
    head.isMemoryOnly = head.isMemoryOnly || control.noStore && !followsHTTPRules
    return .renewed(head)
  }
}

extension ResponseHead {
  /// Whether both responses have the same lines of a field, compared byte by byte.
  fileprivate func hasSameValues(of name: HTTPFieldName, as other: ResponseHead) -> Bool {
    fields.values(of: name).haveSameBytes(as: other.fields.values(of: name))
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
