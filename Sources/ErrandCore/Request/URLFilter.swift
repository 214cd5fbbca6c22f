/// Changes the target of requests before the URL is built: rewrites paths or adds arguments, for example.
///
/// Filters run in the order of the configuration, for relative paths and for absolute URLs. A filter can be removed by
/// its name.
///
/// ```swift
/// client.configure { $0.filters.append(URLFilter("version") { url, _ in url.arguments["version"] = "1.2.3" }) }
/// ```
public struct URLFilter: Sendable {
  /// The parts of a URL that a filter may change.
  public struct Target: Sendable, Hashable {
    /// The URL of the server: the base URL, the CDN's URL, or the scheme and authority of an absolute URL.
    public var base: String
    /// The path below the base URL, percent-escaped; it may contain a query.
    public var path: String
    /// The arguments that go into the query; arguments that go into a body are not included.
    public var arguments: Arguments
  }

  /// The name by which the filter can be found and removed.
  public let name: String
  let apply: @Sendable (inout Target, any APIRequest) throws -> Void

  /// Makes a filter from a function. An error that the function throws fails the call as it is built.
  public init(_ name: String, _ apply: @escaping @Sendable (inout Target, any APIRequest) throws -> Void) {
    self.name = name
    self.apply = apply
  }
}
