/// Changes where requests go before their URL is built: rewrites paths, adds arguments.
///
/// Filters run in their order, for relative paths and absolute URLs alike, and are removed by name.
///
/// ```swift
/// client.configure { $0.filters.append(URLFilter("version") { url, _ in url.arguments["version"] = "1.2.3" }) }
/// ```
public struct URLFilter: Sendable {
  /// What a filter may change.
  public struct Target: Sendable, Hashable {
    /// The server's URL: base, CDN, or the head of an absolute URL.
    public var base: String
    /// The path as it will stand below the base, escaped; it may hold a query.
    public var path: String
    /// The arguments of the query. Those that go into a body are not among them.
    public var arguments: Arguments
  }

  /// The name to find and remove it by.
  public let name: String
  let apply: @Sendable (inout Target, any APIRequest) throws -> Void

  /// Makes a filter of a function; what it throws fails the call as it is built.
  public init(_ name: String, _ apply: @escaping @Sendable (inout Target, any APIRequest) throws -> Void) {
    self.name = name
    self.apply = apply
  }
}
