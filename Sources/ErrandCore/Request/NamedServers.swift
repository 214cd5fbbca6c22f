import ErrandSupport

/// The parsed URLs of the servers that a client uses. Each URL is parsed only once.
final class BaseURLs: Sendable {
  /// The base URL of the selected ``ServerEnvironment``, parsed when the configuration was set.
  let main: Result<HTTPURL, APIError>
  /// The origins of all servers in the environments of the client.
  let origins: Set<HTTPURL.Origin>
  private let mainText: String
  /// The parsed URLs of CDNs and request families, and parsed absolute URLs. The key is the text of the URL. A URL is
  /// parsed at its first use.
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

/// The servers whose URLs are in the configuration of a client or in the ``RequestFamily`` of a request. Secrets of the
/// client and of the family are sent only to these servers.
struct NamedServers: Sendable, Equatable {
  private let bases: BaseURLs
  private let familyURL: String?
  private let familyCDN: String?

  init(_ bases: BaseURLs, _ family: SharedFamily?) {
    self.bases = bases
    familyURL = family?.settings.baseURL
    familyCDN = family?.settings.cdnURL
  }

  static func == (left: NamedServers, right: NamedServers) -> Bool {
    left.familyURL == right.familyURL && left.familyCDN == right.familyCDN
      && (left.bases === right.bases || left.bases.origins == right.bases.origins)
  }

  /// Returns true if the client or the ``RequestFamily`` has a server with the given origin.
  func contains(_ origin: HTTPURL.Origin) -> Bool {
    if bases.origins.contains(origin) { return true }
    return [familyURL, familyCDN].contains { url in
      guard let url, let base = try? bases.url(for: url) else { return false }
      return base.origin == origin
    }
  }
}
