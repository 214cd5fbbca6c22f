/// Carries out one exchange: no redirects, no retries, no cookies, no cache. The seam below which HTTP libraries live.
///
/// A transport adds framing to the request and nothing else, undoes the content codings it announces, holds the
/// answer to the exchange's limits, and ends early when the exchange's call is stopped.
///
/// ```swift
/// struct AlwaysTeapot: Transport {
///   func send(_ exchange: Exchange) async throws -> HTTPResponse {
///     HTTPResponse(head: ResponseHead(status: 418), url: exchange.request.url)
///   }
/// }
/// ```
public protocol Transport: Sendable {
  /// What it can do; nothing special where it does not say.
  var capabilities: TransportCapabilities { get }
  /// The content codings it undoes, in the order of preference, such as `["gzip"]`; sent as `Accept-Encoding`.
  var contentCodings: [String] { get }
  /// The clock and timers it lends to the calls that run over it; nil for ``SharedTimers``.
  var timers: (any Timers)? { get }
  /// What servers may know the caller by though no request says it, such as a client certificate; nil for nothing.
  ///
  /// It belongs to the key of stored responses, of which a digest is kept: clients whose transports have different
  /// identities share no response though they share a cache. It is compared byte by byte, and read when a client is
  /// configured. Name the certificate itself, or a digest of it, and not the file that it was read from. A transport
  /// that stands in front of another one hands on that one's identity.
  var identity: String? { get }
  /// Sends the request and brings the answer, whatever its status.
  /// - Throws: ``TransportFailure`` with the kind that fits, or ``CallState/Stopped``.
  func send(_ exchange: Exchange) async throws -> HTTPResponse
}

extension Transport {
  /// Nothing special.
  public var capabilities: TransportCapabilities { [] }
  /// None.
  public var contentCodings: [String] { [] }
  /// None of its own.
  public var timers: (any Timers)? { nil }
  /// Nothing.
  public var identity: String? { nil }
}
