#if os(Linux)
  import CNGHTTP2
  import ErrandHTTP
  import Glibc

  /// A connected socket that speaks HTTP/2 (RFC 9113). Many exchanges share it, each on a separate stream. Only the
  /// loop's thread uses this object.
  final class HTTP2Connection: LoopWork {
    /// The number of bytes that are collected before they are sent.
    private static let mostCollected = 64 << 10

    let socket: EngineSocket
    let token: UInt64
    let origin: HTTPURL.Origin
    /// The proxy between the client and the server. Nil if there is none.
    let proxy: EngineProxy?
    /// The server, or the proxy.
    let peer: EnginePeer
    let established: MonotonicInstant
    unowned(unsafe) let loop: EngineLoop  // the loop owns every connection and outlives it

    private(set) var session: HTTP2Session?
    /// The streams whose exchange has not ended, by number.
    var streams: [Int32: HTTP2Stream] = [:]
    private(set) var isOpen = true
    /// True if the connection takes no new streams, because the server or an error ends it. The connection is closed
    /// when its last stream has ended.
    private(set) var isRetired = false
    /// The number of requests that used this connection.
    private(set) var uses = 0
    /// Follows the connection for the exchange that opened it. Nil if the connection is not observed.
    private(set) var observer: (any ConnectionObserver)?
    /// The maximum number of concurrent streams that the server accepts.
    private(set) var mostStreams: Int
    var frames: HTTP2FrameBudget
    private var continuations = HTTP2ContinuationCounter()
    /// The price of the frames of the current header section.
    var sectionPrice = 0
    /// The error because of which the connection ends. Nil if the server just closes the connection.
    var fault: String?
    /// The code that tells the server about the fault.
    var faultCode = NGHTTP2_PROTOCOL_ERROR
    /// The code of the server's GOAWAY frame. Zero (`NO_ERROR`) if the server has sent no other code.
    var goAwayCode: UInt32 = 0
    /// True if the server has begun a response on this connection.
    var hasResponded = false
    /// The error in the last invalid frame. Such a frame may end a stream or the connection.
    var invalidFrame: String?

    /// The bytes of the session that the system has not accepted yet.
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    /// The number of bytes that the session has passed on for sending.
    private var serialized: Int64 = 0
    /// The number of bytes that the system has accepted.
    private(set) var written: Int64 = 0
    /// True if the system accepts no more bytes. A response may still be readable.
    private var isWriteClosed = false
    /// The streams whose content is in ``unsent``.
    private var sendingStreams: Set<Int32> = []
    private var lastReceived: MonotonicInstant
    /// The wait for the answer to a PING frame. Nil if none is unanswered.
    var pingWait: HTTP2PingWait?
    /// The position of the end of a PING frame in the bytes of the connection, until the system has accepted it.
    var pingFrameEnd: Int64?
    /// True while libnghttp2 runs. It must then neither be called for more bytes nor be released.
    private var isInSession = false
    /// True if the loop continues with this connection in its next iteration.
    var isQueued = false
    private var sentShare = TurnShare()
    private var readShare = TurnShare()
    /// True if the loop sends the connection's bytes at the end of its current work.
    var isFlushQueued = false

    init(
      _ socket: EngineSocket, token: UInt64, origin: HTTPURL.Origin, proxy: EngineProxy?, peer: EnginePeer,
      loop: EngineLoop
    ) {
      self.socket = socket
      self.token = token
      self.origin = origin
      self.proxy = proxy
      self.peer = peer
      self.loop = loop
      established = loop.now
      lastReceived = loop.now
      frames = HTTP2FrameBudget(now: loop.now)
      mostStreams = max(1, loop.streamLimits[origin] ?? HTTP2Session.initialStreams)
    }

    // MARK: - Streams

    /// True if the connection takes another stream now.
    var acceptsStreams: Bool { isOpen && !isRetired && !isWriteClosed && streams.count < mostStreams }

    /// Begins the session. Returns false if the system has no memory.
    func open(_ limits: ResponseLimits) -> Bool {
      session = HTTP2Session(self, limits: limits)
      return session != nil
    }

    /// Reads the limit on concurrent streams after the server has sent its settings.
    func noteSettings() {
      guard let session else { return }
      mostStreams = session.mostStreams
      loop.note(mostStreams: mostStreams, for: origin)
      if mostStreams == 0, streams.isEmpty { retire() }
      moveQueuedRequests()
      loop.continueCrowdLater(of: origin)
    }

    /// Sends the request of an exchange on a new stream.
    func begin(_ exchange: EngineExchange) {
      uses += 1
      let stream = HTTP2Stream(exchange, self)
      exchange.stage = .streaming(stream)
      exchange.isReused = uses > 1
      exchange.connectedPeer = peer
      if uses == 1 { observer = exchange.exchange.handling.observer?.connected() }
      observer?.changed(to: .active)
      exchange.lastActivity = loop.now
      exchange.noteProgress()
      let request = exchange.exchange.request
      if exchange.upload == nil, let body = request.body { exchange.upload = BodyUpload(body) }
      do {
        try exchange.upload?.expectEmpty()
      } catch {
        loop.fail(exchange, error)
        return keepIfIdle()
      }
      session?.announce(exchange.exchange.limits)
      loop.requestHead.write(request, upload: exchange.upload, expectsContinue: exchange.expectsContinue)
      let hasBody = exchange.upload?.hasEnded == false
      guard let id = session?.submit(&loop.requestHead, hasBody: hasBody) else {
        retire()
        return loop.moveOn(exchange)
      }
      stream.id = id
      streams[id] = stream
      if pingWait == nil, lastReceived.advanced(by: loop.configuration.pingAfter) < loop.now { ping() }
      loop.flushLater(self)
    }

    /// Releases a stream whose exchange has ended or moves to another connection. Resets the stream if one of its sides
    /// is still open.
    func remove(_ stream: HTTP2Stream) {
      guard streams.removeValue(forKey: stream.id) != nil, isOpen else { return }
      if !stream.isClosed, !stream.machine.isWhole || !stream.hasSentEnd {
        session?.reset(stream.id, code: stream.resetCode)
        // The server may send headers and trailers, or reset the stream as well, before it notices.
        if !stream.machine.isWhole { frames.earn(HTTP2FrameBudget.content) }
      }
      keepIfIdle()
      loop.continueCrowdLater(of: origin)
      loop.flushLater(self)
    }

    /// Keeps the connection for later requests if it has no streams. Closes it if the server accepts no streams.
    private func keepIfIdle() {
      guard isOpen, streams.isEmpty, !isRetired else { return }
      if mostStreams > 0 { loop.keep(self) } else { retire() }
    }

    /// Takes no new streams any more.
    func retire() {
      guard !isRetired else { return }
      isRetired = true
      loop.forget(self)
      loop.flushLater(self)
    }

    /// Lets the server send more bytes on a stream.
    func returnWindow(of stream: HTTP2Stream, _ count: Int) {
      guard isOpen, count > 0, !stream.isClosed else { return }
      session?.returnWindow(of: stream.id, count)
      loop.flushLater(self)
    }

    /// Continues with a request body whose source has bytes again.
    func resumeBody(of stream: HTTP2Stream) {
      guard isOpen else { return }
      session?.resumeBody(of: stream.id)
      loop.flushLater(self)
    }

    /// True if the system has accepted bytes of the stream's request.
    func hasWritten(_ stream: HTTP2Stream) -> Bool { stream.start.map { written > $0 } ?? false }

    // MARK: - Sending

    /// Sends the session's bytes until there are none, the system accepts no more, or the limit of one loop iteration
    /// is reached. Closes the connection if it is over.
    func flush() {
      isFlushQueued = false
      guard isOpen, !isInSession else { return }
      while !isWriteClosed {
        if unsentStart == unsent.count, !collectBytes() { break }
        guard sentShare.left(in: loop.turn) > 0 else { return loop.continueLater(with: self) }
        switch unsent.withUnsafeBytes({ socket.send(UnsafeRawBufferPointer(rebasing: $0[unsentStart...])) }) {
        case .bytes(let count):
          unsentStart += count
          sentShare.use(count)
          written += Int64(count)
          notePing()
          noteActivity()
        case .later:
          if isRetired, streams.isEmpty { finish() }
          return
        case .failed, .end:
          isWriteClosed = true
          return readable()
        }
      }
      endIfOver()
    }

    /// Postpones the idle time-out of the exchanges whose content is in ``unsent``, because the system has accepted
    /// bytes of it.
    private func noteActivity() { for id in sendingStreams { streams[id]?.exchange.lastActivity = loop.now } }

    /// Collects bytes of the session. Returns false if there are none.
    private func collectBytes() -> Bool {
      unsent.removeAll(keepingCapacity: !streams.isEmpty)
      unsentStart = 0
      sendingStreams.removeAll(keepingCapacity: true)
      isInSession = true
      while unsent.count < Self.mostCollected, let bytes = session?.nextBytes(), !bytes.isEmpty {
        noteFrames(bytes)
        unsent.append(contentsOf: bytes)
        serialized += Int64(bytes.count)
      }
      leaveSession()
      return isOpen && !unsent.isEmpty
    }

    /// Records which streams the frames in the bytes belong to. The bytes contain whole frames (RFC 9113 section 4.1),
    /// except for the preface of the connection.
    private func noteFrames(_ bytes: UnsafeRawBufferPointer) {
      if serialized == 0 { return }
      var start = 0
      while start + 9 <= bytes.count {
        let frame = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 9)])
        let length = 9 + (Int(frame[0]) << 16 | Int(frame[1]) << 8 | Int(frame[2]))
        let id = frame[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        if let stream = streams[Int32(bitPattern: id)] {
          stream.sentFrame(kind: frame[3], flags: frame[4], length: length, at: serialized + Int64(start))
          if frame[3] == UInt8(NGHTTP2_DATA.rawValue) {
            sendingStreams.insert(stream.id)
            frames.earn(max(HTTP2FrameBudget.content, length / HTTP2FrameBudget.sentBytesPerPoint))
          }
        } else if frame[3] == UInt8(NGHTTP2_PING.rawValue), UInt32(frame[4]) & NGHTTP2_FLAG_ACK.rawValue == 0 {
          pingFrameEnd = serialized + Int64(start + length)
        }
        start += length
      }
    }

    // MARK: - Receiving

    func handle(_ report: Poller.Report) {
      if report.isWritable { flush() }
      if isOpen, report.isReadable || report.hasEnded { readable() }
    }

    func continueTurn() {
      flush()
      if isOpen { readable() }
    }

    /// Reads received bytes from the system until no bytes are left, or the limit of one loop iteration is reached.
    func readable() {
      var hasRead = false
      while isOpen, !isInSession {
        let share = readShare.left(in: loop.turn)
        guard share > 0 else { return loop.continueLater(with: self) }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: loop.receiveBuffer(for: nil).prefix(share))
        switch socket.receive(into: buffer) {
        case .bytes(let count):
          readShare.use(count)
          hasRead = true
          take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case .later:
          if isWriteClosed { return lost(isReset: true) }
          return hasRead && !streams.isEmpty ? acknowledge() : ()
        case .end: return lost(isReset: false)
        case .failed: return lost(isReset: true)
        }
      }
    }

    /// Acknowledges the received bytes now, because more of the responses is expected. A server that has sent headers
    /// and collects small writes (Nagle's algorithm), such as nginx without TLS, keeps the content until then. The
    /// system would wait for up to 40 ms.
    private func acknowledge() {
      var one: Int32 = 1
      setsockopt(
        socket.descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
      lastReceived = loop.now
      pingWait = nil
      let price = continuations.count(in: bytes) * HTTP2FrameBudget.continuation
      if price > 0, !frames.spend(price, now: loop.now) {
        faultCode = NGHTTP2_ENHANCE_YOUR_CALM
        return breakOff(EngineFailure.flood)
      }
      isInSession = true
      let error = session?.receive(bytes)
      leaveSession()
      guard isOpen else { return }
      if let error { return breakOff(fault ?? error) }
      if session?.wantsWrite == true { flush() } else { endIfOver() }
    }

    private func leaveSession() {
      isInSession = false
      if !isOpen { session = nil }
    }

    // MARK: - The end

    /// Closes the connection if its last stream has ended after the server's GOAWAY, or if the session is over.
    private func endIfOver() {
      guard isOpen else { return }
      if session?.isOver == true {
        if !streams.isEmpty { fault = invalidFrame ?? "the server violates the rules of HTTP/2" }
        lost(isReset: true)
      } else if isRetired, streams.isEmpty {
        finish()
      }
    }

    /// Ends the connection because the server violates HTTP/2 or floods the client. Sends the error to the server if
    /// the system accepts the bytes at once.
    private func breakOff(_ text: String) {
      fault = text
      sayGoodbye(faultCode)
      lost(isReset: true)
    }

    /// Closes a connection without streams, and tells the server so.
    func finish() {
      guard isOpen else { return }
      sayGoodbye(NGHTTP2_NO_ERROR)
      close()
    }

    /// Sends GOAWAY if the system accepts the bytes at once.
    private func sayGoodbye(_ code: nghttp2_error_code) {
      guard !isWriteClosed, !isInSession, unsentStart == unsent.count else { return }
      session?.terminate(code: code)
      if collectBytes() { _ = unsent.withUnsafeBytes { socket.send($0) } }
    }

    /// Handles the end of the connection. Each exchange on it ends, moves to another connection or is repeated.
    /// `isSilent` is true if the server has not answered PING: then nothing that TLS reports is the reason.
    func lost(isReset: Bool, isSilent: Bool = false) {
      guard isOpen else { return }
      let left = streams.values.sorted { $0.id < $1.id }
      streams = [:]
      let tls = isSilent ? nil : socket.tls?.failure
      close()
      for stream in left { stream.lost(isReset: isReset, fault: fault, tls) }
    }

    private func close() {
      isOpen = false
      isRetired = true
      pingWait = nil
      loop.forget(self)
      loop.removeSocket(of: self)
      if !isInSession { session = nil }
    }
  }
#endif
