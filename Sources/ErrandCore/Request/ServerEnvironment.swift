/// A set of servers under a name, such as production and staging.
public struct ServerEnvironment: Sendable, Hashable {
  /// The name by which the environment is selected.
  public var name: String
  /// The base URL, such as `https://api.example.com/v1`. It is checked when a call is built.
  public var baseURL: String
  /// The URL of the CDN; nil for none.
  public var cdnURL: String?

  /// The base URLs of other servers that serve the same resources. If the server of ``baseURL`` fails, these servers
  /// are asked in this order. They receive the credential that belongs to the base URL.
  public var fallbackURLs: [String]

  /// Makes an environment.
  public init(_ name: String = "default", baseURL: String, cdnURL: String? = nil, fallbackURLs: [String] = []) {
    self.name = name
    self.baseURL = baseURL
    self.cdnURL = cdnURL
    self.fallbackURLs = fallbackURLs
  }
}

extension ServerEnvironment: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name and the base URL; the values of the URL's query are masked.
  public var description: String { "\(name): \(Redaction.url(baseURL))" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The children that `dump` shows; the values of the URLs' queries are masked.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "name": name, "baseURL": Redaction.url(baseURL), "cdnURL": cdnURL.map(Redaction.url) as Any,
        "fallbackURLs": fallbackURLs.map(Redaction.url),
      ], displayStyle: .struct)
  }
}
