import ErrandSupport

/// One request for a transport: the request, its time limits, the receiver of the response body and the receivers of
/// events.
///
/// A transport that wraps another transport may change the request, the sink or an event closure in the copy that it
/// passes on.
public struct Exchange: Sendable {
  private struct Parts: Sendable {
    var request: HTTPRequest
    let call: CallState
    let connectTimeout: Duration?
    let idleTimeout: Duration?
    let limits: ResponseLimits
    var sink: (any BodySink)?
    let priority: CallPriority
    let network: NetworkWish
    var onInformational: (@Sendable (ResponseHead) -> Void)?
    var onProgress: (@Sendable (TransferProgress) -> Void)?
    var handling = Handling()
  }

  /// Instructions of the pipeline to a transport, in addition to the request and its limits.
  package struct Handling: Sendable {
    /// True if the transport drops the body of a redirect, because the pipeline follows the redirect without reading
    /// the body.
    package var dropsRedirectBodies = false
    /// Whether the transport may send the request once more on a new connection if a reused connection closes before
    /// the first byte of the response (RFC 9112 section 9.3.1). Nil means the default of the transport.
    package var mayBeRepeated: Bool?
    /// Receives the progress of the exchange; nil if no progress is recorded.
    package var observer: (any ExchangeObserver)?

    package init() {}
  }

  /// Whether the server may receive the request twice. By default, this is true only for GET and HEAD.
  package var isRepeatable: Bool { handling.mayBeRepeated ?? (request.method == .get || request.method == .head) }

  /// The properties are stored in one object, which all copies of an exchange share. A copy is therefore cheap.
  private var parts: Boxed<Parts>

  /// Makes an exchange. The parameters have the meaning of the properties with the same names.
  public init(
    request: HTTPRequest, call: CallState = CallState(), connectTimeout: Duration? = .seconds(10),
    idleTimeout: Duration? = .seconds(60), limits: ResponseLimits = ResponseLimits(), sink: (any BodySink)? = nil,
    priority: CallPriority = .normal, network: NetworkWish = NetworkWish(),
    onInformational: (@Sendable (ResponseHead) -> Void)? = nil,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) {
    self.init(
      request: request, call: call, connectTimeout: connectTimeout, idleTimeout: idleTimeout, limits: limits,
      sink: sink, priority: priority, network: network, onInformational: onInformational, onProgress: onProgress,
      handling: Handling())
  }

  /// Makes an exchange with instructions of the pipeline (`handling`).
  package init(
    request: HTTPRequest, call: CallState, connectTimeout: Duration?, idleTimeout: Duration?, limits: ResponseLimits,
    sink: (any BodySink)?, priority: CallPriority, network: NetworkWish,
    onInformational: (@Sendable (ResponseHead) -> Void)?, onProgress: (@Sendable (TransferProgress) -> Void)?,
    handling: Handling
  ) {
    parts = Boxed(
      Parts(
        request: request, call: call, connectTimeout: connectTimeout, idleTimeout: idleTimeout, limits: limits,
        sink: sink, priority: priority, network: network, onInformational: onInformational, onProgress: onProgress,
        handling: handling))
  }

  /// The request to send. The transport adds only fields that frame the message, such as `Content-Length`.
  public var request: HTTPRequest {
    get { parts.value.request }
    set { parts.change { $0.request = newValue } }
  }

  /// The state of the call that sends the exchange. The state provides cancellation and the deadline.
  public var call: CallState { parts.value.call }
  /// The time limit for connecting, including name lookup and TLS; nil for no limit except the deadline. URLSession
  /// does not report when it has connected, so that its transport cannot enforce this limit.
  public var connectTimeout: Duration? { parts.value.connectTimeout }
  /// The exchange fails if no byte is transferred for this time; nil for no limit except the deadline.
  public var idleTimeout: Duration? { parts.value.idleTimeout }
  /// The limits on the size of the response.
  public var limits: ResponseLimits { parts.value.limits }

  /// The destination of the response body. Nil if the body goes into memory, up to ``ResponseLimits/bodyBytes``.
  public var sink: (any BodySink)? {
    get { parts.value.sink }
    set { parts.change { $0.sink = newValue } }
  }

  /// The priority of the exchange. A transport that supports priorities passes the value on to the server or the
  /// system.
  public var priority: CallPriority { parts.value.priority }
  /// The networks that the exchange may use. Only transports that can distinguish networks honour this value.
  public var network: NetworkWish { parts.value.network }

  /// Called with each interim response (1xx) on the transport's thread.
  public var onInformational: (@Sendable (ResponseHead) -> Void)? {
    get { parts.value.onInformational }
    set { parts.change { $0.onInformational = newValue } }
  }

  /// Called with the progress of the request body and the response body, on the transport's thread.
  public var onProgress: (@Sendable (TransferProgress) -> Void)? {
    get { parts.value.onProgress }
    set { parts.change { $0.onProgress = newValue } }
  }

  /// Instructions of the pipeline, in addition to the request and its limits.
  package var handling: Handling {
    get { parts.value.handling }
    set { parts.change { $0.handling = newValue } }
  }
}

