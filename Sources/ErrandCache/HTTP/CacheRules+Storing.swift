package import ErrandCore

extension CacheRules {
  /// Decides whether a response is stored, and under which key (RFC 9111 section 3).
  package func storing(_ response: ReceivedResponse, tag: String? = nil) -> StoringDecision {
    let control = CacheControl(response: response.head.fields)
    if let refusal = refusal(response, control) { return .refuse(refusal) }
    let isForGet = followsHTTPRules && method == .post
    let varying = Varying(
      response: response.head.fields, request: fields, changedFields: response.changedFields,
      isDeclared: !followsHTTPRules, salt: salt)
    guard case .fields(let vary) = varying else { return .refuse(.varies) }
    let head = CacheEntryHead(
      variant: Varying.variant(of: vary, method: method, salt: salt), vary: vary, answer: kept(response),
      requestTime: response.requestTime, responseTime: response.responseTime, received: response.received,
      policy: policy,
      appVersion: appVersion, isMemoryOnly: control.noStore && !followsHTTPRules,
      label: label(tag: tag))
    return isForGet ? .storeForGet(head) : .store(head)
  }

  /// True if the response is stored for the lifetime that the request declares. The server's directives are then
  /// ignored.
  private func isDeclared(_ response: ResponseHead, _ control: CacheControl) -> Bool {
    switch policy.model {
    case .lifetime: true
    case .httpElse: isReading && !FreshnessRule.isExplicit(response.fields, control)
    case .http, nil: false
    }
  }

  private func kept(_ response: ReceivedResponse) -> ResponseHead {
    var head = response.head
    head.fields = StoredFields.kept(of: head.fields, at: response.responseTime)
    return head
  }

  private func label(tag: String?) -> CacheEntryLabel {
    CacheEntryLabel(method: method.rawValue, url: CacheEntryLabel.text(of: url), host: url.host, tag: tag)
  }

  private func refusal(_ response: ReceivedResponse, _ control: CacheControl) -> StoringRefusal? {
    if policy.model == nil || mode == .withoutCache { return .disabled }
    if requestDirectives.noStore { return .noStore }
    if fields.contains("Range") || response.head.status == 206 { return .partial }
    if !isWhole(response) { return .incomplete }
    if response.head.status < 200 || Self.isNeverStored(response.head.status) { return .status }
    if isDeclared(response.head, control) { return response.isAccepted ? nil : .status }
    return refusalByServer(response.head, control)
  }

  /// Returns why the rules of HTTP forbid storing the response (RFC 9111 section 3; RFC 9110 section 9.3.3 for POST).
  /// Nil if the rules allow storing.
  private func refusalByServer(_ response: ResponseHead, _ control: CacheControl) -> StoringRefusal? {
    let isExplicit = control.maxAge != nil || response.fields.contains("Expires")
    if control.mustUnderstand {
      if !Self.isUnderstood(response.status) { return .status }
    } else if control.noStore {
      return .noStore
    }
    if !isReading, method != .post || !isExplicit || !isAboutItself(response) { return .method }
    let isPermitted = isExplicit || control.isPublic || control.isPrivate || FreshnessRule.isHeuristic(response.status)
    return isPermitted ? nil : .status
  }

  /// True if `Content-Location` in the response to this POST request is the URL of the request. Then a GET request for
  /// this URL would receive the same response.
  private func isAboutItself(_ response: ResponseHead) -> Bool {
    let locations = response.fields.values(of: "Content-Location")
    guard let location = locations.first, locations.count == 1 else { return false }
    return (try? url.resolving(location)) == url
  }

  /// Whether the body is complete and has the announced length. The length of a body with a content coding is not
  /// compared, because it was checked when the body was decoded.
  private func isWhole(_ response: ReceivedResponse) -> Bool {
    guard response.isComplete else { return false }
    let fields = response.head.fields
    guard method != .head, response.head.status != 204, !fields.contains(.contentEncoding) else { return true }
    return fields.values(of: .contentLength).allSatisfy { $0 == String(response.bodyLength) }
  }

  /// Whether responses with this status are not stored, whatever the server permits: RFC 6585 forbids it (428, 429, 431,
  /// 511), or the response depends on a part of the request that is not in the cache key, namely a credential (401, 407)
  /// or a condition (304, 412). Another request with the same key must not receive such a response.
  private static func isNeverStored(_ status: Int) -> Bool {
    switch status {
    case 304, 401, 407, 412, 428, 429, 431, 511: true
    default: false
    }
  }

  /// Whether this cache knows all requirements of the status (RFC 9111 section 5.2.2.3).
  private static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }
}

