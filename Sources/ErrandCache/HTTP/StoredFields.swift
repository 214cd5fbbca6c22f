import ErrandCore

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
  private static let ofBody: [HTTPFieldName] = [
    .contentLength, .contentEncoding, .contentType, "Content-Range",
  ]
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
