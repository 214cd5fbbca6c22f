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
