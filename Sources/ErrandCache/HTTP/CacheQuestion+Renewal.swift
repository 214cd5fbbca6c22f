package import ErrandCore

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
