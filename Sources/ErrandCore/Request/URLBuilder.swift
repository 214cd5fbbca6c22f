/// Joins base, path and arguments into the URL that is sent, in one pass over UTF-8.
struct URLBuilder: Sendable {
  let style: ArgumentStyle

  /// Base and path are joined by exactly one slash, even if neither or both of them have one; nothing else is
  /// normalized. The query consists of the query of the base, the query of the path and the arguments, in this order.
  /// Fragments are dropped.
  func url(_ target: URLFilter.Target, base: HTTPURL) throws(APIError) -> HTTPURL {
    let text = Array(target.path.utf8)
    try Self.refuseControls(text, target.path)
    let tail = text.prefix { $0 != 0x23 }
    let path = tail.prefix { $0 != 0x3F }
    var out: [UInt8] = []
    out.reserveCapacity(base.string.utf8.count + text.count + 24 * target.arguments.entries.count + 2)
    out.append(contentsOf: base.string.utf8.prefix(base.queryStart))
    if !path.isEmpty {
      if out.count > base.pathStart, out.last == 0x2F { out.removeLast() }
      if path.first != 0x2F { out.append(0x2F) }
      PercentEncoding.append(path, to: &out, keeping: .pathText)
    }
    let queryStart = out.count
    try appendQueries(
      base.query, tail[path.endIndex...].dropFirst(), target.arguments, isWritten: path.endIndex < tail.endIndex,
      to: &out)
    return HTTPURL(
      unchecked: String(decoding: out, as: UTF8.self), origin: base.origin, pathStart: base.pathStart,
      queryStart: queryStart)
  }

  /// - Parameter isWritten: True if the path contains a question mark. The question mark is kept even if nothing
  ///   follows it, because a server may treat a URL with an empty query as a different URL (RFC 3986 section 6.2.3).
  private func appendQueries(
    _ first: String?, _ second: ArraySlice<UInt8>, _ arguments: Arguments, isWritten: Bool, to out: inout [UInt8]
  ) throws(APIError) {
    let start = out.count
    out.append(0x3F)
    if let first { out.append(contentsOf: first.utf8) }
    if !second.isEmpty {
      if out.count > start + 1 { out.append(0x26) }
      PercentEncoding.append(second, to: &out, keeping: .queryText)
    }
    // The ampersand is added here, because `appendPairs` adds none if the preceding queries end in a question mark.
    let isSeparated = !arguments.isEmpty && out.count > start + 1 && out.last != 0x26
    if isSeparated { out.append(0x26) }
    let written = out.count
    do {
      try ArgumentWriter(style: style).appendPairs(arguments, to: &out, asForm: false)
    } catch {
      throw Self.unwritable(error)
    }
    if out.count == written, isSeparated { out.removeLast() }
    if out.count == start + 1, !isWritten, first == nil { out.removeLast() }
  }

  static func unwritable(_ error: ArgumentWriter.Unwritable) -> APIError {
    let clause =
      switch error.reason {
      case .notFinite: "is not a finite number; check the value"
      case .nestedInCommas:
        "has lists or objects in a list, which commas cannot represent; choose another `ArgumentStyle.arrays`"
      case .namedTwice:
        "is given twice, but a JSON object can contain a name only once; give the argument once, with a list as value"
      }
    return .build(.invalidArgument, "The argument \"\(error.name)\" \(clause).")
  }

  private static func refuseControls(_ bytes: [UInt8], _ path: String) throws(APIError) {
    guard bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return }
    throw .build(
      .invalidPath, "The path \"\(Redaction.url(path))\" holds a control character such as a line break; remove it.")
  }

  /// Splits an absolute URL into two parts: the scheme with the authority, and the rest.
  static func split(absolute text: String) -> (head: String, tail: String) {
    guard let colon = text.utf8.firstIndex(of: 0x3A) else { return (text, "") }
    let authority = text.utf8.index(colon, offsetBy: 3, limitedBy: text.utf8.endIndex) ?? text.utf8.endIndex
    let end = text.utf8[authority...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? text.utf8.endIndex
    return (String(text[..<end]), String(text[end...]))
  }
}
