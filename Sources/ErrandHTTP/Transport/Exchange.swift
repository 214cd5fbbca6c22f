import ErrandSupport

/// One request for a transport: the request, its time limits, and the receivers of the body and of events.
///
/// A transport that wraps another one may pass on a copy with a different request, sink or listener.
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
    /// Whether the transport may send the request once more on a new connection. This happens if a reused connection
    /// closes before the first byte of the response (RFC 9112 section 9.3.1). Nil for the transport's default.
    package var mayBeRepeated: Bool?
    /// Receives the progress of the exchange; nil if no progress is recorded.
    package var note: (any ExchangeObserver)?

    package init() {}
  }

  /// Boxed, because a transport passes the exchange on many times.
  private var parts: Boxed<Parts>

  /// Makes an exchange.
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

  /// Makes an exchange for the pipeline.
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

  /// The request to send. The transport adds only fields that frame the message.
  public var request: HTTPRequest {
    get { parts.value.request }
    set { parts.change { $0.request = newValue } }
  }

  /// The state of the call that sends the exchange. It provides cancellation and the deadline.
  public var call: CallState { parts.value.call }
  /// The time limit for connecting, including name lookup and TLS; nil for no limit except the deadline.
  public var connectTimeout: Duration? { parts.value.connectTimeout }
  /// The longest time in which no byte is transferred; nil for no limit except the deadline.
  public var idleTimeout: Duration? { parts.value.idleTimeout }
  /// The limits on the size of the response.
  public var limits: ResponseLimits { parts.value.limits }

  /// The destination of the response body; nil for memory, up to ``ResponseLimits/bodyBytes``.
  public var sink: (any BodySink)? {
    get { parts.value.sink }
    set { parts.change { $0.sink = newValue } }
  }

  /// The priority of the exchange. Transports that can do so pass it to the server or the system.
  public var priority: CallPriority { parts.value.priority }
  /// The networks that the exchange may use. Only transports that can distinguish networks honour it.
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

/// Receives the progress of one exchange. The call of the exchange may end before the exchange does.
package protocol ExchangeObserver: Sendable {
  /// Reports the measurements so far. They replace those of earlier reports.
  func measured(_ metrics: ExchangeMetrics)
  /// Reports that the transport sends the request once more, because a reused connection closed before the first byte
  /// of the response.
  func repeated()
  /// Reports that the exchange ended with a response. Called by the code that uses the transport, not by the transport.
  func answered(_ response: HTTPResponse)
  /// Reports that the exchange ended without a response, or that its call abandoned it. Called by the code that uses
  /// the transport, not by the transport.
  func failed(_ error: any Error, at now: MonotonicInstant)
}

/// The limits on the size of a response. If a limit is exceeded, the call fails with
/// ``TransportFailure/Kind/tooLarge``.
public struct ResponseLimits: Sendable, Hashable {
  /// The most decoded bytes of a body in memory. 32 MiB by default. If the status is 400 or higher, the call does not
  /// fail and the beginning of a longer body is kept, so that the status is evaluated whatever page the server sends.
  public var bodyBytes: Int
  /// The most bytes of one header section, and of all trailers together. 64 KiB by default.
  public var headBytes: Int
  /// The most fields of one header section. 256 by default.
  public var fieldCount: Int
  /// The most interim responses (1xx) before the final response. 16 by default.
  public var informationalCount: Int
  /// How much larger a body may become by content decoding, for every destination of the body. By default 200 times,
  /// checked beyond 64 MiB; nil for no limit. URLSession decodes bodies itself. There the decoded size is compared with
  /// the announced `Content-Length`, and a body without `Content-Length` is not limited.
  public var expansion: BodyExpansion?

  /// Makes limits.
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
