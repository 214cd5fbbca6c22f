/// A set of servers under a name, such as production and staging.
public struct ServerEnvironment: Sendable, Hashable {
  /// The name to choose it by.
  public var name: String
  /// The base URL, such as `https://api.example.com/v1`. Checked when a call is built.
  public var baseURL: String
  /// The URL of the CDN; nil for none.
  public var cdnURL: String?

  /// Other servers that give the same answers below these URLs, in the order in which they are asked where the base
  /// URL's server fails. They get the credential that belongs to the base URL.
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
  /// Name and base URL, the values of its query masked.
  public var description: String { "\(name): \(Redaction.url(baseURL))" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The children of a dump: the URLs with the values of their queries masked.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "name": name, "baseURL": Redaction.url(baseURL), "cdnURL": cdnURL.map(Redaction.url) as Any,
        "fallbackURLs": fallbackURLs.map(Redaction.url),
      ], displayStyle: .struct)
  }
}
