/// Performs one HTTP exchange, without redirects, retries, cookies or cache. This protocol is the interface to HTTP
/// libraries.
///
/// A transport has four duties. It adds only fields that frame the message to the request, decodes the content codings
/// that it announces, enforces the limits of the exchange on the response, and ends early if the call of the exchange
/// is stopped.
///
/// ```swift
/// struct AlwaysTeapot: Transport {
///   func send(_ exchange: Exchange) async throws -> HTTPResponse {
///     HTTPResponse(head: ResponseHead(status: 418), url: exchange.request.url)
///   }
/// }
/// ```
public protocol Transport: Sendable {
  /// The optional features that the transport supports; none by default.
  var capabilities: TransportCapabilities { get }
  /// The content codings that the transport decodes, in order of preference, such as `["gzip"]`. They are sent in
  /// `Accept-Encoding`.
  var contentCodings: [String] { get }
  /// The clock and the timers for the calls that use the transport; nil for ``SharedTimers``.
  var timers: (any Timers)? { get }
  /// A text for the identity that the transport itself shows to servers, for example by a client certificate; nil if the
  /// transport shows none.
  ///
  /// A digest of the identity is part of the key of each stored response. Clients whose transports have different
  /// identities share no stored responses, even if they share a cache. The identity is compared byte by byte, and is
  /// read when a client is configured. Use the certificate or a digest of it, not its file name. A transport that wraps
  /// another one returns the identity of the wrapped transport.
  var identity: String? { get }
  /// Sends the request and returns the response, whatever its status.
  /// - Throws: ``TransportFailure`` with a suitable kind, or ``CallState/Stopped``.
  func send(_ exchange: Exchange) async throws -> HTTPResponse
}

extension Transport {
  /// The default: no optional features.
  public var capabilities: TransportCapabilities { [] }
  /// The default: no content codings.
  public var contentCodings: [String] { [] }
  /// The default: nil, for ``SharedTimers``.
  public var timers: (any Timers)? { nil }
  /// The default: nil. Servers know only what is in the request.
  public var identity: String? { nil }
}

/// A transport that runs tasks on its own thread. The tasks resume on the thread on which the responses arrive.
package protocol ThreadLending: Transport {
  /// The executor of the transport's thread.
  var executor: any TaskExecutor { get }
}
