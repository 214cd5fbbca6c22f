#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  /// One exchange in the loop: how far it has come, and how it ended.
  ///
  /// Everything below `result` belongs to the loop's thread. `wakeup` is set before the loop is told of the exchange,
  /// and `result` before the caller is woken.
  final class EngineExchange: @unchecked Sendable {  // handed from the caller to the loop's thread and back, see above
    /// What carries it at this moment.
    enum Carrier {
      case nothing
      case dialing(Dialing)
      case connection(EngineConnection)
    }

    /// How often it moves to another connection because a kept one turned out to be dead before a byte was sent. After
    /// that it has a connection of its own.
    static let mostStaleConnections = 5
    /// How long the server may take to ask for a body that waits for its word.
    static let continueWait = Duration.seconds(1)
    /// Bodies up to this size go out with the head in one write.
    static let largestInlineBody = 16 << 10

    let exchange: Exchange
    let submitted = MonotonicInstant.now
    /// What a resolver found for the host; nil if none was asked.
    let addresses: [SocketAddress]?
    /// How long it took to find that.
    let lookup: Duration
    var wakeup: Wakeup?
    var result: Result<HTTPResponse, any Error>?

    // MARK: The loop's thread only

    var carrier = Carrier.nothing
    /// Its number in the loop's watch list; nil before it began and after it ended.
    var slot: Int?
    /// When the loop took it up.
    var begun: MonotonicInstant
    /// When it began to look for its present connection.
    var started: MonotonicInstant
    var lastActivity: MonotonicInstant
    var firstByte: MonotonicInstant?
    var nameResolved: MonotonicInstant?
    var connected: MonotonicInstant?
    /// When a body that waits for the server's word goes out without it.
    var continueEnd: MonotonicInstant?
    var isReused: Bool?
    var remoteAddress: String?
    /// Whether it was sent once more, since a kept connection died under it.
    var isRepeated = false
    var staleConnections = 0
    /// Whether an earlier connection has taken bytes of it.
    var wasBegun = false
    /// Whether the sink holds the body up.
    var isPaused = false
    /// Whether the server refused to be asked before the body, so that the request goes out again without the question.
    var isExpectationRefused = false
    var expectsContinue: Bool
    @exclusivity(unchecked) var content: ContentReceiver?
    /// The body, if it does not travel with the head.
    @exclusivity(unchecked) var upload: BodyUpload?
    var progress: ProgressReporter?
    /// The bytes of responses and requests on earlier connections.
    private var earlierReceived: Int64 = 0
    private var earlierSent: Int64 = 0

    init(_ exchange: Exchange, addresses: [SocketAddress]? = nil, lookup: Duration = .zero) {
      self.exchange = exchange
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

    /// Whether a body goes out with the head.
    static func isInline(_ body: HTTPBody) -> Bool {
      guard let data = body.data else { return false }
      return data.count <= largestInlineBody && !body.expectsContinue
    }

    var origin: HTTPURL.Origin { exchange.request.url.origin }

    /// What the caller gets, once the loop has woken it. It is moved out, so the second time there is nothing.
    func outcome() throws -> HTTPResponse {
      guard let result = result.take() else { throw TransportFailure(.other, "The transport has ended.") }
      return try result.get()
    }

    var connection: EngineConnection? {
      if case .connection(let connection) = carrier { connection } else { nil }
    }

    /// Whether a connection has taken bytes of the request, so that the server may carry it out.
    var mayHaveBeenSent: Bool { wasBegun || (connection?.machine.bytesWritten ?? 0) > 0 }

    // MARK: - Once more

    /// Whether the server may get it twice.
    private var isRepeatable: Bool {
      exchange.handling.mayBeRepeated ?? (exchange.request.method == .get || exchange.request.method == .head)
    }

    /// Whether it may be sent once more after a kept connection died before a line of the response (RFC 9112 section
    /// 9.3.1).
    var mayBeRepeated: Bool {
      isRepeatable && !isRepeated && isReused == true && upload?.canBeginAnew != false && !exchange.call.isStopped
    }

    /// Whether it needs a connection that carried nothing before.
    var needsFreshConnection: Bool { isRepeated || staleConnections >= Self.mostStaleConnections }

    /// Leaves its connection, to begin again on another one.
    func beginAgain(now: MonotonicInstant) {
      if let connection {
        wasBegun = wasBegun || connection.machine.bytesWritten > 0
        earlierSent += connection.machine.bytesWritten
        earlierReceived += connection.machine.bytesReceived
      }
      carrier = .nothing
      content = nil
      continueEnd = nil
      isPaused = false
      (connected, nameResolved, isReused) = (nil, nil, nil)
      (started, lastActivity) = (now, now)
      if let body = exchange.request.body, upload != nil { upload = BodyUpload(body) }
    }

    // MARK: - Time

    /// When it is to be looked at: since it has waited too long, for its connection first, for anything to move later.
    /// Nil for never, such as while its sink or the source of its body holds it up.
    var watchEnd: MonotonicInstant? {
      switch carrier {
      case .nothing: return nil
      case .dialing(let dialing):
        guard let next = dialing.nextAttempt else { return connectEnd }
        return connectEnd.map { min($0, next) } ?? next
      case .connection:
        if isPaused || upload?.isPaused == true { return continueEnd }
        let end = exchange.idleTimeout.map { lastActivity.advanced(by: $0) }
        guard let continueEnd else { return end }
        return end.map { min($0, continueEnd) } ?? continueEnd
      }
    }

    /// When its connection must stand; the look-up of the resolver counts. Nil for no bound.
    var connectEnd: MonotonicInstant? {
      exchange.connectTimeout.map { started.advanced(by: max(.zero, $0 - lookup)) }
    }

    // MARK: - Metrics

    /// What was measured so far.
    var metrics: ExchangeMetrics {
      var metrics = ExchangeMetrics()
      metrics.queue = submitted.duration(to: begun)
      metrics.isConnectionReused = isReused
      if isReused != true {
        metrics.nameLookup = nameResolved.map { submitted.duration(to: $0) } ?? (lookup > .zero ? lookup : nil)
        metrics.connect = connected.map { submitted.duration(to: $0) }
      }
      metrics.firstByte = firstByte.map { submitted.duration(to: $0) }
      metrics.remoteAddress = remoteAddress
      return metrics
    }

    /// What was measured, at the end.
    func finalMetrics() -> ExchangeMetrics {
      var metrics = metrics
      metrics.total = submitted.duration(to: .now)
      metrics.bytesSent = earlierSent
      metrics.bytesReceived = earlierReceived
      if let connection {
        metrics.bytesSent += connection.machine.bytesWritten
        metrics.bytesReceived += connection.machine.bytesReceived
        let head = connection.machine.head
        if head.status > 0 { metrics.version = head.version }
      }
      return metrics
    }

    /// Notes how far it has come, for a call that does not wait for its end.
    func noteProgress() { exchange.handling.note?.measured(metrics) }

    /// A failure of this exchange, which is certainly not sent if no connection took a byte of it.
    func failure(_ kind: TransportFailure.Kind, _ text: String? = nil) -> TransportFailure {
      TransportFailure(
        kind, text ?? FailureText.sentence(for: kind, origin: origin), isCertainlyNotSent: !mayHaveBeenSent)
    }
  }
#endif
