/// Performs one HTTP exchange, without redirects, retries, cookies or cache. This protocol is the interface to HTTP
/// libraries.
///
/// A transport has four duties. It adds only framing fields, such as `Content-Length`, to the request. It decodes the
/// content codings that it announces. It enforces the limits of the exchange on the response. It ends early if the call
/// of the exchange is stopped.
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
  /// The content codings that the transport decodes, in order of preference, such as `["gzip"]`. The client sends these
  /// codings in `Accept-Encoding`.
  var contentCodings: [String] { get }
  /// The clock and the timers for the calls that use the transport; nil for ``SharedTimers``.
  var timers: (any Timers)? { get }
  /// The identity that the transport itself shows to servers, as text. An example is the identity of a client
  /// certificate. Nil if the transport shows no identity.
  ///
  /// A digest of the identity is part of the key of each stored response. Clients whose transports have different
  /// identities share no stored responses, even if they share a cache. The identity is compared byte by byte, and is
  /// read when a client is configured. Return the certificate or a digest of the certificate, not its file name. A
  /// transport that wraps another transport returns the identity of the wrapped transport.
  var identity: String? { get }
  /// Sends the request and returns the response, whatever its status.
  /// - Throws: ``TransportFailure`` with a suitable kind, or ``CallState/Stopped``.
  func send(_ exchange: Exchange) async throws -> HTTPResponse
}

extension Transport {
  /// By default a transport supports no optional features.
  public var capabilities: TransportCapabilities { [] }
  /// By default a transport decodes no content codings.
  public var contentCodings: [String] { [] }
  /// By default nil: the calls use ``SharedTimers``.
  public var timers: (any Timers)? { nil }
  /// By default nil: the transport itself shows no identity to servers.
  public var identity: String? { nil }
}

/// A transport that runs tasks on its own thread. The responses arrive on this thread, so tasks that wait for them
/// resume without a switch of threads.
package protocol ExecutorProviding: Transport {
  /// The executor of the transport's thread.
  var executor: any TaskExecutor { get }
}
