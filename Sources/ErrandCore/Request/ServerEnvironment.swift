import ErrandSupport

/// A set of servers under a name, such as production or staging.
public struct ServerEnvironment: Sendable, Hashable {
  /// The name by which the environment is selected.
  public var name: String
  /// The base URL, such as `https://api.example.com/v1`. The URL is checked when the request of a call is built.
  public var baseURL: String
  /// The URL of the CDN (content delivery network); nil for none.
  public var cdnURL: String?

  /// The base URLs of other servers that serve the same resources. If the server of ``baseURL`` fails, the request is
  /// sent to these servers one after another, in the order of the array. The servers receive the credential that
  /// belongs to the base URL.
  public var fallbackURLs: [String]

  /// Makes a set of servers under a name.
  public init(_ name: String = "default", baseURL: String, cdnURL: String? = nil, fallbackURLs: [String] = []) {
    self.name = name
    self.baseURL = baseURL
    self.cdnURL = cdnURL
    self.fallbackURLs = fallbackURLs
  }
}

extension ServerEnvironment: ComparedByBytes {
  package var identity: some Hashable {
    Parts(ByteText(name), ByteText(baseURL), cdnURL.map { ByteText($0) }, fallbackURLs.map { ByteText($0) })
  }
}

extension [ServerEnvironment] {
  /// The first environment whose name has the same bytes as the given name; nil if there is none.
  func named(_ name: String) -> ServerEnvironment? { first { $0.name.hasSameBytes(as: name) } }
}

extension ServerEnvironment: Masked {
  /// The name and the base URL; the values of the URL's query are masked.
  public var description: String { "\(name): \(Redaction.url(baseURL))" }
  /// All properties; the values of the URLs' queries are masked.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "name": name, "baseURL": Redaction.url(baseURL), "cdnURL": cdnURL.map(Redaction.url) as Any,
      "fallbackURLs": fallbackURLs.map(Redaction.url),
    ]
  }
}

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
    familyURL = family?.value.baseURL
    familyCDN = family?.value.cdnURL
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
