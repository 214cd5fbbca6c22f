#if os(Linux)
  import CCurl
  import ErrandHTTP
  import Foundation

  /// One exchange on its way through the loop: what came so far, and how it ended.
  ///
  /// The state below `result` belongs to the loop's thread. `wakeup` is set before the loop is told of the transfer,
  /// and `result` before the caller is woken.
  final class CurlTransfer: @unchecked Sendable {  // handed from the caller to the loop's thread and back, see above
    /// How often an exchange is put in again because its connection turned out to be stale before a byte was sent.
    static let mostStaleConnections = 5

    let exchange: Exchange
    let submitted = MonotonicInstant.now
    /// What a resolver found for the host, as libcurl reads it; nil where none was asked.
    let addresses: String?
    /// How long it took to find that.
    let lookup: Duration
    var wakeup: Wakeup?
    var result: Result<HTTPResponse, any Error>?

    // MARK: The loop's thread only

    unowned(unsafe) let loop: CurlLoop  // runs, and so lives, as long as a transfer is in it
    var handle: CurlHandle?
    /// Its place among the loop's running transfers; -1 where it is not one.
    var place = -1
    /// The reason a callback had for ending the transfer. It wins over libcurl's code.
    var failure: (any Error)?
    var isPaused = false
    /// Whether it is paused since its share of the loop's turn is used up, and not by its sink.
    var isYielding = false
    var lastActivity: MonotonicInstant
    var started: MonotonicInstant
    var firstByte: MonotonicInstant?
    /// When its connection is looked at next, while it waits for the source of its body.
    var nextLook: MonotonicInstant?
    /// Whether the system had no room for the last socket that was wanted.
    var lacksRoom = false
    private(set) var hasConnected = false
    /// The last address that the policy refused, unless another one was allowed.
    private(set) var refusedAddress: CurlAddress?
    private var mayConnectSomewhere = false
    private(set) var isReused: Bool?
    private(set) var connection: CurlConnection?
    var isStale = false
    /// Its stream on an HTTP/2 connection.
    var stream: UInt32?
    /// Whether libcurl has left the connection and looks for another.
    var isLeaving = false
    /// How often it began anew since a connection was retired.
    var retirements = 0
    var staleConnections = 0
    /// Whether it was sent once more, since a kept connection died under it.
    var isRepeated = false
    @exclusivity(unchecked) private(set) var parser: CurlHeadParser
    @exclusivity(unchecked) private(set) var body: CurlBody?
    private var lateTrailers: CurlFieldCollector?
    private var lateTrailerBytes = 0
    private var progress: CurlProgress?
    var requests = 0
    /// Whether the server may have seen a part of it before it began anew.
    private var wasBegun = false
    /// Whether the end of the body is the end of TLS, which the server has to announce.
    private var awaitsClose = false
    /// The body that libcurl pulls; nil where there is none, or where it travels with the head.
    @exclusivity(unchecked) private(set) var upload: CurlUpload?
    /// Whether the server is asked before the body goes out; not a second time once it has refused that.
    var expectsContinue: Bool
    var isExpectationRefused = false

    init(_ exchange: Exchange, loop: CurlLoop, addresses: String? = nil, lookup: Duration = .zero) {
      self.exchange = exchange
      self.addresses = addresses
      self.lookup = lookup
      self.loop = loop
      lastActivity = submitted
      started = submitted
      parser = CurlHeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
      expectsContinue = exchange.request.body?.expectsContinue == true
      if let report = exchange.onProgress { progress = CurlProgress(report) }
    }

    /// What the caller gets, once the loop has woken it. It is moved out, so the second time there is nothing.
    func outcome() throws -> HTTPResponse {
      guard let result = result.take() else { throw TransportFailure(.other, "The transport has ended.") }
      return try result.get()
    }

    // MARK: - Connection

    /// Called with each address before it is connected to. Names have been resolved by then, so nothing that a name
    /// comes to mean later can get around it.
    func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
      if loop.trust.allowsAllAddresses { return true }
      let address = CurlAddress(address)
      let isAllowed = loop.trust.allows(address?.kind)
      if isAllowed { mayConnectSomewhere = true }
      refusedAddress = mayConnectSomewhere ? nil : address
      return isAllowed
    }

    /// Called before each writing of the request, also when libcurl does it again. False ends the transfer.
    func mayRequest(over connection: CurlConnection?) -> Bool {
      // Asked of the connection that libcurl leaves: the exchange begins anew.
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
          "The connection closed before a byte of the answer; the server may have seen the request."
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

    /// Notes how far it has come, for a call that does not wait for its end.
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

    /// Takes back what was read of an answer.
    func forgetAnswer() {
      isExpectationRefused = false
      expectsContinue = false
      wasBegun = mayHaveBeenSent
      (connection, stream) = (nil, nil)
      requests = 0
      body = nil
      lateTrailers = nil
      lateTrailerBytes = 0
      parser = CurlHeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
    }

    /// Notes a body that libcurl will pull.
    func pull(_ body: HTTPBody?) { upload = body.map(CurlUpload.init) }

    /// Whether the server may have seen a part of the request, and may carry it out.
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

    /// The last word about the request's body: at the head of an answer where all of it had gone by then.
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

    /// libcurl drops bytes that come right behind a head without a body. The system has counted them.
    private func hasUncountedBytes(_ framing: BodyFraming) -> Bool {
      guard framing == .none, let connection, connection.speaksHTTP1, exchange.request.url.scheme == .http else {
        return false
      }
      return connection.holdsMoreThanReceived
    }

    /// HTTP/2 has its trailers as lines behind the body.
    private func takeLateTrailer(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
      lateTrailerBytes += line.count
      guard lateTrailerBytes <= exchange.limits.headBytes else {
        throw .tooLarge("its trailers are longer than \(exchange.limits.headBytes) bytes")
      }
      let content = try CurlLine.content(line)
      if lateTrailers == nil { lateTrailers = CurlFieldCollector(limit: exchange.limits.fieldCount) }
      if !content.isEmpty { try lateTrailers?.append(content) }
    }

    // MARK: - Bodies

    func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
      loop.watchdog?.progressed()
      lastActivity = loop.now
      do {
        guard body != nil else { throw TransportFailure.malformed("a body came without a head") }
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
      // While the sink holds up the last piece, an abort would lose the answer.
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

    /// Lets go of the source of the body: the exchange is over.
    func closeUpload() { upload?.close() }

    /// The source may have something again. False where libcurl does not wait for it.
    func resumeUpload() -> Bool {
      guard upload?.isPaused == true else { return false }
      upload?.isPaused = false
      return true
    }

    /// What of libcurl's work stays paused.
    var pause: Int32 {
      (isPaused ? Int32(CURLPAUSE_RECV) : 0) | (upload?.isPaused == true ? Int32(CURLPAUSE_SEND) : 0)
    }

    /// Whether the answer came whole though libcurl reports a failure, such as that of sending the rest of a request.
    var hasWholeAnswer: Bool { failure == nil && !isPaused && body?.isWhole == true && parser.isFinal }

    /// Checks that all has come and makes the answer of it.
    func finish() throws -> HTTPResponse {
      guard parser.isFinal else {
        throw TransportFailure(.truncated, "The connection closed inside the head of the answer.")
      }
      if awaitsClose, handle?.sawClose == false, body?.isTooMuch != true {
        throw TransportFailure(.truncated, "The TLS connection broke off before the end of the body.")
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
