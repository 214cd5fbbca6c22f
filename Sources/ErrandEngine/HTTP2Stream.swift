#if os(Linux)
  import CNGHTTP2
  import ErrandDecoding
  import ErrandHTTP

  /// One exchange on an HTTP/2 connection. Only the loop's thread uses this object.
  final class HTTP2Stream: LoopWork {
    let exchange: EngineExchange
    let connection: HTTP2Connection
    private let loop: EngineLoop
    /// The number of the stream. 0 before the request is passed to libnghttp2.
    var id: Int32 = 0
    @exclusivity(unchecked) private(set) var machine: HTTP2StreamMachine
    /// The position of the request in the bytes of the connection. Nil if libnghttp2 has not written the request yet.
    private(set) var start: Int64?
    /// The number of bytes of the request in the frames that libnghttp2 has written.
    private var bytesWritten: Int64 = 0
    /// True if the end of the request is written.
    private(set) var hasSentEnd = false
    /// True if both sides have ended the stream, or one side has reset it.
    private(set) var isClosed = false
    /// The error code that is sent to the server if the stream must be reset.
    private(set) var resetCode = NGHTTP2_CANCEL
    /// Received content that is not used yet, because the sink or the decoding budget stopped the response body. The
    /// server can send no more than the window of the stream.
    private var parked: [UInt8] = []
    private var parkedStart = 0
    /// True if the response body continues in the next iteration of the loop because the decoding budget is used up.
    private var isYielding = false
    /// The failure that ends the exchange when the content that arrived before it is delivered. Nil if there is none.
    private var heldFailure: (any Error)?
    /// True if the loop continues with this stream in its next iteration.
    var isQueued = false

    init(_ exchange: EngineExchange, _ connection: HTTP2Connection) {
      self.exchange = exchange
      self.connection = connection
      loop = connection.loop
      machine = HTTP2StreamMachine(
        limits: exchange.exchange.limits, isHeadRequest: exchange.exchange.request.method == .head)
    }

    /// The number of bytes of the request in frames that were sent.
    var bytesSent: Int64 { connection.hasWritten(self) ? bytesWritten : 0 }

    /// True if the server may receive the request even if the exchange ends now: libnghttp2 has written the request, and
    /// the connection sends these bytes when the system accepts them. Before that, libnghttp2 drops the request of a
    /// stream that is reset.
    var mayStillBeSent: Bool { start != nil && connection.isOpen }

    /// True if the exchange uses this stream.
    var isOpen: Bool { exchange.slot != nil && exchange.stream === self }

    /// True if the response body is stopped by its sink or by the decoding budget.
    private var isStopped: Bool { isYielding || exchange.isPaused }

    // MARK: - Sending

    /// Records a frame of this stream that libnghttp2 has written.
    func sentFrame(kind: UInt8, flags: UInt8, length: Int, at position: Int64) {
      let isHead = UInt32(kind) == NGHTTP2_HEADERS.rawValue
      let isContent = UInt32(kind) == NGHTTP2_DATA.rawValue
      if isHead, start == nil { start = position }
      guard isHead || isContent || UInt32(kind) == NGHTTP2_CONTINUATION.rawValue else { return }
      bytesWritten += Int64(length)
      if isHead || isContent { hasSentEnd = hasSentEnd || UInt32(flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 }
      exchange.lastActivity = loop.now
    }

    // MARK: - Receiving

    func beginSection() {
      exchange.lastActivity = loop.now
      do { try machine.beginSection() } catch { failAfterContent(error) }
    }

    func takeField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
      do { try machine.take(name, value) } catch { return failAfterContent(error) }
      if exchange.firstByte == nil, machine.hasBegun {
        exchange.firstByte = .now
        exchange.noteProgress()
      }
    }

    /// Ends a header section. Returns true if it contains the headers or the trailers of the final response, which a
    /// server sends once.
    func endSection(endsStream: Bool) -> Bool {
      do {
        switch try machine.endSection(endsStream: endsStream) {
        case .informational:
          exchange.exchange.onInformational?(machine.head)
          return false
        case .head(let framing):
          try exchange.begin(framing, machine.head, machine.contentEncoding, loop)
          // The idle time-out applies again if the server rejects the request while its source has paused.
          if exchange.upload?.isPaused == true, machine.head.status >= 400 { loop.expectWatch(of: exchange) }
        case .trailers: break
        }
      } catch {
        failAfterContent(error)
        return false
      }
      completeIfDone()
      return true
    }

    func takeContent(_ bytes: UnsafeRawBufferPointer) {
      exchange.lastActivity = loop.now
      do {
        try machine.takeContent(bytes.count)
        if isStopped { return park(bytes) }
        loop.decoding.beginPiece()
        let used = try deliver(bytes)
        if isOpen, used < bytes.count { park(UnsafeRawBufferPointer(rebasing: bytes[used...])) }
      } catch {
        failAfterContent(error)
      }
    }

    func endStream() {
      do { try machine.endStream() } catch { return failAfterContent(error) }
      completeIfDone()
    }

    /// Continues a response body that was stopped by its sink or by the decoding budget.
    func continueTurn() {
      isYielding = false
      exchange.isPaused = false
      exchange.lastActivity = loop.now
      loop.decoding.beginPiece()
      do {
        if try exchange.content?.drain(&loop.decoding) == false { return stop() }
        if exchange.content?.needsNoMore == true { return complete() }
        try deliverParked()
      } catch {
        return fail(error)
      }
      completeIfDone()
    }

    private func deliverParked() throws {
      guard parkedStart < parked.count else { return }
      var bytes: [UInt8] = []
      swap(&bytes, &parked)
      let used = try bytes.withUnsafeBytes { try deliver(UnsafeRawBufferPointer(rebasing: $0[parkedStart...])) }
      parkedStart += used
      guard isOpen, parkedStart < bytes.count else { return parkedStart = 0 }
      swap(&bytes, &parked)
    }

    /// Passes content to its destination, and lets the server send as many bytes again. Returns the number of used
    /// bytes. The exchange may end during the call.
    private func deliver(_ bytes: UnsafeRawBufferPointer) throws -> Int {
      let taken = try exchange.content?.take(bytes, &loop.decoding) ?? (bytes.count, true)
      connection.returnWindow(of: self, taken.used)
      exchange.reportDownload(total: machine.announcedLength, loop)
      if exchange.content?.needsNoMore == true {
        complete()
        return bytes.count
      }
      if !taken.mayContinue { stop() }
      return taken.used
    }

    private func park(_ bytes: UnsafeRawBufferPointer) {
      if parkedStart > 0 {
        parked.removeFirst(parkedStart)
        parkedStart = 0
      }
      parked.append(contentsOf: bytes)
    }

    private func stop() {
      if exchange.content?.isOutOfBudget == true {
        isYielding = true
        loop.continueLater(with: self)
      } else {
        exchange.isPaused = true
      }
    }

    // MARK: - The end

    /// True if content has arrived that is not delivered yet, because the sink or the decoding budget stopped it.
    private var holdsContent: Bool { isStopped || !parked.isEmpty }

    /// Ends the exchange if its response is complete or has failed, and no content is left to deliver.
    private func completeIfDone() {
      guard isOpen, !holdsContent else { return }
      if let heldFailure { return fail(heldFailure) }
      if machine.isWhole { complete() }
    }

    /// Ends the exchange with its response. If the server rejected `Expect: 100-continue`, sends the request again
    /// instead.
    private func complete() {
      guard isOpen else { return }
      if exchange.isExpectationRefused {
        exchange.isExpectationRefused = false
        exchange.expectsContinue = false
        return loop.sendAgain(exchange, isKept: false)
      }
      let result = Result { try exchange.finish(machine.head, mayBeCutOff: false) { machine.takeTrailers() } }
      loop.end(exchange, result, keeping: nil)
    }

    /// Ends the exchange with a failure.
    private func fail(_ error: any Error) {
      guard isOpen else { return }
      chooseResetCode(for: error)
      loop.fail(exchange, error)
    }

    /// Ends the exchange with a failure of the stream, as soon as the content that arrived before it is delivered. The
    /// stream itself ends at once.
    private func failAfterContent(_ error: any Error) {
      guard isOpen, heldFailure == nil else { return }
      guard holdsContent else { return fail(error) }
      heldFailure = error
      chooseResetCode(for: error)
      connection.remove(self)
      isClosed = true
    }

    private func chooseResetCode(for error: any Error) {
      if (error as? TransportFailure)?.kind == .malformedResponse { resetCode = NGHTTP2_PROTOCOL_ERROR }
    }

    /// Handles the end of the stream. An exchange whose response is complete continues until its sink has taken all
    /// bytes.
    func closed(code: UInt32) {
      isClosed = true
      switch machine.reset(code: code) {
      case .unprocessed: loop.moveUnprocessed(exchange, from: connection)
      case .http1Required where loop.mayUseHTTP1(for: exchange.origin):
        loop.requireHTTP1(of: exchange.origin)
        loop.moveUnprocessed(exchange, from: connection)
      case .response: completeIfDone()
      // The rest of a response that rejects the expectation is not needed.
      case .failure where exchange.isExpectationRefused: complete()
      case .http1Required, .failure:
        failAfterContent(
          exchange.failure(.http2, cause: "the stream was reset with \(HTTP2Session.name(of: code))"))
      }
    }

    /// Handles a request that cannot be sent.
    func notSent(_ cause: String) {
      isClosed = true
      fail(RequestCheck.refused(cause))
    }

    /// Handles the end of the connection. `fault` is the violation of HTTP/2 that ended it, if there was one. `tls` is
    /// what TLS reports about the end.
    func lost(isReset: Bool, fault: String?, _ tls: TLSFailure?) {
      isClosed = true
      let ending = machine.ending(isWritten: connection.hasWritten(self))
      if fault == nil,
        let failure = EngineFailure.lost(
          exchange, ending, isReset: isReset, hasResponded: connection.hasResponded, tls)
      {
        return failAfterContent(failure)
      }
      switch ending {
      case .response: completeIfDone()
      case .idle, .unsent: loop.moveOn(exchange, connection.goAwayCause)
      case .beforeResponse where fault == nil: loop.lostBeforeResponse(exchange, connection.goAwayCause)
      case .inBody where fault == nil && exchange.isExpectationRefused: complete()
      case .beforeResponse, .inHead, .inBody:
        if let fault { return failAfterContent(exchange.failure(.http2, cause: fault)) }
        let text = ending == .inHead ? EngineFailure.inHead : nil
        failAfterContent(exchange.failure(isReset ? .reset : .truncated, text, cause: connection.goAwayCause))
      }
    }

    /// Releases the stream and the memory that it used, after its exchange has ended or moves to another connection.
    func release() {
      parked = []
      isYielding = false
      connection.remove(self)
    }
  }
#endif