/// The decision whether a response is stored, and under which key.
package enum StoringDecision: Sendable, Hashable {
  /// Store the response under the key of the request.
  case store(CacheEntryHead)
  /// Store the response under the key of a GET request for the same URL. The GET request has no body (RFC 9110 section
  /// 9.3.3).
  case storeForGet(CacheEntryHead)
  case refuse(StoringRefusal)
}

/// The reason why a response is not stored.
package enum StoringRefusal: String, Sendable, Hashable, CaseIterable {
  /// The request declares no cache policy, or the call stores nothing.
  case disabled
  case noStore = "no-store"
  /// Responses to requests with this HTTP method are not stored.
  case method
  /// The request asks for a byte range, or the response is partial.
  case partial
  /// The body of the response is incomplete.
  case incomplete
  /// The status of the response prevents storing, for one of three reasons: responses with this status are never
  /// stored, the cache does not know the status, or the caller does not accept the status.
  case status
  /// `Vary` is `*`, or it names a request field whose sent value the cache does not know.
  case varies

  /// The reason as a part of a sentence, for the record of the call.
  var clause: String {
    switch self {
    case .disabled: "the call stores nothing"
    case .noStore: "the request or the response has no-store"
    case .method: "responses to this method are not stored"
    case .partial: "the response is only a part"
    case .incomplete: "the body is incomplete"
    case .status: "responses with this status are not stored, or the call does not accept it"
    case .varies: "Vary is *, or names a field whose value the cache does not know"
    }
  }
}

/// A response of the server, with all properties on which the decision to store it depends.
package struct ReceivedResponse: Sendable {
  /// The status and the header fields.
  package var head: ResponseHead
  /// The length of the body in bytes, after content decoding.
  package var bodyLength: Int
  /// Whether the whole body arrived.
  package var isComplete = true
  /// True if the caller's status rule accepts the response, or if the response is a redirect that is followed. If the
  /// request declares a lifetime, only an accepted response is stored.
  package var isAccepted: Bool
  package var requestTime: WallTime
  /// The time at which the response headers arrived.
  package var responseTime: WallTime
  /// The time at which the response headers arrived, on the monotonic clock.
  package var received: MonotonicInstant?
  /// The names, in lower case, of request fields that an interceptor between the cache and the server changed or added,
  /// such as the fields of a signature.
  package var changedFields: Set<String> = []
}

/// Selects the response fields that are stored, and updates them with the fields of a later response.
enum StoredFields {
  /// The fields that apply to a single connection (RFC 9111 section 3.1), and the fields that set cookies. They are not
  /// stored.
  private static let ofConnection: [HTTPFieldName] = [
    "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
    "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", .setCookie,
  ]
  /// The fields that describe the stored body. A later response without the body does not change them (RFC 9111
  /// section 3.2).
  private static let ofBody: [HTTPFieldName] =
    [.contentLength, .contentEncoding, .contentType, "Content-Range"] + digests
  /// The digests of the body of one message (RFC 9530 section 2, RFC 1864). `Repr-Digest` is not among them: it is the
  /// digest of the whole representation, also in a response that has only a part or no body.
  static let digests: [HTTPFieldName] = ["Content-Digest", "Content-MD5"]
  /// The fields that belong to a single exchange. An update discards the stored values of these fields, even if the
  /// later response does not have the fields.
  private static let ofExchange: [HTTPFieldName] = ["Age", .date]

  /// The fields to store, in their order. `Date` is added if the response has none.
  ///
  /// Fields that set cookies are not stored: the cookie jar has already stored the cookies, and a cache hit must not
  /// set them again. Cookies are also secrets that must not be written to a disk.
  static func kept(of fields: HTTPFields, at responseTime: WallTime) -> HTTPFields {
    var kept = withoutConnection(fields)
    if !kept.contains(.date) { kept.append(HTTPField(.date, HTTPDate.text(responseTime))) }
    return kept
  }

  /// The stored fields after an update with the fields of a later response (RFC 9111 section 3.2).
  static func merged(_ stored: HTTPFields, with later: HTTPFields, at responseTime: WallTime) -> HTTPFields {
    var added = kept(of: later, at: responseTime)
    added.removeAll { ofBody.contains($0.name) }
    let replaced = added.all.map(\.name) + ofExchange
    var merged = stored
    merged.removeAll { replaced.contains($0.name) }
    return HTTPFields(merged.all + added.all)
  }

  private static func withoutConnection(_ fields: HTTPFields) -> HTTPFields {
    let named = fields.values(of: "Connection").flatMap(FieldList.members).map { HTTPFieldName(String($0)) }
    var kept = fields
    kept.removeAll { ofConnection.contains($0.name) || named.contains($0.name) }
    return kept
  }
}
