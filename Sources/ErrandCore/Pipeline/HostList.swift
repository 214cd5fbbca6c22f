/// The servers that give the same responses: first the server of the base URL, then the fallback servers.
struct HostList: Sendable, Hashable {
  /// The base URL of one server, without the slash at its end.
  struct Base: Sendable, Hashable {
    let text: String
    let origin: HTTPURL.Origin
    let pathStart: Int

    init(_ url: HTTPURL) {
      text = url.string.hasSuffix("/") && url.path != "" ? String(url.string.dropLast()) : url.string
      origin = url.origin
      pathStart = url.pathStart
    }
  }

  let bases: [Base]

  /// Makes the list of the servers of an environment; nil if the environment has no fallback servers.
  init?(_ environment: ServerEnvironment) throws(APIError) {
    if environment.fallbackURLs.isEmpty { return nil }
    var bases: [Base] = []
    for text in [environment.baseURL] + environment.fallbackURLs {
      let url = try BaseURLs.parse(text).get()
      guard url.query == nil else {
        throw .build(
          .invalidURL,
          "The base URL \(url) has a query, which is not allowed with `fallbackURLs`; use `additions.arguments`"
            + " instead.")
      }
      let base = Base(url)
      if bases.contains(base) {
        throw .build(
          .invalidURL,
          "The base URL \(url) is listed twice in `baseURL` and `fallbackURLs`; list each base URL once.")
      }
      bases.append(base)
    }
    self.bases = bases
  }

  /// The part of a URL that follows the base URL of the first server. Nil if the URL does not begin with this base URL.
  func rest(of url: HTTPURL) -> Substring? { bases.first.flatMap { Self.rest(of: url, below: $0) } }

  private static func rest(of url: HTTPURL, below base: Base) -> Substring? {
    guard url.origin == base.origin, url.string.hasPrefix(base.text) else { return nil }
    let rest = url.string.dropFirst(base.text.count)
    return rest.isEmpty || rest.first == "/" || rest.first == "?" ? rest : nil
  }

  /// The URL of the same resource at another server: the base URL at the index `place`, followed by `rest`. Nil if the
  /// index is invalid.
  func url(_ rest: Substring, at place: Int) -> HTTPURL? {
    guard bases.indices.contains(place) else { return nil }
    let base = bases[place]
    let path = rest.prefix { $0 != "?" }
    return HTTPURL(
      unchecked: base.text + rest, origin: base.origin, pathStart: base.pathStart,
      queryStart: base.text.utf8.count + path.utf8.count)
  }

  /// Converts the origin of any server in the list to the origin of the first server. Returns every other origin
  /// unchanged.
  func home(of origin: HTTPURL.Origin) -> HTTPURL.Origin {
    guard let first = bases.first, bases.contains(where: { $0.origin == origin }) else { return origin }
    return first.origin
  }

  /// Converts a URL of any server in the list to the URL of the same resource at the first server. Returns a URL that
  /// begins with no base URL unchanged.
  func homeURL(of url: HTTPURL) -> HTTPURL {
    // One base URL may begin with another one. The longest one leaves the shortest rest.
    let rests = bases.compactMap { Self.rest(of: url, below: $0) }
    guard let rest = rests.min(by: { $0.utf8.count < $1.utf8.count }) else { return url }
    return self.url(rest, at: 0) ?? url
  }
}
