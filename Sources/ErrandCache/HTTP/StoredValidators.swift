import ErrandCore

/// What a stored answer can be recognised by (RFC 9110 section 8.8).
struct StoredValidators {
  /// `ETag` as it came; nil where there is none or several.
  let tag: String?
  /// `Last-Modified` as it came; nil where it is no single date.
  let changed: String?

  init(_ stored: CacheEntryHead) {
    let tags = stored.answer.fields.octets(of: .eTag)
    tag = tags.count == 1 ? tags.first : nil
    let isDate = FreshnessRule.lastModified(of: stored.answer.fields, now: stored.responseTime) != nil
    changed = isDate ? stored.answer.fields["Last-Modified"] : nil
  }

  /// The fields that ask whether it still holds (RFC 9111 section 4.3.1).
  var conditionals: [HTTPField] {
    [tag.map { HTTPField("If-None-Match", $0) }, changed.map { HTTPField("If-Modified-Since", $0) }].compactMap { $0 }
  }
}
