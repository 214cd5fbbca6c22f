/// The servers that give the same answers: the base URL first, then those to fall back on.
struct HostList: Sendable, Hashable {
  /// A base URL without the slash at its end.
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

  /// Nil where there is nothing to fall back on.
  init?(_ environment: ServerEnvironment) throws(APIError) {
    if environment.fallbackURLs.isEmpty { return nil }
    var bases: [Base] = []
    for text in [environment.baseURL] + environment.fallbackURLs {
      let url = try RequestBuilder.parse(base: text).get()
      guard url.query == nil else {
        throw .build(
          .invalidURL,
          "The base URL \(url) has a query, and others to fall back on; give the arguments as `commonArguments`.")
      }
      let base = Base(url)
      if bases.contains(base) {
        throw .build(.invalidURL, "The base URL \(url) stands twice among those to fall back on; name it once.")
      }
      bases.append(base)
    }
    self.bases = bases
  }

  /// What stands behind the base URL; nil for a URL that does not stand below it.
  func rest(of url: HTTPURL) -> Substring? {
    guard let base = bases.first, url.origin == base.origin, url.string.hasPrefix(base.text) else { return nil }
    let rest = url.string.dropFirst(base.text.count)
    return rest.isEmpty || rest.first == "/" || rest.first == "?" ? rest : nil
  }

  /// The same below another base URL.
  func url(_ rest: Substring, at place: Int) -> HTTPURL? {
    guard bases.indices.contains(place) else { return nil }
    let base = bases[place]
    let path = rest.prefix { $0 != "?" }
    return HTTPURL(
      unchecked: base.text + rest, origin: base.origin, pathStart: base.pathStart,
      queryStart: base.text.utf8.count + path.utf8.count)
  }

  /// The first server's origin for that of any of them; every other stays what it is.
  func home(of origin: HTTPURL.Origin) -> HTTPURL.Origin {
    guard let first = bases.first, bases.contains(where: { $0.origin == origin }) else { return origin }
    return first.origin
  }
}
