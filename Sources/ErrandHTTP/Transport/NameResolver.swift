/// Finds the addresses of hosts in the place of the system: for DNS over HTTPS, a service registry, or tests.
///
/// ```swift
/// struct Registry: NameResolver {
///   func addresses(of host: String, port: Int) async throws -> [String] { ["192.0.2.7", "2001:db8::7"] }
/// }
/// ```
public protocol NameResolver: Sendable {
  /// The addresses of a host in numbers, in the order to try them. Asked before each exchange, so it keeps what it
  /// found itself. It runs on no thread of the transport. A call that is stopped waits no longer, and its task is
  /// cancelled.
  ///
  /// - Throws: Whatever explains why there are none; the call fails with ``TransportFailure/Kind/nameLookup``.
  func addresses(of host: String, port: Int) async throws -> [String]
}
