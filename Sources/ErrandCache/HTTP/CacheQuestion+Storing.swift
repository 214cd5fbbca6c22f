import ErrandCore

extension CacheQuestion {
  /// Whether an answer is stored, and how (RFC 9111 section 3).
  package func storing(_ answer: ReceivedAnswer, tag: String? = nil) -> StoringDecision {
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

  /// Whether the request's own lifetime decides, and not the server.
  private func isDeclared(_ answer: ResponseHead, _ control: CacheControl) -> Bool {
    switch policy.model {
    case .lifetime: true
    case .httpElse: isReading && !FreshnessRule.isExplicit(answer.fields, control)
    case .http, nil: false
    }
  }

  private func kept(_ answer: ReceivedAnswer) -> ResponseHead {
    var head = answer.head
    head.fields = StoredFields.kept(of: head.fields, at: answer.responseTime)
    return head
  }

  private func label(tag: String?) -> CacheEntryLabel {
    CacheEntryLabel(method: method.rawValue, url: url.description, host: url.host, tag: tag)
  }

  private func refusal(_ answer: ReceivedAnswer, _ control: CacheControl) -> StoringRefusal? {
    if policy.model == nil || mode == .withoutCache { return .disabled }
    if asks.noStore { return .noStore }
    if fields.contains("Range") || answer.head.status == 206 { return .partial }
    if !isWhole(answer) { return .incomplete }
    if answer.head.status < 200 || answer.head.status == 304 { return .status }
    if isDeclared(answer.head, control) { return answer.isAccepted ? nil : .status }
    return refusalByServer(answer.head, control)
  }

  /// RFC 9111 section 3, and RFC 9110 section 9.3.3 for POST.
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

  /// Whether `Content-Location` says that what POST got is what GET would get.
  private func isAboutItself(_ answer: ResponseHead) -> Bool {
    let locations = answer.fields.references(of: "Content-Location")
    guard let location = locations.first, locations.count == 1 else { return false }
    return (try? url.resolving(location)) == url
  }

  /// Whether the body has the length that was announced; coded bodies were measured where they were decoded.
  private func isWhole(_ answer: ReceivedAnswer) -> Bool {
    guard answer.isComplete else { return false }
    let fields = answer.head.fields
    guard method != .head, answer.head.status != 204, !fields.contains(.contentEncoding) else { return true }
    return fields.values(of: .contentLength).allSatisfy { $0 == String(answer.bodyLength) }
  }

  /// Statuses that are understood in every way that matters to a cache (RFC 9111 section 5.2.2.3).
  private static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }
}
