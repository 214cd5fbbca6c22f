/// Changes the parts of a request's URL before the URL is built. A filter can, for example, rewrite paths or add
/// arguments.
///
/// Filters run in the order of the client's configuration, for relative paths and for absolute URLs. A filter can be
/// removed by its name.
///
/// ```swift
/// client.configure { $0.additions.filters.append(URLFilter("version") { url, _ in url.arguments["version"] = "1.2.3" }) }
/// ```
public struct URLFilter: Sendable {
  /// The parts of a URL that a filter may change.
  public struct Target: Sendable, Hashable {
    /// The URL of the server: the base URL, the CDN's URL, or the scheme and authority of an absolute URL.
    public var base: String
    /// The path below the base URL, percent-escaped; it may contain a query.
    public var path: String
    /// The arguments that go into the query. Arguments that go into a body are not included.
    public var arguments: Arguments
  }

  /// The name by which the filter can be found and removed.
  public let name: String
  let apply: @Sendable (inout Target, any APIRequest) throws -> Void

  /// Makes a filter from a function. If the function throws an error, the call fails while its request is built.
  public init(_ name: String, _ apply: @escaping @Sendable (inout Target, any APIRequest) throws -> Void) {
    self.name = name
    self.apply = apply
  }
}
