#if os(Linux)
  import CCurl
  import ErrandCore
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
    var lastActivity: MonotonicInstant
    var started: MonotonicInstant
    var firstByte: MonotonicInstant?
    private(set) var hasConnected = false
    private(set) var isReused: Bool?
    private(set) var connection: CurlConnection?
    private(set) var isStale = false
    private(set) var staleConnections = 0
    @exclusivity(unchecked) private(set) var parser: CurlHeadParser
    @exclusivity(unchecked) private(set) var body: CurlBody?
    private var lateTrailers: CurlFieldCollector?
    private var lateTrailerBytes = 0
    private var progress: CurlProgress?
    private var requests = 0
    /// Whether the end of the body is the end of TLS, which the server has to announce.
    private var awaitsClose = false
    private(set) var bodySent = 0

    init(_ exchange: Exchange, loop: CurlLoop) {
      self.exchange = exchange
      self.loop = loop
      lastActivity = submitted
      started = submitted
      parser = CurlHeadParser(
        limits: exchange.limits, isHeadRequest: exchange.request.method == .head,
        dialect: loop.dialect(for: exchange.request.url.scheme))
      if let report = exchange.onProgress { progress = CurlProgress(report) }
    }

    /// What the caller gets, once the loop has woken it. It is moved out, so the second time there is nothing.
    func outcome() throws -> HTTPResponse {
      guard let result = result.take() else { throw TransportFailure(.other, "The transport has ended.") }
      return try result.get()
    }

    // MARK: - Connection

    /// Called before each writing of the request, also when libcurl does it again. False ends the transfer.
    func mayRequest(over connection: CurlConnection?) -> Bool {
      self.connection = connection
      hasConnected = true
      lastActivity = loop.now
      loop.expectWatch(of: self)
      if requests > 0, !mayBeSentAgain {
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
      requests += 1
      isReused = (connection?.requests ?? 0) > 0
      connection?.requests += 1
      return true
    }

    /// libcurl sends a request again when a kept connection dies under it. Only these may be.
    private var mayBeSentAgain: Bool { exchange.request.method == .get || exchange.request.method == .head }

    /// Whether the connection was stale before a byte was sent, so that the exchange may begin anew.
    func canStartAnew() -> Bool {
      guard isStale, failure == nil, staleConnections < Self.mostStaleConnections else { return false }
      isStale = false
      staleConnections += 1
      return true
    }

    /// Whether the server may have seen a part of the request.
    var mayHaveBeenSent: Bool { requests > 0 }

    // MARK: - Head

    func takeHeadLine(_ line: UnsafeRawBufferPointer) -> Int {
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
      if firstByte == nil { firstByte = .now }
      switch try parser.take(line) {
      case .nothing: return
      case .informational: exchange.onInformational?(parser.head)
      case .final(let framing): try begin(parser.head, framing)
      }
    }

    private func begin(_ head: ResponseHead, _ framing: BodyFraming) throws {
      connection?.speaksHTTP1 = head.version != .http2
      if parser.announcesForbiddenBody || hasUncountedBytes(framing) { handle?.forbidReuse() }
      body = try CurlBody(
        framing: framing, contentEncoding: parser.contentEncoding, destination: try destination(for: head),
        limits: exchange.limits, scratch: loop.scratch)
      if body?.isWhole == true, bodySent > 0 { loop.expectWatch(of: self) }
      if framing == .untilClose, head.version != .http2, exchange.request.url.scheme == .https {
        awaitsClose = handle?.watchClose() == true
      }
      if let sent = exchange.request.body?.count { progress?.finish(.upload, Int64(sent)) }
    }

    private func destination(for head: ResponseHead) throws -> CurlBody.Destination {
      guard let sink = exchange.sink else {
        if exchange.dropsRedirectBodies, RedirectDecision.isRedirect(head.status) { return .discard }
        return .memory(limit: exchange.limits.bodyBytes)
      }
      let flow = BodyFlow { [weak self, weak loop] in
        guard let self, let loop else { return }
        loop.push(.resume(self))
      }
      return switch try sink.begin(head, flow: flow) {
      case .memory(let limit): .memory(limit: limit)
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
      if !content.isEmpty { _ = try lateTrailers?.append(content) }
    }

    // MARK: - Bodies

    func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
      lastActivity = loop.now
      do {
        guard body != nil else { throw TransportFailure.malformed("a body came without a head") }
        let before = body?.wireBytes ?? 0
        isPaused = try body?.take(piece) == false
        if body?.hasExcess == true { handle?.forbidReuse() }
        reportDownload(since: before)
        if isPaused { return Int(CURL_WRITEFUNC_PAUSE) }
        connection?.received += Int64(piece.count)
        if body?.isWhole == true, bodySent > 0 { loop.expectWatch(of: self) }
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
      lastActivity = loop.now
      if body?.isWhole == true { return Int(CURL_READFUNC_ABORT) }
      guard let data = exchange.request.body, bodySent < data.count else { return 0 }
      let start = data.startIndex + bodySent
      let count = min(room.count, data.count - bodySent)
      data[start..<(start + count)].copyBytes(to: room, count: count)
      bodySent += count
      progress?.report(.upload, Int64(bodySent), total: Int64(data.count), at: loop.now)
      return count
    }

    /// Whether the answer came whole though libcurl reports a failure, such as that of sending the rest of a request.
    var hasWholeAnswer: Bool { failure == nil && !isPaused && body?.isWhole == true && parser.isFinal }

    /// Checks that all has come and makes the answer of it.
    func finish() throws -> HTTPResponse {
      guard parser.isFinal else {
        throw TransportFailure(.truncated, "The connection closed inside the head of the answer.")
      }
      if awaitsClose, handle?.sawClose == false {
        throw TransportFailure(.truncated, "The TLS connection broke off before the end of the body.")
      }
      try body?.finish()
      var response = HTTPResponse(head: parser.head, url: exchange.request.url)
      progress?.finish(.download, body?.wireBytes ?? 0)
      response.body = body?.takeMemory() ?? Data()
      response.trailers = lateTrailers?.take() ?? body?.takeTrailers() ?? HTTPFields()
      if let handle { response.metrics = CurlMetrics.read(handle.easy, of: self) }
      return response
    }
  }
#endif
