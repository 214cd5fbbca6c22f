#if os(Linux)
  import CCurl
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  /// The state and the result of one exchange in the loop.
  ///
  /// The state below `result` belongs to the loop's thread. `wakeup` is set before the loop receives the transfer, and
  /// `result` before the caller resumes.
  final class CurlTransfer: @unchecked Sendable {  // passed from the caller to the loop's thread and back, see above
    /// How often an exchange starts again because its connection was stale before a byte was sent.
    static let mostStaleConnections = 5

    let exchange: Exchange
    let submitted = MonotonicInstant.now
    /// The resolver's addresses for the host in libcurl's form; nil if no resolver was used.
    let addresses: String?
    /// The duration of the name lookup.
    let lookup: Duration
    var wakeup: Wakeup?
    var result: Result<HTTPResponse, any Error>?

    // MARK: The loop's thread only

    unowned(unsafe) let loop: CurlLoop  // the loop runs, and so exists, as long as it contains a transfer
    var handle: CurlHandle?
    /// The index of the transfer in the loop's running transfers; -1 if it is not running.
    var place = -1
    /// The error with which a callback ended the transfer. It takes precedence over libcurl's code.
    var failure: (any Error)?
    var isPaused = false
    /// Whether the transfer is paused because its decoding budget is used up, and not by its sink.
    var isYielding = false
    var lastActivity: MonotonicInstant
    var started: MonotonicInstant
    var firstByte: MonotonicInstant?
    /// When the connection is checked next, while the transfer waits for the source of the request body.
    var nextLook: MonotonicInstant?
    /// Whether the system had no memory or file descriptor for the last socket.
    var lacksRoom = false
    private(set) var hasConnected = false
    /// The last address that the policy rejected, unless another one was allowed.
    private(set) var refusedAddress: CurlAddress?
    private var mayConnectSomewhere = false
    private(set) var isReused: Bool?
    private(set) var connection: CurlConnection?
    var isStale = false
    /// The stream of the request on an HTTP/2 connection.
    var stream: UInt32?
    /// Whether libcurl has left the connection and looks for another one.
    var isLeaving = false
    /// How often the exchange started again because of GOAWAY.
    var retirements = 0
    var staleConnections = 0
    /// Whether the request was sent again because a kept connection closed.
    var isRepeated = false
    @exclusivity(unchecked) private(set) var parser: HeadParser
    @exclusivity(unchecked) private(set) var body: CurlBody?
    private var lateTrailers: FieldCollector?
    private var lateTrailerBytes = 0
    private var progress: ProgressReporter?
    var requests = 0
    /// Whether the server may have received a part of the request before the exchange started again.
    private var wasBegun = false
    /// Whether the body ends with the TLS connection. The server must then send a close notification.
    private var awaitsClose = false
    /// The body that libcurl reads through the callback. Nil if there is none, or if it is sent together with the
    /// headers.
    @exclusivity(unchecked) private(set) var upload: BodyUpload?
    /// Whether the request is sent with `Expect: 100-continue`; false after the server has rejected that field.
    var expectsContinue: Bool
    var isExpectationRefused = false

    init(_ exchange: Exchange, loop: CurlLoop, addresses: String? = nil, lookup: Duration = .zero) {
      self.exchange = exchange
      self.addresses = addresses
      self.lookup = lookup
      self.loop = loop
      lastActivity = submitted
      started = submitted
      parser = HeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
      expectsContinue = exchange.request.body?.expectsContinue == true
      if let report = exchange.onProgress { progress = ProgressReporter(report) }
    }

    /// The result for the caller, after the loop has resumed it. The result is moved out, so it is available only once.
    func outcome() throws -> HTTPResponse {
      guard let result = result.take() else { throw TransportFailure(.other, "The transport has ended.") }
      return try result.get()
    }

    // MARK: - Connection

    /// Called with each address before libcurl connects. Names are resolved by then, so a later change of a name cannot
    /// circumvent the policy.
    func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
      if loop.trust.allowsAllAddresses { return true }
      let address = CurlAddress(address)
      let isAllowed = loop.trust.allows(address?.kind)
      if isAllowed { mayConnectSomewhere = true }
      refusedAddress = mayConnectSomewhere ? nil : address
      return isAllowed
    }

    /// Called each time before the request is sent, also if libcurl sends it again. Returning false ends the transfer.
    func mayRequest(over connection: CurlConnection?) -> Bool {
      // The server did not process the request on the connection that libcurl leaves, so the exchange starts again.
      if requests > 0, isNotTaken { return false }
      self.connection = connection
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
        exchange.handling.note?.repeated()
      }
      requests += 1
      isReused = (connection?.requests ?? 0) > 0
      noteWay()
      connection?.requests += 1
      connection?.keepsLastWords = upload != nil && exchange.request.url.scheme == .http
      return true
    }

    /// Records the metrics that are known before the response, for a call that does not wait for the end.
    private func noteWay() {
      if let handle { exchange.handling.note?.measured(CurlMetrics.way(handle.easy, of: self)) }
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
    func forgetAnswer() {
      isExpectationRefused = false
      expectsContinue = false
      wasBegun = mayHaveBeenSent
      (connection, stream) = (nil, nil)
      requests = 0
      body = nil
      lateTrailers = nil
      lateTrailerBytes = 0
      parser = HeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
    }

    /// Stores a body that libcurl reads through the callback.
    func pull(_ body: HTTPBody?) { upload = body.map(BodyUpload.init) }

    /// Whether the server may have received a part of the request, and may process it.
    var mayHaveBeenSent: Bool { wasBegun || requests > 1 || requests == 1 && !isNotTaken }

    // MARK: - Head

    func takeHeadLine(_ line: UnsafeRawBufferPointer) -> Int {
      loop.watchdog?.progressed()
      lastActivity = loop.now
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
        noteWay()
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
      isExpectationRefused = expectsContinue && head.status == 417 && upload?.canBeginAnew == true
      body = try CurlBody(
        framing: framing, contentEncoding: parser.contentEncoding, destination: try destination(for: head),
        limits: exchange.limits, refusesUnknownCodings: loop.configuration.refusesUnknownContentCodings,
        scratch: loop.scratch)
      if body?.isWhole == true, upload != nil { loop.expectWatch(of: self) }
      if framing == .untilClose, head.version != .http2, exchange.request.url.scheme == .https {
        awaitsClose = handle?.watchClose() == true
      }
      reportUpload()
    }

    /// Reports the final progress of the request's body, if all of it was sent before the response.
    private func reportUpload() {
      guard progress != nil, let body = exchange.request.body else { return }
      if let upload {
        if upload.isWhole { progress?.finish(.upload, upload.sent) }
      } else if let length = body.length {
        progress?.finish(.upload, length)
      }
    }

    private func destination(for head: ResponseHead) throws -> CurlBody.Destination {
      if isExpectationRefused { return .discard }
      guard let sink = exchange.sink else {
        if exchange.handling.dropsRedirectBodies, StatusRule.isRedirect(head.status) { return .discard }
        let limit = exchange.limits.bodyBytes
        return StatusRule.mayBeCut(head.status) ? .beginning(limit: limit) : .memory(limit: limit)
      }
      let flow = BodyFlow { [weak self, weak loop] in
        guard let self, let loop else { return }
        loop.push(.resume(self))
      }
      return switch try sink.begin(head, flow: flow) {
      case .memory(let limit): .beginning(limit: limit)
      case .sink: .sink(sink)
      case .discard: .discard
      }
    }

    /// Whether bytes follow response headers without a body. libcurl drops these bytes, but the system has counted
    /// them.
    private func hasUncountedBytes(_ framing: BodyFraming) -> Bool {
      guard framing == .none, let connection, connection.speaksHTTP1, exchange.request.url.scheme == .http else {
        return false
      }
      return connection.holdsMoreThanReceived
    }

    /// Receives one line of the trailers. In HTTP/2, trailers arrive as header lines after the body.
    private func takeLateTrailer(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
      lateTrailerBytes += line.count
      guard lateTrailerBytes <= exchange.limits.headBytes else {
        throw .tooLarge("its trailers are longer than \(exchange.limits.headBytes) bytes")
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
        if body?.isTooMuch == true { return 0 }
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

    func giveBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
      loop.watchdog?.progressed()
      lastActivity = loop.now
      // The response is complete, so the upload is aborted. But while the sink pauses on the last piece, an abort would
      // lose the response.
      if body?.isWhole == true { return Int(isPaused ? CURL_READFUNC_PAUSE : CURL_READFUNC_ABORT) }
      do {
        switch try upload?.give(room, uploadFlow) ?? .end {
        case .bytes(let count):
          if let upload { progress?.report(.upload, upload.sent, total: upload.total, at: loop.now) }
          return count
        case .end: return 0
        case .later:
          lookLater()
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

    /// Called when the source may have bytes again. Returns false if libcurl does not wait for the source.
    func resumeUpload() -> Bool {
      guard upload?.isPaused == true else { return false }
      upload?.isPaused = false
      return true
    }

    /// The directions that stay paused in libcurl.
    var pause: Int32 {
      (isPaused ? Int32(CURLPAUSE_RECV) : 0) | (upload?.isPaused == true ? Int32(CURLPAUSE_SEND) : 0)
    }

    /// Whether the response is complete, although libcurl may report a failure, such as a failure to send the rest of a
    /// request.
    var hasWholeAnswer: Bool { failure == nil && !isPaused && body?.isWhole == true && parser.isFinal }

    /// Checks that the response is complete, and returns it.
    func finish() throws -> HTTPResponse {
      guard parser.isFinal else {
        throw TransportFailure(.truncated, "The connection closed within the response headers.")
      }
      if awaitsClose, handle?.sawClose == false, body?.isTooMuch != true {
        throw TransportFailure(.truncated, "The TLS connection ended without a close notification during the body.")
      }
      try body?.finish()
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
