#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  /// The state and the result of one exchange in the event loop.
  ///
  /// The caller sets `wakeup` before it submits the exchange to the loop. The loop sets `result` before it wakes the
  /// caller. Only the loop's thread uses the properties that are declared after `result`.
  final class EngineExchange: @unchecked Sendable {  // the caller and the loop's thread use it in turn, see above
    /// Whether the exchange has no connection, is connecting, waits for a connection that another exchange opens or for
    /// a stream of an open connection, or has a connection or a stream of an HTTP/2 connection.
    enum Stage {
      case unconnected
      case connecting(EngineConnector)
      case joining
      case connected(EngineConnection)
      case streaming(HTTP2Stream)
    }

    /// The maximum number of idle connections that an exchange loses, because they were closed before a byte of the
    /// request was sent. After that, the exchange opens a new connection.
    static let mostStaleConnections = 5
    /// The maximum number of times that an exchange moves because the server has not processed the request (RFC 9113
    /// section 8.7). After half of them, the exchange opens its own connection.
    static let mostRefusals = 6
    /// The wait after the second refusal. It doubles with each further one.
    private static let firstPause = Duration.milliseconds(20)
    /// The longest wait for status 100 (Continue) before the body is sent anyway.
    static let continueWait = Duration.seconds(1)
    /// The maximum size in bytes of a body that is sent in one write with the headers.
    static let largestInlineBody = 16 << 10

    let exchange: Exchange
    let submitted = MonotonicInstant.now
    /// The addresses that the custom resolver found for the host. Nil if no custom resolver was used.
    let addresses: [SocketAddress]?
    /// The proxy through which the request goes. Nil if the request goes to its origin.
    let proxy: EngineProxy?
    /// The duration of the custom resolver's lookup. Zero if no custom resolver was used.
    let lookup: Duration
    var wakeup: Wakeup?
    var result: Result<HTTPResponse, any Error>?

    // MARK: The loop's thread only

    var stage = Stage.unconnected
    /// The index of the exchange in the loop's list of time-out checks. Nil before the exchange begins and after it
    /// ends.
    var slot: Int?
    /// The time at which the loop began the exchange.
    var begun: MonotonicInstant
    /// The time at which the exchange began to look for its current connection.
    var started: MonotonicInstant
    var lastActivity: MonotonicInstant
    var firstByte: MonotonicInstant?
    var nameResolved: MonotonicInstant?
    /// The time at which the TCP connection was established, before TLS.
    var connected: MonotonicInstant?
    /// The time at which the TLS handshake was complete. Nil without TLS.
    var secured: MonotonicInstant?
    /// The time at which the body is sent even if status 100 (Continue) has not arrived. Nil if the body does not wait.
    var continueEnd: MonotonicInstant?
    /// The time at which the exchange looks for another connection: after a wait, or while it opens a connection. Nil if
    /// there is no such time.
    var pauseEnd: MonotonicInstant?
    var isReused: Bool?
    /// The other end of the last connection. Nil before the first connection.
    var connectedPeer: EnginePeer?
    /// True if the request was sent again because a connection that was used before closed before the response.
    var isRepeated = false
    var staleConnections = 0
    /// The number of times that a server guaranteed that it had not processed the request.
    var refusals = 0
    /// The HTTP/2 connections on which the server did not process the request.
    var refusers: [HTTP2Connection] = []
    /// True if an earlier connection accepted bytes of the request, and its server may have processed them.
    var wasBegun = false
    /// True if the sink has paused the body.
    var isPaused = false
    /// True if the server rejected `Expect: 100-continue` with status 417. The request is then sent again without this
    /// field.
    var isExpectationRefused = false
    var proxyDialogue = ProxyDialogue()
    /// True if the proxy has responded with status 407. The request is then sent again with another answer.
    var isChallenged = false
    var expectsContinue: Bool
    @exclusivity(unchecked) var content: ContentReceiver?
    /// The request body that is sent after the headers. Nil if the request has no body or the body is sent with the
    /// headers.
    @exclusivity(unchecked) var upload: BodyUpload?
    /// The file whose bytes are sent in place of those of ``upload``. Nil if the body is not sent directly from a file.
    var file: UploadFile?
    var progress: ProgressReporter?
    /// The number of response bytes that were received on earlier connections of this exchange.
    private var earlierReceived: Int64 = 0
    /// The number of request bytes that were sent on earlier connections of this exchange.
    private var earlierSent: Int64 = 0

    init(
      _ exchange: Exchange, proxy: EngineProxy? = nil, addresses: [SocketAddress]? = nil, lookup: Duration = .zero
    ) {
      self.exchange = exchange
      self.proxy = proxy
      self.addresses = addresses
      self.lookup = lookup
      begun = submitted
      started = submitted
      lastActivity = submitted
      let body = exchange.request.body
      expectsContinue = body?.expectsContinue == true
      if let body, !Self.isInline(body), exchange.request.method != .head { upload = BodyUpload(body) }
      if let report = exchange.onProgress { progress = ProgressReporter(report) }
    }

    /// True if a body is sent in one write with the headers.
    static func isInline(_ body: HTTPBody) -> Bool {
      guard let data = body.data else { return false }
      return data.count <= largestInlineBody && !body.expectsContinue
    }

    var origin: HTTPURL.Origin { exchange.request.url.origin }

    /// The host and the port to which the exchange connects: those of the proxy, or those of the origin.
    var peer: HTTPURL.Origin { proxy?.origin ?? origin }

    /// The proxy that receives the request itself, instead of opening a tunnel to the origin. Nil if there is none.
    var forwardingProxy: EngineProxy? { origin.scheme == .http ? proxy : nil }

    /// Returns the result after the loop has woken the caller. The result is moved out, so it is available only once.
    func outcome() throws -> HTTPResponse {
      guard let result = result.take() else { throw TransportFailure(.other, "The transport has ended.") }
      return try result.get()
    }

    var connection: EngineConnection? {
      if case .connected(let connection) = stage { connection } else { nil }
    }

    var stream: HTTP2Stream? {
      if case .streaming(let stream) = stage { stream } else { nil }
    }

    /// The number of bytes of the request that the current connection accepted.
    private var sent: Int64 { connection?.machine.bytesWritten ?? stream?.bytesSent ?? 0 }

    /// The number of bytes of the response that arrived on the current connection.
    private var received: Int64 { connection?.machine.bytesReceived ?? stream?.machine.bytesReceived ?? 0 }

    /// True if the server may process the request: a connection accepted bytes of it, or still sends them after the
    /// exchange has ended.
    var mayHaveBeenSent: Bool { wasBegun || sent > 0 || stream?.mayStillBeSent == true }

    // MARK: - Once more

    /// True if the request may be sent again after an idle connection closed before the first line of the response (RFC
    /// 9112 section 9.3.1).
    var mayBeRepeated: Bool {
      exchange.isRepeatable && !isRepeated && isReused == true && upload?.canBeSentAgain != false
        && !exchange.call.isStopped
    }

    /// True if the exchange must use a new connection instead of an idle connection.
    var needsFreshConnection: Bool { isRepeated || staleConnections >= Self.mostStaleConnections }

    /// True if the exchange must open its own connection, because servers often did not process its request on a shared
    /// one.
    var needsOwnConnection: Bool { refusals > Self.mostRefusals / 2 }

    /// The wait before a request is sent again that servers have refused to process `count` times. The first time there
    /// is none, because a server often refuses only what exceeds the limits of a connection. A server that refuses
    /// more is overloaded.
    static func pause(afterRefusals count: Int) -> Duration {
      count < 2 ? .zero : firstPause * (1 << min(count - 2, mostRefusals))
    }

    /// True if the exchange may use an HTTP/2 connection now.
    func mayShare(_ connection: HTTP2Connection) -> Bool { connection.acceptsStreams && mayUse(connection) }

    /// True if the exchange may use an HTTP/2 connection when it takes a stream. An exchange that lost its connection
    /// needs a newer one.
    func mayUse(_ connection: HTTP2Connection) -> Bool {
      connection.proxy == proxy && !needsOwnConnection && !refusers.contains { $0 === connection }
        && (!needsFreshConnection || connection.established >= started)
    }

    /// Resets the exchange so that it can begin again on another connection.
    func beginAgain(now: MonotonicInstant) {
      // A proxy that responds with status 407 has not passed on the request.
      if !isChallenged { wasBegun = mayHaveBeenSent }
      isChallenged = false
      earlierSent += sent
      earlierReceived += received
      stage = .unconnected
      content = nil
      (continueEnd, pauseEnd) = (nil, nil)
      isPaused = false
      progress?.dropWaiting()
      (connected, secured, nameResolved, isReused) = (nil, nil, nil, nil)
      (started, lastActivity) = (now, now)
      if let body = exchange.request.body, upload != nil { upload = BodyUpload(body) }
      file = nil
    }

    // MARK: - Time

    /// The time of the next check: of a time-out, or for a progress report that is due. Nil if no check is needed.
    var watchEnd: MonotonicInstant? {
      .earliest(timeoutEnd, progress?.nextReport)
    }

    /// The time of the next time-out check:
    /// - While the exchange connects: the connect time-out, the next connection attempt, or the use of a free stream.
    /// - On a connection: the idle time-out, or the end of the wait for status 100 (Continue), or for the answer to
    ///   PING.
    /// - Nil if no check is needed, for example while the sink or the source of the body has paused. A source that has
    ///   paused after the server rejected the request does not matter.
    private var timeoutEnd: MonotonicInstant? {
      switch stage {
      case .unconnected: return pauseEnd
      case .connecting(let connector): return .earliest(connectEnd, .earliest(connector.nextAttempt, pauseEnd))
      case .joining: return connectEnd
      case .streaming(let stream):
        let isSourcePaused = upload?.isPaused == true && stream.machine.head.status < 400
        if isPaused || isSourcePaused { return nil }
        return .earliest(idleEnd, stream.connection.pingEnd)
      case .connected(let connection):
        let isSourcePaused = upload?.isPaused == true && connection.machine.sending == .body
        if isPaused || isSourcePaused { return continueEnd }
        return .earliest(idleEnd, continueEnd)
      }
    }

    private var idleEnd: MonotonicInstant? { exchange.idleTimeout.map { lastActivity.advanced(by: $0) } }

    /// The time at which the connect time-out ends. The time-out includes the duration of the custom resolver's lookup.
    /// Nil if no connect time-out is set.
    var connectEnd: MonotonicInstant? {
      exchange.connectTimeout.map { started.advanced(by: max(.zero, $0 - lookup)) }
    }

    // MARK: - Metrics

    /// The metrics that are known now.
    var metrics: ExchangeMetrics {
      var metrics = ExchangeMetrics()
      metrics.queue = submitted.duration(to: begun)
      metrics.isConnectionReused = isReused
      if isReused != true {
        metrics.nameLookup = nameResolved.map { submitted.duration(to: $0) } ?? (lookup > .zero ? lookup : nil)
        metrics.connect = connected.map { submitted.duration(to: $0) }
        metrics.tls = secured.map { submitted.duration(to: $0) }
      }
      metrics.firstByte = firstByte.map { submitted.duration(to: $0) }
      metrics.remoteAddress = connectedPeer?.address
      metrics.remotePort = connectedPeer?.port
      return metrics
    }

    /// The metrics at the end of the exchange.
    func finalMetrics() -> ExchangeMetrics {
      var metrics = metrics
      metrics.total = submitted.duration(to: .now)
      metrics.bytesSent = earlierSent + sent
      metrics.bytesReceived = earlierReceived + received
      if let head = connection?.machine.head ?? stream?.machine.head, head.status > 0 {
        metrics.version = head.version
        if head.status >= 200 { metrics.status = head.status }
      }
      return metrics
    }

    /// True if closures or a sink of the caller run while the response arrives. They may make the caller stop, and the
    /// caller then expects the time of the first byte in the metrics.
    var isWatched: Bool { progress != nil || exchange.onInformational != nil || exchange.sink != nil }

    /// Reports the metrics that are known now to the exchange's observer. The observer then has these metrics even if
    /// the caller stops before the exchange ends.
    func noteProgress() { exchange.handling.observer?.measured(metrics) }

    /// Creates a failure of this exchange. If no connection accepted a byte of the request or may still accept one, the
    /// failure states that the request was certainly not sent. The message ends with the cause in parentheses, if there
    /// is one.
    func failure(_ kind: TransportFailure.Kind, _ text: String? = nil, cause: String? = nil) -> TransportFailure {
      let sentence = text ?? FailureText.sentence(for: kind, origin: origin)
      return TransportFailure(
        kind, cause.map { EngineFailure.with($0, sentence) } ?? sentence, isCertainlyNotSent: !mayHaveBeenSent)
    }
  }
#endif
