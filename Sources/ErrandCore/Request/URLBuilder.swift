/// Joins the base URL, the path and the arguments into the URL that is sent. The URL is built as UTF-8 bytes.
struct URLBuilder: Sendable {
  let style: ArgumentStyle

  /// Returns the URL of a request. The base URL and the path are joined by exactly one slash, even if neither or both
  /// of them have one; nothing else is normalized. The query consists of the query of the base URL, the query of the
  /// path and the arguments, in this order. Fragments are dropped.
  func url(_ target: URLFilter.Target, base: HTTPURL) throws(APIError) -> HTTPURL {
    let text = Array(target.path.utf8)
    try Self.refuseControls(text, target.path)
    let tail = text.prefix { $0 != 0x23 }
    let path = tail.prefix { $0 != 0x3F }
    var out: [UInt8] = []
    out.reserveCapacity(base.string.utf8.count + text.count + 24 * target.arguments.entries.count + 2)
    out.append(contentsOf: base.string.utf8)
    out.removeLast(out.count - base.queryStart)
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

  /// Appends a question mark, the queries `first` and `second`, and the arguments. Ampersands separate them. If there
  /// is nothing after the question mark, it is kept only if the path contains a question mark or the base URL has a
  /// query. A server may treat the URL without the question mark as a different URL (RFC 3986 section 6.2.3).
  /// - Parameter isWritten: True if the path contains a question mark.
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
    // The query before the arguments may itself end in a question mark. `appendPairs` would then write no ampersand
    // before the arguments, so the ampersand is written here.
    let isSeparated = !arguments.isEmpty && out.count > start + 1 && out.last != 0x26
    if isSeparated { out.append(0x26) }
    let written = out.count
    try ArgumentWriter(style: style).appendPairs(arguments, to: &out, asForm: false)
    if out.count == written, isSeparated { out.removeLast() }
    if out.count == start + 1, !isWritten, first == nil { out.removeLast() }
  }

  private static func refuseControls(_ bytes: [UInt8], _ path: String) throws(APIError) {
    guard bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return }
    throw .build(
      .invalidPath, "The path \"\(Redaction.url(path))\" holds a control character such as a line break; remove it.")
  }

  /// Splits an absolute URL into two parts: the scheme with the authority, and the text after the authority.
  static func split(absolute text: String) -> (head: String, tail: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: 0x3A) else { return (text, "") }
    let end = bytes.dropFirst(colon + 3).firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
    return (String(decoding: bytes[..<end], as: UTF8.self), String(decoding: bytes[end...], as: UTF8.self))
  }
}

/// Changes the parts of a request's URL before the URL is built. A filter can, for example, rewrite paths or add
/// arguments.
///
/// Filters run in the order of the client's configuration, for relative paths and for absolute URLs. A filter can be
/// removed by its name. An absolute URL may lead to any server, and the client does not remove a secret that only a
/// filter adds. So a filter that adds a secret must check ``Target/base``.
///
/// ```swift
/// client.configure { $0.additions.filters.append(URLFilter("version") { url, _ in url.arguments["version"] = "1.2.3" }) }
/// ```
public struct URLFilter: Sendable {
  /// The parts of a URL that a filter may change.
  public struct Target: Sendable, Hashable {
    /// The URL of the server: the base URL, the CDN's URL, or the scheme and authority of an absolute URL.
    public var base: String
    /// The path below the base URL, percent-escaped; it may contain a query.
    public var path: String
    /// The arguments that go into the query. Arguments that go into a body are not included.
    public var arguments: Arguments
  }

  /// The name by which the filter can be found and removed.
  public let name: String
  let apply: @Sendable (inout Target, any APIRequest) throws -> Void

  /// Makes a filter from a function. If the function throws an error, the call fails while its request is built.
  public init(_ name: String, _ apply: @escaping @Sendable (inout Target, any APIRequest) throws -> Void) {
    self.name = name
    self.apply = apply
  }
}

extension URLFilter.Target: Masked {
  /// The base URL and the path; the values of their queries are masked.
  public var description: String { "\(Redaction.url(base)) \(Redaction.url(path))" }
  /// All properties; the values of the queries are masked. Of the arguments only the names are shown.
  package var shownParts: KeyValuePairs<String, Any> {
    ["base": Redaction.url(base), "path": Redaction.url(path), "arguments": arguments.names]
  }
}
