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
  /// The identity that the transport itself shows to servers, as text, and the servers that it reaches instead of those
  /// that the URLs name. Examples are a client certificate and a Unix socket for all requests. Nil if the transport
  /// shows no identity and reaches the servers that the URLs name.
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
  /// By default nil: the transport itself shows no identity to servers, and reaches the servers that the URLs name.
  public var identity: String? { nil }
}

/// A transport that runs tasks on its own thread. The responses arrive on this thread, so tasks that wait for them
/// resume without a switch of threads.
package protocol ExecutorProviding: Transport {
  /// The executor of the transport's thread.
  var executor: any TaskExecutor { get }
}

/// The optional features of a transport. If a call needs a feature that is missing, the call fails when it is built,
/// and the error names the feature.
public struct TransportCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
  /// One bit for each capability.
  public let rawValue: UInt32
  /// Makes a set of capabilities from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The transport passes the response body to a ``BodySink`` piece by piece, and can pause the transfer.
  public static let bodySink = TransportCapabilities(rawValue: 1 << 0)
  /// The transport reports interim responses (1xx).
  public static let informational = TransportCapabilities(rawValue: 1 << 1)
  /// The transport reports the trailer fields of a response.
  public static let trailers = TransportCapabilities(rawValue: 1 << 2)
  /// The transport supports HTTP/2.
  public static let http2 = TransportCapabilities(rawValue: 1 << 3)
  /// The transport supports proxies.
  public static let proxy = TransportCapabilities(rawValue: 1 << 4)
  /// The transport measures the phases of an exchange, such as name lookup and connecting.
  public static let metrics = TransportCapabilities(rawValue: 1 << 5)
  /// The transport reports the progress of the request body and the response body.
  public static let progress = TransportCapabilities(rawValue: 1 << 6)
  /// The transport observes the ``CallState`` of the exchange and ends early if the call is stopped. The library runs
  /// all other transports in a task, which is cancelled if the call is stopped.
  public static let observesStop = TransportCapabilities(rawValue: 1 << 7)
  /// The transport distinguishes cellular and expensive networks from others, and can wait for connectivity.
  public static let networkKind = TransportCapabilities(rawValue: 1 << 8)

  /// The transport sends request bodies whose bytes a ``BodySource`` provides during sending.
  public static let bodySource = TransportCapabilities(rawValue: 1 << 9)
  /// The transport sends request bodies that are a whole file (``HTTPBody/filePath``). A transport with ``bodySource``
  /// can send such bodies, too.
  public static let fileBody = TransportCapabilities(rawValue: 1 << 10)

  /// The names of the capabilities, separated by commas.
  public var description: String {
    let names: [(TransportCapabilities, String)] = [
      (.bodySink, "bodySink"), (.informational, "informational"), (.trailers, "trailers"), (.http2, "http2"),
      (.proxy, "proxy"), (.metrics, "metrics"), (.progress, "progress"), (.observesStop, "observesStop"),
      (.networkKind, "networkKind"), (.bodySource, "bodySource"), (.fileBody, "fileBody"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

/// The version of HTTP that a transport uses.
public enum HTTPVersionPolicy: Sendable, Hashable {
  /// The version that is best for the transport. The engine uses ``http2``. The transport on libcurl uses ``http2``
  /// with libcurl 8.24.0 and later. With earlier versions, it uses HTTP/1.1, because HTTP/2 in these versions loses and
  /// delays responses.
  case automatic
  /// HTTP/2 over TLS if the server offers HTTP/2, otherwise HTTP/1.1. In cleartext, HTTP/1.1 is used.
  case http2
  /// HTTP/1.1 only.
  case http1Only
  /// HTTP/2 also in cleartext, without asking the server first (RFC 9113 section 3.3). With libcurl, each exchange in
  /// cleartext has a separate connection.
  case http2PriorKnowledge
}
