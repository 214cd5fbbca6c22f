/// One request on its way through a transport: what to send, how long it may take, and who wants to know.
///
/// A transport that stands in front of another one hands on a copy with a request, a sink or listeners of its own.
public struct Exchange: Sendable {
  /// What is sent. The transport adds framing and nothing else.
  public var request: HTTPRequest
  /// The call it belongs to: cancel and deadline come from here.
  public let call: CallState
  /// How long the connection may take, name look-up and TLS included; nil for no bound but the deadline.
  public let connectTimeout: Duration?
  /// How long nothing may move; nil for no bound but the deadline.
  public let idleTimeout: Duration?
  /// How large the answer may be.
  public let limits: ResponseLimits
  /// Where the body goes; nil for memory up to ``ResponseLimits/bodyBytes``.
  public var sink: (any BodySink)?
  /// How urgent it is, for transports that can tell the server or the system.
  public let priority: CallPriority
  /// Which networks it may use, for transports that can tell networks apart.
  public let network: NetworkWish
  /// Told each informational answer (1xx) on the transport's thread.
  public var onInformational: (@Sendable (ResponseHead) -> Void)?
  /// Told how far the bodies have come, on the transport's thread.
  public var onProgress: (@Sendable (TransferProgress) -> Void)?

  /// Whether the body of a redirect is dropped, since the redirect is followed and nobody will read it.
  package var dropsRedirectBodies = false
  /// Whether it may be sent once more, on a connection of its own, where a kept connection dies before a byte of the
  /// answer (RFC 9112 section 9.3.1); nil for what the transport does by itself.
  package var mayBeRepeated: Bool?
  /// Where the transport notes how far it has come; nil where nobody wants to know.
  package var note: ExchangeNote?

  /// Makes an exchange.
  public init(
    request: HTTPRequest, call: CallState = CallState(), connectTimeout: Duration? = .seconds(10),
    idleTimeout: Duration? = .seconds(60), limits: ResponseLimits = ResponseLimits(), sink: (any BodySink)? = nil,
    priority: CallPriority = .normal, network: NetworkWish = NetworkWish(),
    onInformational: (@Sendable (ResponseHead) -> Void)? = nil,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) {
    self.request = request
    self.call = call
    self.connectTimeout = connectTimeout
    self.idleTimeout = idleTimeout
    self.limits = limits
    self.sink = sink
    self.priority = priority
    self.network = network
    self.onInformational = onInformational
    self.onProgress = onProgress
  }
}
