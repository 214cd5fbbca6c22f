import ErrandCore

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
