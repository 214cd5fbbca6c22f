#if os(Linux)
  import ErrandHTTP

  /// A socket that is connected, and the machine that says what its bytes mean. Only the loop's thread touches it.
  final class EngineConnection {
    /// How many bytes it may read or write in one turn of the loop before others have theirs.
    static let bytesPerTurn = 512 << 10

    let socket: EngineSocket
    let token: UInt64
    let origin: HTTPURL.Origin
    /// The address at the other end.
    let address: String
    unowned(unsafe) let loop: EngineLoop  // lives as long as any connection, which it owns
    @exclusivity(unchecked) var machine = ConnectionMachine()
    private(set) var exchange: EngineExchange?
    /// How many requests it has carried.
    private(set) var uses = 0
    /// What the system has not taken of the present request.
    private var outbox: [UInt8] = []
    private var outboxStart = 0
    /// Whether the last bytes of the body are in the outbox, or went before.
    private var hasWholeBody = false
    /// Received bytes behind the place where the body was held up.
    var held: [UInt8] = []
    /// Whether the body waits for its next share of the loop's time, and not for its sink.
    var isYielding = false
    /// Whether the loop continues with it in the next turn.
    var isQueued = false

    init(_ socket: EngineSocket, token: UInt64, origin: HTTPURL.Origin, address: String, loop: EngineLoop) {
      self.socket = socket
      self.token = token
      self.origin = origin
      self.address = address
      self.loop = loop
    }

    var isOpen: Bool { machine.phase != .closed }

    // MARK: - Sending

    /// Begins an exchange.
    func carry(_ exchange: EngineExchange) {
      uses += 1
      self.exchange = exchange
      exchange.carrier = .connection(self)
      exchange.isReused = uses > 1
      exchange.remoteAddress = address
      exchange.lastActivity = loop.now
      exchange.noteProgress()
      let isWaiting = exchange.upload?.isWhole == false
      let rest: ConnectionMachine.Rest = !isWaiting ? .nothing : exchange.expectsContinue ? .bodyAfterContinue : .body
      let request = exchange.exchange.request
      _ = machine.submit(limits: exchange.exchange.limits, isHeadRequest: request.method == .head, rest: rest)
      hasWholeBody = false
      do { try exchange.upload?.expectEmpty() } catch { return loop.fail(exchange, error) }
      loop.requests.write(request, upload: exchange.upload, expectsContinue: exchange.expectsContinue)
      if send(loop.requests.bytes) { sentOutbox() }
    }

    /// Lets go of the exchange that has ended.
    func release() {
      exchange = nil
      machine.forgetResponse()
      (outbox, outboxStart) = ([], 0)
      held = []
      isYielding = false
    }

    /// The system takes bytes again.
    func writable() { if outboxStart < outbox.count, flush() { sentOutbox() } }

    /// Sends the body without waiting for the server's word any longer.
    func proceed() {
      exchange?.continueEnd = nil
      machine.proceed()
      sendBody()
    }

    /// Sends as much of the body as the system, the source and the loop's turn allow.
    func sendBody() {
      var sent = 0
      while machine.sending == .body, outboxStart == outbox.count, let exchange, exchange.upload?.isPaused == false {
        if hasWholeBody { return machine.wroteBody() }
        guard sent < Self.bytesPerTurn else { return loop.continueLater(with: self) }
        do {
          guard let piece = try UploadFraming.next(of: exchange, in: loop.uploadRoom, loop) else { return }
          hasWholeBody = piece.isLast
          sent += piece.bytes.count
          exchange.lastActivity = loop.now
          if !piece.bytes.isEmpty, !send(piece.bytes) { return }
        } catch {
          return loop.fail(exchange, error)
        }
      }
    }

    /// Sends bytes, and keeps what the system does not take. True if it took all.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
      switch socket.send(bytes) {
      case .bytes(let count):
        machine.wrote(count)
        if count == bytes.count { return true }
        outbox = Array(bytes[count...])
      case .later: outbox = Array(bytes)
      case .failed, .end:
        writeFailed()
        return false
      }
      outboxStart = 0
      return flush()
    }

    /// Sends what was kept. True if nothing is left.
    private func flush() -> Bool {
      while outboxStart < outbox.count {
        guard machine.sending == .head || machine.sending == .body else { return false }
        switch outbox.withUnsafeBytes({ socket.send(UnsafeRawBufferPointer(rebasing: $0[outboxStart...])) }) {
        case .bytes(let count):
          machine.wrote(count)
          outboxStart += count
          exchange?.lastActivity = loop.now
        case .later: return false
        case .failed, .end:
          writeFailed()
          return false
        }
      }
      (outbox, outboxStart) = ([], 0)
      return true
    }

    /// The outbox is empty: what follows in the request.
    private func sentOutbox() {
      if machine.sending == .head { machine.wroteHead() }
      switch machine.sending {
      case .awaitingContinue:
        exchange?.continueEnd = loop.now.advanced(by: EngineExchange.continueWait)
        if let exchange { loop.expectWatch(of: exchange) }
      case .body: sendBody()
      case .head, .finished, .abandoned: break
      }
    }

    /// The connection takes no more. What the server has said before is read (RFC 9112 section 9.6).
    private func writeFailed() {
      machine.abandonRequest()
      (outbox, outboxStart) = ([], 0)
      if machine.bytesWritten == 0 { lost(isReset: true) } else { readable(hasEnded: true) }
    }
  }
#endif
