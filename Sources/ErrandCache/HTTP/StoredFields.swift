import ErrandCore

/// Which fields of an answer are stored, and how a later answer changes them.
enum StoredFields {
  /// Fields of one connection or one hop (RFC 9111 section 3.1), and cookies.
  private static let ofConnection: [HTTPFieldName] = [
    "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
    "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", .setCookie,
  ]
  /// Fields that describe the stored body, which a later head does not change (section 3.2).
  private static let ofBody: [HTTPFieldName] = [
    .contentLength, .contentEncoding, .contentType, "Content-Range",
  ]
  /// Fields that belong to the exchange they came in.
  private static let ofExchange: [HTTPFieldName] = ["Age", .date]

  /// The fields that are stored, in their order; with a `Date` where the answer has none.
  ///
  /// Cookies are left out: they were taken when they came, are not taken again on a hit, and are secrets that have no
  /// place on a disk.
  static func kept(of fields: HTTPFields, at responseTime: WallTime) -> HTTPFields {
    var kept = withoutConnection(fields)
    if !kept.contains(.date) { kept.append(HTTPField(.date, HTTPDate.text(responseTime))) }
    return kept
  }

  /// The stored fields with those of a later answer in their place (section 3.2).
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
