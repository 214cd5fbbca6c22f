#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// A connected socket and the state machine that interprets its bytes. Only the loop's thread uses this object.
  final class EngineConnection: LoopWork {
    let socket: EngineSocket
    let token: UInt64
    let origin: HTTPURL.Origin
    /// The proxy to which the connection was made. Nil if the connection was made to the origin.
    let proxy: EngineProxy?
    /// The server, or the proxy.
    let peer: EnginePeer
    unowned(unsafe) let loop: EngineLoop  // the loop owns every connection and outlives it
    @exclusivity(unchecked) var machine = ConnectionMachine()
    private(set) var exchange: EngineExchange?
    /// The number of requests that used this connection.
    private(set) var uses = 0
    /// Follows the connection for the exchange that opened it. Nil if the connection is not observed.
    private(set) var observer: (any ConnectionObserver)?
    /// The bytes of the current request that the system has not accepted yet.
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    /// True if the last bytes of the body are in ``unsent`` or were already sent.
    private var hasWholeBody = false
    /// Received bytes that are not used yet, because the sink or the decoding budget stopped the response body.
    var unusedBytes: [UInt8] = []
    /// True if the connection was reset. The system reports the reset only once, and then a normal end of the stream.
    /// The connection may still have to read the bytes that arrived before.
    var wasReset = false
    /// True if the response body continues in the next iteration of the loop because the decoding budget is used up.
    /// False if the body waits for its sink.
    var isYielding = false
    /// True if the loop continues with this connection in its next iteration.
    var isQueued = false
    private var sentShare = TurnShare()
    var readShare = TurnShare()

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
    }

    var isOpen: Bool { machine.phase != .closed }

    // MARK: - Sending

    /// Begins to send the request of an exchange on this connection.
    func begin(_ exchange: EngineExchange) {
      uses += 1
      self.exchange = exchange
      exchange.stage = .connected(self)
      exchange.isReused = uses > 1
      exchange.connectedPeer = peer
      if uses == 1 { observer = exchange.exchange.handling.observer?.connected() }
      observer?.changed(to: .active)
      exchange.lastActivity = loop.now
      exchange.noteProgress()
      let request = exchange.exchange.request
      let authorization = exchange.forwardingProxy.flatMap { _ in
        loop.authorization(of: exchange, method: request.method.rawValue, target: request.url.absoluteTarget)
      }
      loop.awaitProxy(exchange)
      let isWaiting = exchange.upload?.hasEnded == false
      let remainder: ConnectionMachine.Remainder =
        !isWaiting ? .nothing : exchange.expectsContinue ? .bodyAfterContinue : .body
      _ = machine.submit(limits: exchange.exchange.limits, isHeadRequest: request.method == .head, remainder: remainder)
      hasWholeBody = false
      do { try exchange.upload?.expectEmpty() } catch { return loop.fail(exchange, error) }
      loop.requests.write(
        request, upload: exchange.upload, expectsContinue: exchange.expectsContinue,
        isForwarded: exchange.forwardingProxy != nil, authorization: authorization)
      if send(loop.requests.bytes) { sentAll() }
    }

    /// Releases the exchange, which has ended, and the buffers that it used.
    func release() {
      exchange = nil
      machine.forgetResponse()
      (unsent, unsentStart) = ([], 0)
      unusedBytes = []
      isYielding = false
    }

    /// Continues sending because the system accepts bytes again.
    func writable() {
      if unsentStart < unsent.count {
        if flush() { sentAll() }
      } else if exchange?.file != nil {
        sendBody()
      }
    }

    /// Ends the wait for status 100 and sends the body.
    func proceed() {
      exchange?.continueEnd = nil
      machine.proceed()
      sendBody()
    }

    /// Sends the body until the system accepts no more bytes, the source has no bytes, or the limit of one loop
    /// iteration is reached.
    func sendBody() {
      while machine.sending == .body, unsentStart == unsent.count, let exchange, exchange.upload?.isPaused == false {
        if hasWholeBody { return machine.wroteBody() }
        guard sentShare.left(in: loop.turn) > 0 else { return loop.continueLater(with: self) }
        do {
          if let count = try sendFile(of: exchange) {
            sentShare.use(count)
            if count > 0 { continue } else { return }
          }
          guard let piece = try UploadFraming.next(of: exchange, in: loop.uploadBuffer, loop) else { return }
          hasWholeBody = piece.isLast
          sentShare.use(piece.bytes.count)
          exchange.lastActivity = loop.now
          if !piece.bytes.isEmpty, !send(piece.bytes) { return }
        } catch {
          return loop.fail(exchange, error)
        }
      }
    }

    /// Sends bytes of a file without reading them. Returns the number of bytes, and 0 if the system accepts none now.
    /// Returns nil if the next bytes of the body must be read.
    private func sendFile(of exchange: EngineExchange) throws -> Int? {
      if socket.tls == nil, exchange.file == nil, exchange.upload?.sent == 0, let body = exchange.exchange.request.body
      {
        exchange.file = try UploadFile.open(body)
      }
      switch exchange.file?.send(over: socket) {
      case .bytes(let count):
        machine.wrote(count)
        exchange.lastActivity = loop.now
        exchange.reportUpload(loop)
        return count
      case .later: return 0
      case .failed(let error):
        writeFailed(.failed(error))
        return 0
      case .end, nil: return nil
      }
    }

    /// Sends bytes, and stores the bytes that the system does not accept. Returns true if the system accepted all
    /// bytes.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
      let outcome = socket.send(bytes)
      switch outcome {
      case .bytes(let count):
        machine.wrote(count)
        if count == bytes.count { return true }
        unsent = Array(bytes[count...])
      case .later: unsent = Array(bytes)
      case .failed, .end:
        writeFailed(outcome)
        return false
      }
      unsentStart = 0
      return flush()
    }

    /// Sends the stored bytes. Returns true if no stored bytes are left.
    private func flush() -> Bool {
      while unsentStart < unsent.count {
        guard machine.sending == .head || machine.sending == .body else { return false }
        let outcome = unsent.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[unsentStart...])) }
        switch outcome {
        case .bytes(let count):
          machine.wrote(count)
          unsentStart += count
          exchange?.lastActivity = loop.now
        case .later: return false
        case .failed, .end:
          writeFailed(outcome)
          return false
        }
      }
      (unsent, unsentStart) = ([], 0)
      return true
    }

    /// Continues the request after all stored bytes were sent.
    private func sentAll() {
      if machine.sending == .head { machine.wroteHead() }
      switch machine.sending {
      case .awaitingContinue:
        exchange?.continueEnd = loop.now.advanced(by: EngineExchange.continueWait)
        if let exchange { loop.expectWatch(of: exchange) }
      case .body: sendBody()
      case .head, .finished, .abandoned: break
      }
    }

    /// Handles a failed write. A response that the server has already sent is still read (RFC 9112 section 9.6).
    ///
    /// EPIPE as the first error means that the end of the stream arrived before the reset, so the response is complete.
    private func writeFailed(_ outcome: EngineSocket.Transferred) {
      if outcome == .failed(ECONNRESET) { wasReset = true }
      machine.abandonRequest()
      (unsent, unsentStart) = ([], 0)
      guard machine.bytesWritten == 0 else { return readable(hasEnded: true) }
      _ = socket.hasUnread  // reads the alert with which a TLS server may have rejected the client's certificate
      lost(isReset: true)
    }
  }
#endif
