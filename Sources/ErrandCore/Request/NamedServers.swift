import ErrandSupport

/// The base URLs that a client names. Each one is parsed once.
final class BaseURLs: Sendable {
  /// The environment's base URL, parsed when the configuration was set.
  let main: Result<HTTPURL, APIError>
  /// The origins of all servers that the client names.
  let origins: Set<HTTPURL.Origin>
  private let mainText: String
  /// The URLs of CDNs, families and absolute paths, parsed at their first use.
  private let others = Locked<[ByteText: HTTPURL]>([:])

  private static let mostRemembered = 64

  init(_ environment: ServerEnvironment, others: [ServerEnvironment] = []) {
    mainText = environment.baseURL
    main = Self.parse(environment.baseURL)
    let urls = ([environment] + others).flatMap { environment in
      [environment.baseURL, environment.cdnURL].compactMap { $0 } + environment.fallbackURLs
    }
    origins = Set(urls.compactMap { try? HTTPURL($0).origin })
  }

  func url(for text: String) throws(APIError) -> HTTPURL {
    if text.hasSameBytes(as: mainText) { return try main.get() }
    if let known = others.withLock({ $0[ByteText(text)] }) { return known }
    let parsed = try Self.parse(text).get()
    others.withLock { others in
      if others.count >= Self.mostRemembered { others.removeAll() }
      others[ByteText(text)] = parsed
    }
    return parsed
  }

  static func parse(_ text: String) -> Result<HTTPURL, APIError> {
    do {
      return .success(try HTTPURL(text))
    } catch {
      let isMissing = text.isEmpty
      let clause = isMissing ? "the client has no base URL; set one, or give an absolute URL as path" : "\(error)"
      return .failure(.build(.invalidURL, APIError.sentence(clause), cause: error))
    }
  }
}

/// The servers that a client and the family of a request name. Secrets of the client and the family are sent to no
/// other server.
struct NamedServers: Sendable, Equatable {
  private let bases: BaseURLs
  private let familyURL: String?
  private let familyCDN: String?

  init(_ bases: BaseURLs, _ family: RequestFamily?) {
    self.bases = bases
    familyURL = family?.baseURL
    familyCDN = family?.cdnURL
  }

  static func == (left: NamedServers, right: NamedServers) -> Bool {
    left.familyURL == right.familyURL && left.familyCDN == right.familyCDN
      && (left.bases === right.bases || left.bases.origins == right.bases.origins)
  }

  /// True if one of these servers has the origin.
  func contains(_ origin: HTTPURL.Origin) -> Bool {
    if bases.origins.contains(origin) { return true }
    return [familyURL, familyCDN].contains { url in
      guard let url, let base = try? bases.url(for: url) else { return false }
      return base.origin == origin
    }
  }
}