/// Receives the progress of one exchange. The call may end before its exchange ends, so reports can arrive after the
/// end of the call.
package protocol ExchangeObserver: Sendable {
  /// Reports the measurements so far. They replace the measurements of earlier reports.
  func measured(_ metrics: ExchangeMetrics)
  /// Reports that the transport sends the request once more, because a reused connection closed before the first byte
  /// of the response.
  func repeated()
  /// Reports that the transport opened a connection for the exchange. Returns the observer of the connection; nil if
  /// the connection is not observed.
  func connected() -> (any ConnectionObserver)?
  /// Reports that the exchange ended with a response. Called by the code that uses the transport, not by the transport.
  func answered(_ response: HTTPResponse)
  /// Reports that the exchange ended without a response, or that the call abandoned the exchange. Called by the code
  /// that uses the transport, not by the transport.
  func failed(_ error: any Error, at now: MonotonicInstant)
}

/// Follows one connection of a transport from its first request to its end. Only transports that manage their
/// connections themselves report them.
package protocol ConnectionObserver: Sendable {
  /// Reports the state of the connection, on the transport's thread. A state may be reported several times in
  /// succession. The transport reports no state after ``ConnectionState/closed``.
  func changed(to state: ConnectionState)
}

/// The state of a connection.
package enum ConnectionState: String, Sendable, Hashable {
  /// At least one exchange uses the connection.
  case active
  /// No exchange uses the connection. A later exchange may use it.
  case idle
  /// The connection was closed.
  case closed
}

/// The limits on the size of a response. If a limit is exceeded, the call fails with
/// ``TransportFailure/Kind/tooLarge``.
public struct ResponseLimits: Sendable, Hashable {
  /// The maximum number of decoded bytes of a body in memory. The default is 32 MiB. With a longer body the call fails,
  /// unless the status is 400 or higher. In this case only the beginning of the body is kept, and the status is
  /// evaluated as usual.
  public var bodyBytes: Int
  /// The maximum number of bytes of one header section, and of all trailers together. The default is 64 KiB.
  public var headBytes: Int
  /// The maximum number of fields of one header section. The default is 256.
  public var fieldCount: Int
  /// The maximum number of interim responses (1xx) before the final response. The default is 16.
  public var informationalCount: Int
  /// The limit on the growth of a body by content decoding, for every destination of the body; nil for no limit. By
  /// default a body of more than 64 MiB may have at most 200 times its coded size. URLSession decodes bodies itself.
  /// With URLSession, the decoded size is therefore compared with the announced `Content-Length`, and a body without
  /// `Content-Length` is not limited.
  public var expansion: BodyExpansion?

  /// Makes limits. The properties describe the default values.
  public init(
    bodyBytes: Int = 32 << 20, headBytes: Int = 64 << 10, fieldCount: Int = 256, informationalCount: Int = 16,
    expansion: BodyExpansion? = BodyExpansion()
  ) {
    self.bodyBytes = bodyBytes
    self.headBytes = headBytes
    self.fieldCount = fieldCount
    self.informationalCount = informationalCount
    self.expansion = expansion
  }
}

/// A limit on the growth of a body by content decoding. It rejects decompression bombs.
///
/// A few megabytes of gzip can become gigabytes, and more with zstd or brotli. The limit applies to every destination
/// of a body; a body in memory is also bounded by ``ResponseLimits/bodyBytes``. The first ``freeBytes`` decoded bytes
/// are not checked. A body with more decoded bytes fails if it has more than ``ratio`` decoded bytes for each coded
/// byte. The ratio is taken over all bytes received so far, so that one highly compressible section does not fail a
/// legitimate file.
///
/// Logs, tables and JSON expand to 5 to 50 times their coded size, seldom to 100 times. An image of an empty disk
/// expands to 1,000 times with gzip. To download such an image in a content coding, raise the ratio or set
/// ``ResponseLimits/expansion`` to nil.
public struct BodyExpansion: Sendable, Hashable {
  /// The maximum number of decoded bytes for each coded byte. The default is 200; a value below 1 counts as 1.
  public var ratio: Int
  /// The number of decoded bytes that every body may have, whatever its coded size. The default is 64 MiB.
  public var freeBytes: Int64

  /// Makes a limit. The default allows 64 MiB for every body, and 200 decoded bytes for each coded byte of a longer
  /// body.
  public init(ratio: Int = 200, freeBytes: Int64 = 64 << 20) {
    self.ratio = ratio
    self.freeBytes = freeBytes
  }

  /// Throws ``TransportFailure/Kind/tooLarge`` if a body has more decoded bytes than the limit allows for its coded
  /// bytes.
  package func check(decoded: Int64, coded: Int64) throws(TransportFailure) {
    let ratio = max(self.ratio, 1)
    guard decoded > freeBytes, decoded > coded.saturatingProduct(Int64(ratio)) else { return }
    throw TransportFailure(
      .tooLarge,
      "The response is larger than the limits allow: content decoding expanded \(coded) bytes of its body to "
        + "\(decoded) bytes, more than \(ratio) times as many; raise `limits.expansion` if you expect such a body.")
  }
}
