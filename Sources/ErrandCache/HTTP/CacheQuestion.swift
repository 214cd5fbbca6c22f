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

extension CacheQuestion {
  /// The URLs whose stored answers a success of this request makes worthless (RFC 9111 section 4.4): its own, and those
  /// of `Location` and `Content-Location` on the same origin. All variants under both models are meant.
  ///
  /// A request that declares a lifetime counts as reading, whatever its method.
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
  /// Which of the stored answers under the key this request may use, however old it is: the newest one that fits.
  ///
  /// - Parameter heads: All that are stored, newest first.
  package func choice(among heads: [CacheEntryHead]) -> Int? {
    heads.firstIndex { fits($0) && isThisVersion($0) && $0.appVersion == appVersion }
  }

  /// Why none of the stored answers can be used.
  package func miss(among heads: [CacheEntryHead]) -> CacheMiss {
    let fitting = heads.filter(fits)
    if fitting.isEmpty { return .missing }
    return fitting.contains(where: isThisVersion) ? .otherAppVersion : .otherVersion
  }

  /// What HEAD got has no body and is nothing for GET; and the fields that `Vary` names must be the same.
  private func fits(_ stored: CacheEntryHead) -> Bool {
    stored.policy.model == policy.model
      && (stored.label.method != HTTPMethod.head.rawValue || method == .head)
      && Varying.matches(stored.vary, fields, salt: salt)
  }

  private func isThisVersion(_ stored: CacheEntryHead) -> Bool { stored.policy.version == policy.version }
}

extension CacheQuestion {
  /// The fields that ask the server a question (RFC 9110 section 13.1).
  static let conditions: [HTTPFieldName] = [
    "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
  ]

  /// Whether the caller brought a condition of its own.
  var hasConditional: Bool { Self.conditions.contains { fields.contains($0) } }

  /// Whether the caller's own condition says that it has what is stored (RFC 9110 section 13.2.2).
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

  /// The head of an answer that says so, with the fields of RFC 9110 section 15.4.5.
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
  /// What an answer of status 304 says about the stored answer that was asked about (RFC 9111 section 4.3.4).
  ///
  /// Where it is ``CacheRenewal/unrelated`` the 304 is about something else; the request is sent again without
  /// conditions, since a caller who asked none must not see it.
  package func renewal(of stored: CacheEntryHead, by answer: ReceivedAnswer) -> CacheRenewal {
    guard answer.head.status == 304, Self.names(answer.head, stored) else { return .unrelated }
    return renewed(stored, by: answer)
  }

  /// What an answer to HEAD says about what GET stored (RFC 9111 section 4.3.5).
  package func freshening(of stored: CacheEntryHead, byHead answer: ReceivedAnswer) -> CacheRenewal {
    guard method == .head, answer.head.status == 200, stored.answer.status == 200,
      stored.label.method != HTTPMethod.head.rawValue
    else { return .unrelated }
    let names: [HTTPFieldName] = [.eTag, "Last-Modified", .contentLength]
    let said = names.filter { answer.head.fields.contains($0) }
    let agrees = said.allSatisfy { answer.head.fields.octets(of: $0) == stored.answer.fields.octets(of: $0) }
    if !agrees { return .outdated }
    return said.allSatisfy { $0 == .contentLength } ? .unrelated : renewed(stored, by: answer)
  }

  /// Whether an answer that is not stored itself shows that what is stored no longer holds: without this, a call that
  /// takes an answer of any age would get one that is known to be wrong.
  package func isOutdated(by answer: ResponseHead) -> Bool {
    guard method == .get || !heedsServer, !fields.contains("Range") else { return false }
    switch answer.status {
    case 206, 304: return false
    case 200...399, 404, 410: return true
    default: return false
    }
  }

  /// Whether a 304 is about this stored answer: by its tag, by the date of the last change, or because it names none
  /// and no other was asked about.
  ///
  /// RFC 9111 wants a strong tag to be equal. But servers that compress, nginx for one, weaken the tag of what they
  /// send and not that of their 304; only this answer was asked about, so the same tag means it either way.
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

  private func renewed(_ stored: CacheEntryHead, by answer: ReceivedAnswer) -> CacheRenewal {
    var head = stored
    head.answer.fields = StoredFields.merged(
      stored.answer.fields, with: answer.head.fields, at: answer.responseTime)
    // A 304 cannot vouch for bytes that were sent as a weak equal.
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
