#if os(Linux)
  import CCurl
  import ErrandDecoding
  import ErrandHTTP
  import ErrandTLS
  import Foundation

  /// The state and the result of one exchange in the event loop.
  ///
  /// The caller sets `wakeup` before it submits the transfer to the loop. The loop sets `result` before it wakes the
  /// caller. Only the loop's thread uses the properties that are declared after `result`.
  final class CurlTransfer: @unchecked Sendable {  // passed from the caller to the loop's thread and back, see above
    /// The maximum number of times that an exchange starts again because its connection was stale: closed, or with
    /// unexpected bytes, before the request was sent.
    static let mostStaleConnections = 5

    let exchange: Exchange
    let submitted = MonotonicInstant.now
    /// The addresses that a custom resolver found for the host, in libcurl's format. Nil if no custom resolver was
    /// used.
    let addresses: String?
    /// The duration of the custom resolver's lookup. Zero if no custom resolver was used.
    let lookup: Duration
    var wakeup: Wakeup?
    var result: Result<HTTPResponse, any Error>?

    // MARK: The loop's thread only

    unowned(unsafe) let loop: CurlLoop  // the loop runs, and so exists, as long as it contains a transfer
    var handle: CurlHandle?
    /// The index of the transfer in the loop's array of running transfers; -1 if the transfer is not running.
    var place = -1
    /// The error with which a callback ended the transfer. It takes precedence over libcurl's code.
    var failure: (any Error)?
    var isPaused = false
    /// Whether the transfer is paused because the decoding budget is used up, and not by its sink.
    var isYielding = false
    var lastActivity: MonotonicInstant
    var started: MonotonicInstant
    var firstByte: MonotonicInstant?
    /// The time of the next check of the connection while the transfer waits for the source of the request body.
    var nextCheck: MonotonicInstant?
    /// Whether the system had no memory or file descriptor for the last socket.
    var lacksResources = false
    private(set) var hasConnected = false
    /// The last address that the address policy rejected. Nil if the policy has allowed another address of the host.
    private(set) var refusedAddress: CurlAddress?
    private var mayConnectSomewhere = false
    private(set) var isReused: Bool?
    private(set) var connection: CurlConnection?
    var isStale = false
    /// The number of the HTTP/2 stream on which the request is sent. Nil if libcurl has not reported a stream.
    var stream: UInt32?
    /// Whether libcurl has stopped using the connection and looks for another connection.
    var isLeaving = false
    /// The number of times that the exchange started again because the server sent GOAWAY.
    var retirements = 0
    var staleConnections = 0
    /// Whether the request was sent again because a reused connection closed.
    var isRepeated = false
    @exclusivity(unchecked) private(set) var parser: HeadParser
    @exclusivity(unchecked) private(set) var body: CurlBody?
    private var lateTrailers: FieldCollector?
    private var lateTrailerBytes = 0
    private var progress: ProgressReporter?
    var requests = 0
    /// Whether the server may have received a part of the request before the exchange started again.
    private(set) var wasBegun = false
    /// Whether the body has no other end than the end of the TLS connection. The server must then send a close
    /// notification.
    private var awaitsClose = false
    /// The request body that libcurl reads through the callback. Nil if the request has no body or the body is sent
    /// with the headers.
    @exclusivity(unchecked) private(set) var upload: BodyUpload?
    /// Whether the request is sent with `Expect: 100-continue`; false after the server has rejected that field.
    var expectsContinue: Bool
    var isExpectationRefused = false
    var proxy: CurlProxy

    init(_ exchange: Exchange, loop: CurlLoop, addresses: String? = nil, lookup: Duration = .zero) {
      self.exchange = exchange
      self.addresses = addresses
      self.lookup = lookup
      self.loop = loop
      proxy = CurlProxy(
        setting: loop.configuration.proxy.chosen(for: exchange.request.url.origin, environment: loop.environment))
      lastActivity = submitted
      started = submitted
      parser = HeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
      expectsContinue = exchange.request.body?.expectsContinue == true
      if let report = exchange.onProgress { progress = ProgressReporter(report) }
    }

    /// Returns the result after the loop has woken the caller. The result is moved out, so it is available only once.
    func outcome() throws -> HTTPResponse {
      guard let result = result.take() else { throw TransportFailure(.other, "The transport has ended.") }
      return try result.get()
    }

    // MARK: - Connection

    /// Whether libcurl may connect to an address. libcurl asks for each address after the name lookup, so a later
    /// change of the name's addresses cannot circumvent the address policy.
    func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
      if loop.trust.settings.allowsAllAddresses { return true }
      let address = CurlAddress(address)
      let isAllowed = loop.trust.settings.allows(address?.kind)
      if isAllowed { mayConnectSomewhere = true }
      refusedAddress = mayConnectSomewhere ? nil : address
      return isAllowed
    }

    /// Whether libcurl may send the request over a connection. libcurl asks each time before it sends the request, also
    /// before it sends the request again. False ends the transfer.
    func mayRequest(over connection: CurlConnection?) -> Bool {
      // The server did not process the request on the connection that libcurl leaves, so the exchange starts again.
      if requests > 0, isUnprocessed { return false }
      use(connection)
      proxy.tunnelParser = nil
      (stream, isLeaving) = (nil, false)
      hasConnected = true
      lastActivity = loop.now
      loop.expectWatch(of: self)
      if isExpectationRefused { return false }
      if requests > 0, !mayBeSentAgain(over: connection) {
        failure = TransportFailure(
          .closedBeforeResponse,
          "The connection closed before the first byte of the response; the server may have received the request."
        )
        return false
      }
      if let connection, connection.requests > 0, connection.speaksHTTP1, connection.hasUnread {
        isStale = true
        return false
      }
      guard isUploadReady() else { return false }
      if requests > 0 {
        isRepeated = true
        exchange.handling.observer?.repeated()
      }
      requests += 1
      isReused = (connection?.requests ?? 0) > 0
      reportConnectionMetrics()
      connection?.requests += 1
      connection?.keepsUnreadBytes = upload != nil && exchange.request.url.scheme == .http
      return true
    }

    /// Sets the connection that the transfer uses. Nil after the end of the transfer, or if the connection cannot be
    /// identified.
    func use(_ connection: CurlConnection?) {
      guard connection !== self.connection else { return }
      self.connection?.leave()
      self.connection = connection
      connection?.join(self)
    }

    /// Reports the metrics that are known before the response. The observer then has these metrics even if the caller
    /// stops before the exchange ends.
    private func reportConnectionMetrics() {
      if let handle { exchange.handling.observer?.measured(CurlMetrics.connectionMetrics(handle.easy, of: self)) }
    }

    private func isUploadReady() -> Bool {
      do {
        try upload?.expectEmpty()
        return true
      } catch {
        failure = error
        return false
      }
    }

    /// Discards the parts of a response that were read, before the exchange starts again.
    func discardResponse() {
      // The field is left out after the server has rejected it.
      expectsContinue = exchange.request.body?.expectsContinue == true && !isExpectationRefused
      isExpectationRefused = false
      // A proxy that responds with status 407 has not passed on the request.
      if !proxy.isChallenged { wasBegun = mayHaveBeenSent }
      proxy.isChallenged = false
      use(nil)
      stream = nil
      requests = 0
      body = nil
      lateTrailers = nil
      lateTrailerBytes = 0
      parser = HeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
    }

    /// Stores the request body that libcurl reads through the callback. The body is nil if libcurl needs no such body.
    func pull(_ body: HTTPBody?) { upload = body.map(BodyUpload.init) }

    /// Whether the server may have received a part of the request, and may process it.
    var mayHaveBeenSent: Bool { wasBegun || requests > 1 || requests == 1 && !isUnprocessed }

    // MARK: - Head

    func takeHeadLine(_ line: UnsafeRawBufferPointer) -> Int {
      loop.watchdog?.progressed()
      lastActivity = loop.now
      if proxy.tunnelParser != nil {
        takeTunnelLine(line)
        return line.count
      }
      connection?.received += Int64(line.count)
      do {
        if parser.isFinal { try takeLateTrailer(line) } else { try takeHead(line) }
        return line.count
      } catch {
        failure = error
        return 0
      }
    }

    private func takeHead(_ line: UnsafeRawBufferPointer) throws {
      if firstByte == nil {
        firstByte = .now
        reportConnectionMetrics()
      }
      switch try parser.take(line) {
      case .nothing: return
      case .informational: exchange.onInformational?(parser.head)
      case .final(let framing): try begin(parser.head, framing)
      }
    }

    private func begin(_ head: ResponseHead, _ framing: BodyFraming) throws {
      connection?.speaksHTTP1 = head.version != .http2
      if parser.announcedForbiddenBody || hasUncountedBytes(framing) { handle?.forbidReuse() }
      isExpectationRefused = expectsContinue && head.status == 417 && upload?.canBeSentAgain == true
      proxy.isChallenged =
        exchange.request.url.scheme == .http && takeProxyResponse(head) && upload?.canBeSentAgain != false
      body = try CurlBody(
        framing: framing, contentEncoding: parser.contentEncoding, destination: try destination(for: head),
        limits: exchange.limits, refusesUnknownCodings: loop.configuration.refusesUnknownContentCodings,
        scratch: loop.scratch)
      if upload != nil, body?.isWhole == true || head.status >= 400 { loop.expectWatch(of: self) }
      if framing == .untilClose, head.version != .http2, exchange.request.url.scheme == .https {
        awaitsClose = handle?.watchClose() == true
      }
      reportUpload()
    }

    /// Reports the final progress of the upload if the request body was sent completely.
    private func reportUpload() {
      guard progress != nil, let body = exchange.request.body else { return }
      if let upload {
        if upload.hasEnded { progress?.finish(.upload, upload.sent) }
      } else if let length = body.length {
        progress?.finish(.upload, length)
      }
    }

    private func destination(for head: ResponseHead) throws -> CurlBody.Destination {
      if isExpectationRefused || proxy.isChallenged { return .discard }
      return try CurlBody.Destination(
        head, exchange,
        BodyFlow { [weak self, weak loop] in
          guard let self, let loop else { return }
          loop.push(.resume(self))
        })
    }

    /// Whether bytes arrived after a response without a body. libcurl drops these bytes, but the system has counted
    /// them as received.
    private func hasUncountedBytes(_ framing: BodyFraming) -> Bool {
      guard framing == .none, let connection, connection.speaksHTTP1, exchange.request.url.scheme == .http else {
        return false
      }
      return connection.holdsMoreThanReceived
    }

    /// Receives one line of the trailers. Over HTTP/2, libcurl passes trailers as header lines after the body.
    private func takeLateTrailer(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
      lateTrailerBytes += line.count
      guard lateTrailerBytes <= exchange.limits.headBytes else {
        throw .tooLarge("the trailers are longer than \(exchange.limits.headBytes) bytes", raise: "headBytes")
      }
      let content = try HeadLine.content(line)
      if lateTrailers == nil { lateTrailers = FieldCollector(limit: exchange.limits.fieldCount) }
      if !content.isEmpty { try lateTrailers?.append(content) }
    }

    // MARK: - Bodies

    func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
      loop.watchdog?.progressed()
      lastActivity = loop.now
      do {
        guard body != nil else { throw TransportFailure.malformed("a body arrived without response headers") }
        let before = body?.wireBytes ?? 0
        loop.decoding.beginPiece()
        isPaused = try body?.take(piece, &loop.decoding) == false
        if isPaused, body?.isOutOfBudget == true {
          isYielding = true
          loop.yield(self)
        }
        if body?.hasExcess == true { handle?.forbidReuse() }
        reportDownload(since: before)
        if isPaused { return Int(CURL_WRITEFUNC_PAUSE) }
        if body?.needsNoMore == true { return 0 }
        connection?.received += Int64(piece.count)
        if body?.isWhole == true, upload != nil { loop.expectWatch(of: self) }
        return piece.count
      } catch {
        failure = error
        return 0
      }
    }

    private func reportDownload(since before: Int64) {
      guard progress != nil, let body, body.wireBytes > before else { return }
      progress?.report(.download, body.wireBytes, total: body.announcedLength, at: loop.now)
    }

    func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
      loop.watchdog?.progressed()
      lastActivity = loop.now
      // The response is complete, so the upload is aborted. While the sink has paused the last piece of the response,
      // the upload is only paused, because an abort would lose the response.
      if body?.isWhole == true { return Int(isPaused ? CURL_READFUNC_PAUSE : CURL_READFUNC_ABORT) }
      do {
        switch try upload?.give(buffer, uploadFlow) ?? .end {
        case .bytes(let count):
          if let upload { progress?.report(.upload, upload.sent, total: upload.total, at: loop.now) }
          return count
        case .end: return 0
        case .later:
          scheduleCheck()
          return Int(CURL_READFUNC_PAUSE)
        }
      } catch {
        failure = error
        return Int(CURL_READFUNC_ABORT)
      }
    }

    private var uploadFlow: BodyFlow {
      BodyFlow { [weak self, weak loop] in
        guard let self, let loop else { return }
        loop.push(.resumeUpload(self))
      }
    }

    /// Releases the source of the body after the end of the exchange.
    func closeUpload() { upload?.close() }

    /// Records that the source may have bytes again. Returns false if libcurl does not wait for the source.
    func resumeUpload() -> Bool {
      guard upload?.isPaused == true else { return false }
      upload?.isPaused = false
      return true
    }

    /// The directions of the transfer (receiving, sending) that must stay paused, as a bit mask for libcurl.
    var pause: Int32 {
      (isPaused ? Int32(CURLPAUSE_RECV) : 0) | (upload?.isPaused == true ? Int32(CURLPAUSE_SEND) : 0)
    }

    /// Whether the response is complete. libcurl may report a failure nevertheless, for example because it could not
    /// send the rest of the request.
    var hasWholeResponse: Bool { failure == nil && !isPaused && body?.isWhole == true && parser.isFinal }

    /// Checks that the response is complete, and returns it.
    func finish() throws -> HTTPResponse {
      guard parser.isFinal else {
        throw TransportFailure(.truncated, "The connection closed within the response headers.")
      }
      if awaitsClose, handle?.sawClose == false, body?.needsNoMore != true {
        throw TransportFailure(.truncated, FailureText.missingCloseNotification)
      }
      try body?.finish(from: exchange.request.url.origin)
      reportUpload()
      var response = HTTPResponse(head: parser.head, url: exchange.request.url)
      progress?.finish(.download, body?.wireBytes ?? 0)
      response.body = body?.takeMemory() ?? Data()
      response.trailers = lateTrailers?.take() ?? body?.takeTrailers() ?? HTTPFields()
      if let handle { response.metrics = CurlMetrics.read(handle.easy, of: self) }
      return exchange.sink == nil && body?.isCut == true ? response.cut() : response
    }
  }
#endif
