import ErrandSupport

/// One request on its way through a transport: what to send, how long it may take, and who wants to know.
///
/// A transport that stands in front of another one hands on a copy with a request, a sink or listeners of its own.
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

  /// What the line asks of a transport beside the exchange itself.
  package struct Handling: Sendable {
    /// Whether the body of a redirect is dropped, since the redirect is followed and nobody will read it.
    package var dropsRedirectBodies = false
    /// Whether it may be sent once more, on a connection of its own, where a kept connection dies before a byte of the
    /// answer (RFC 9112 section 9.3.1); nil for what the transport does by itself.
    package var mayBeRepeated: Bool?
    /// Where the transport notes how far it has come; nil where nobody wants to know.
    package var note: (any ExchangeObserver)?

    package init() {}
  }

  /// Held once: the loop of a transport hands it on many times.
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

  /// Makes an exchange of the line's.
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

  /// What is sent. The transport adds framing and nothing else.
  public var request: HTTPRequest {
    get { parts.value.request }
    set { parts.change { $0.request = newValue } }
  }

  /// The call it belongs to: cancel and deadline come from here.
  public var call: CallState { parts.value.call }
  /// How long the connection may take, name look-up and TLS included; nil for no bound but the deadline.
  public var connectTimeout: Duration? { parts.value.connectTimeout }
  /// How long nothing may move; nil for no bound but the deadline.
  public var idleTimeout: Duration? { parts.value.idleTimeout }
  /// How large the answer may be.
  public var limits: ResponseLimits { parts.value.limits }

  /// Where the body goes; nil for memory up to ``ResponseLimits/bodyBytes``.
  public var sink: (any BodySink)? {
    get { parts.value.sink }
    set { parts.change { $0.sink = newValue } }
  }

  /// How urgent it is, for transports that can tell the server or the system.
  public var priority: CallPriority { parts.value.priority }
  /// Which networks it may use, for transports that can tell networks apart.
  public var network: NetworkWish { parts.value.network }

  /// Told each informational answer (1xx) on the transport's thread.
  public var onInformational: (@Sendable (ResponseHead) -> Void)? {
    get { parts.value.onInformational }
    set { parts.change { $0.onInformational = newValue } }
  }

  /// Told how far the bodies have come, on the transport's thread.
  public var onProgress: (@Sendable (TransferProgress) -> Void)? {
    get { parts.value.onProgress }
    set { parts.change { $0.onProgress = newValue } }
  }

  /// What the line asks beside.
  package var handling: Handling {
    get { parts.value.handling }
    set { parts.change { $0.handling = newValue } }
  }
}

/// Receives the progress of an exchange, for a call that may end before the exchange does.
package protocol ExchangeObserver: Sendable {
  /// The transport has measured this so far. It replaces the earlier measurement.
  func measured(_ metrics: ExchangeMetrics)
  /// The transport sends the request once more, since a kept connection died before a byte of the response.
  func repeated()
  /// The exchange ended with a response. The caller of the transport reports it, not the transport.
  func answered(_ response: HTTPResponse)
  /// The exchange ended without a response, or its call left it. The caller of the transport reports it.
  func failed(_ error: any Error, at now: MonotonicInstant)
}

/// How large an answer may be. What goes beyond fails the call with ``TransportFailure/Kind/tooLarge``.
public struct ResponseLimits: Sendable, Hashable {
  /// Decoded bytes of a body that is held in memory. 32 MiB where nothing is said. Of an answer with a status from 400
  /// on the beginning is kept, so that its status is judged whatever page comes with it.
  public var bodyBytes: Int
  /// Bytes of one head, and of all trailers. 64 KiB where nothing is said.
  public var headBytes: Int
  /// Fields of one head. 256 where nothing is said.
  public var fieldCount: Int
  /// Informational answers before the final one. 16 where nothing is said.
  public var informationalCount: Int
  /// How far a coded body may expand, for every destination: 200 times beyond 64 MiB by default; nil for no bound.
  /// URLSession decodes by itself: there the length that the head announces is counted against, and a body without one
  /// is not bounded.
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
