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
