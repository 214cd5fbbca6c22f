/// Resolves the addresses of hosts in place of the system. Use it for DNS over HTTPS, for a service registry or in
/// tests.
///
/// ```swift
/// struct Registry: NameResolver {
///   func addresses(of host: String, port: Int) async throws -> [String] { ["192.0.2.7", "2001:db8::7"] }
/// }
/// ```
public protocol NameResolver: Sendable {
  /// The numeric addresses of a host, in the order in which the transport tries them. Called before each exchange, so
  /// an implementation should cache its results. Does not run on a thread of the transport. If the call is stopped, the
  /// task that runs this function is cancelled, and the call does not wait for the result.
  ///
  /// - Throws: An error that explains why there are no addresses; the call fails with
  ///   ``TransportFailure/Kind/nameLookup``.
  func addresses(of host: String, port: Int) async throws -> [String]
}
