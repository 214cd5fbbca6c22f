import ErrandCore

extension CacheQuestion {
  /// Decides whether a response is stored, and under which key (RFC 9111 section 3).
  package func storing(_ answer: ReceivedResponse, tag: String? = nil) -> StoringDecision {
    let control = CacheControl(answer: answer.head.fields)
    if let refusal = refusal(answer, control) { return .refuse(refusal) }
    let isForGet = heedsServer && method == .post
    let varying = Varying(
      answer: answer.head.fields, request: fields, stamped: answer.stamped, isDeclared: !heedsServer, salt: salt)
    guard case .fields(let vary) = varying else { return .refuse(.varies) }
    let head = CacheEntryHead(
      variant: Varying.variant(of: vary, method: method, salt: salt), vary: vary, answer: kept(answer),
      requestTime: answer.requestTime, responseTime: answer.responseTime, received: answer.received, policy: policy,
      appVersion: appVersion, isMemoryOnly: control.noStore && !heedsServer,
      label: label(tag: tag))
    return isForGet ? .storeForGet(head) : .store(head)
  }

  /// True if the response is stored for the lifetime that the request declares, and the server's directives are
  /// ignored.
  private func isDeclared(_ answer: ResponseHead, _ control: CacheControl) -> Bool {
    switch policy.model {
    case .lifetime: true
    case .httpElse: isReading && !FreshnessRule.isExplicit(answer.fields, control)
    case .http, nil: false
    }
  }

  private func kept(_ answer: ReceivedResponse) -> ResponseHead {
    var head = answer.head
    head.fields = StoredFields.kept(of: head.fields, at: answer.responseTime)
    return head
  }

  private func label(tag: String?) -> CacheEntryLabel {
    CacheEntryLabel(method: method.rawValue, url: url.description, host: url.host, tag: tag)
  }

  private func refusal(_ answer: ReceivedResponse, _ control: CacheControl) -> StoringRefusal? {
    if policy.model == nil || mode == .withoutCache { return .disabled }
    if asks.noStore { return .noStore }
    if fields.contains("Range") || answer.head.status == 206 { return .partial }
    if !isWhole(answer) { return .incomplete }
    if answer.head.status < 200 || answer.head.status == 304 { return .status }
    if isDeclared(answer.head, control) { return answer.isAccepted ? nil : .status }
    return refusalByServer(answer.head, control)
  }

  /// Returns why the rules of HTTP forbid to store the response (RFC 9111 section 3; RFC 9110 section 9.3.3 for POST);
  /// nil if they allow it.
  private func refusalByServer(_ answer: ResponseHead, _ control: CacheControl) -> StoringRefusal? {
    let isExplicit = control.maxAge != nil || answer.fields.contains("Expires")
    if control.mustUnderstand {
      if !Self.isUnderstood(answer.status) { return .status }
    } else if control.noStore {
      return .noStore
    }
    if !isReading, method != .post || !isExplicit || !isAboutItself(answer) { return .method }
    let isPermitted = isExplicit || control.isPublic || control.isPrivate || FreshnessRule.isHeuristic(answer.status)
    return isPermitted ? nil : .status
  }

  /// True if `Content-Location` says that GET for the same URL would receive this response to POST, too.
  private func isAboutItself(_ answer: ResponseHead) -> Bool {
    let locations = answer.fields.references(of: "Content-Location")
    guard let location = locations.first, locations.count == 1 else { return false }
    return (try? url.resolving(location)) == url
  }

  /// Whether the body is complete and has the announced length. A body with a content coding is not compared with the
  /// length here: its length was checked when it was decoded.
  private func isWhole(_ answer: ReceivedResponse) -> Bool {
    guard answer.isComplete else { return false }
    let fields = answer.head.fields
    guard method != .head, answer.head.status != 204, !fields.contains(.contentEncoding) else { return true }
    return fields.values(of: .contentLength).allSatisfy { $0 == String(answer.bodyLength) }
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
  /// Do not store the response.
  case refuse(StoringRefusal)
}

/// The reason why a response is not stored.
package enum StoringRefusal: String, Sendable, Hashable, CaseIterable {
  /// The request declares no cache policy, or the call stores nothing.
  case disabled
  /// The request or the response has `no-store`.
  case noStore = "no-store"
  /// Responses to this method are not stored.
  case method
  /// The request asks for a byte range, or the response is partial.
  case partial
  /// The body of the response is incomplete.
  case incomplete
  /// The status is one that is never stored, that the cache does not know, or that the caller does not accept.
  case status
  /// The response varies by a request field whose sent value the cache does not know.
  case varies
}
