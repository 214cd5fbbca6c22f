#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP

  extension EngineConnection {
    /// True if reading is stopped because the sink has paused the body, or because the decoding budget is used up.
    private var isReadingStopped: Bool { isYielding || exchange?.isPaused == true }

    /// Handles an event of the connection's socket.
    func handle(_ report: Poller.Report) {
      if report.isWritable { writable() }
      if isOpen, report.isReadable || report.hasEnded { readable(hasEnded: report.hasEnded) }
    }

    /// Continues to send and receive on this connection. The connection was paused because it had reached a limit of
    /// the last loop iteration.
    func continueTurn() {
      let yields = isYielding
      if yields { continueBody() }
      sendBody()
      // The poller reports the end of the stream only once, perhaps before the limit stopped the reading.
      if isOpen, !yields { readable(hasEnded: true) }
    }

    /// Reads received bytes from the system until no bytes are left, the body pauses, or the limit of one loop
    /// iteration is reached.
    func readable(hasEnded: Bool) {
      guard machine.phase == .busy else { return readIdle() }
      while machine.phase == .busy, !isReadingStopped {
        let share = readShare.left(in: loop.turn)
        guard share > 0 else { return loop.continueLater(with: self) }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: loop.receiveBuffer(for: exchange).prefix(share))
        let (count, stop) = fill(buffer)
        readShare.use(count)
        if case .failed = stop { wasReset = true }
        if count > 0 { take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        // The poller may have reported the end of the stream already. A full buffer may have had no room for bytes
        // behind the response.
        if machine.phase == .idle, hasEnded || socket.hasBuffered || count == buffer.count { return readIdle() }
        guard machine.phase == .busy, !isReadingStopped else { return }
        switch stop {
        case .bytes: if count < buffer.count, !hasEnded, !socket.hasBuffered { return }
        case .later: return
        case .end:
          // With TLS, the server itself has announced this end; a missing announcement counts as a reset anyway.
          return lost(isReset: wasReset && socket.tls == nil)
        case .failed: return lost(isReset: true)
        }
      }
    }

    /// Reads received bytes into `buffer`. The usual buffer needs one read. For a larger one, of a body sink or of a
    /// large body in memory, this function reads until it is full, so that a sink writes large pieces.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> (count: Int, stop: EngineSocket.Transferred) {
      var count = 0
      repeat {
        let got = socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
        guard case .bytes(let more) = got else { return (count, got) }
        count += more
      } while buffer.count > EngineLoop.scratchSize && count < buffer.count
      return (count, .bytes(count))
    }

    /// Closes the idle connection if bytes arrived, because no response is expected.
    private func readIdle() {
      if socket.hasUnread { lost(isReset: false) }
    }

    /// Parses received bytes, and delivers the body content to the exchange.
    func take(_ bytes: UnsafeRawBufferPointer) {
      guard let exchange else { return }
      exchange.lastActivity = loop.now
      loop.decoding.beginPiece()
      let isFirst = exchange.firstByte == nil
      do {
        if try !takeSteps(bytes, exchange) { return }
      } catch {
        return loop.fail(exchange, error)
      }
      exchange.reportDownload(total: machine.announcedLength, loop)
      if machine.sending == .body, exchange.continueEnd != nil { proceed() }
      guard self.exchange === exchange else { return }
      if machine.isWhole, !isReadingStopped { return complete() }
      // A response that arrives in one piece has its final metrics now. The metrics before them would cost time.
      if isFirst, exchange.firstByte != nil, !exchange.isWatched { exchange.noteProgress() }
    }

    /// Parses received bytes until all bytes are used or the response body is paused. Returns false if the exchange has
    /// ended.
    private func takeSteps(_ bytes: UnsafeRawBufferPointer, _ exchange: EngineExchange) throws -> Bool {
      var start = 0
      while start < bytes.count {
        let (step, used) = try machine.receive(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        if exchange.firstByte == nil, machine.hasBegun {
          exchange.firstByte = .now
          if exchange.isWatched { exchange.noteProgress() }
        }
        let rest = start + used
        switch step {
        case .more: break
        case .informational: exchange.exchange.onInformational?(machine.head)
        case .head(let framing):
          try exchange.begin(framing, machine.head, machine.contentEncoding, loop)
          // The idle time-out applies again if the rest of the request is not sent, also while its source has paused.
          if machine.sending == .abandoned { loop.expectWatch(of: exchange) }
        case .unasked:
          lost(isReset: false)
          return false
        case .content(let range):
          let piece = UnsafeRawBufferPointer(rebasing: bytes[(start + range.lowerBound)..<(start + range.upperBound)])
          let taken = try exchange.content?.take(piece, &loop.decoding) ?? (piece.count, true)
          machine.giveBack(piece.count - taken.used)
          if exchange.content?.needsNoMore == true {
            complete(hasExcess: rest < bytes.count)
            return false
          }
          if !taken.mayContinue {
            stopReading(bytes[(rest - (piece.count - taken.used))...], exchange)
            return true
          }
        }
        start = rest
      }
      return true
    }

    /// Stores the received bytes of the body that were not accepted, and stops reading from the socket.
    private func stopReading(_ rest: Slice<UnsafeRawBufferPointer>, _ exchange: EngineExchange) {
      unusedBytes = Array(rest)
      stopBody(exchange)
    }

    private func stopBody(_ exchange: EngineExchange) {
      if exchange.content?.isOutOfBudget == true {
        isYielding = true
        loop.continueLater(with: self)
      } else {
        exchange.isPaused = true
      }
    }

    /// Continues to receive a body that was stopped by its sink or by the decoding budget.
    func continueBody() {
      guard let exchange else { return }
      isYielding = false
      exchange.isPaused = false
      exchange.lastActivity = loop.now
      loop.decoding.beginPiece()
      do {
        if try exchange.content?.drain(&loop.decoding) == false { return stopBody(exchange) }
      } catch {
        return loop.fail(exchange, error)
      }
      if exchange.content?.needsNoMore == true { return complete(hasExcess: !unusedBytes.isEmpty) }
      if !unusedBytes.isEmpty {
        let bytes = unusedBytes
        unusedBytes = []
        bytes.withUnsafeBytes { take($0) }
      } else if machine.isWhole {
        complete()
      }
      // The poller may have reported bytes or the end of the stream while the body was stopped.
      if machine.phase == .idle { return readIdle() }
      if self.exchange === exchange, machine.phase == .busy, !isReadingStopped { readable(hasEnded: true) }
    }

    /// Ends the exchange with its response. If the server rejected `Expect: 100-continue`, or if the proxy asks for
    /// another answer, sends the request again instead. `hasExcess` is true if bytes that the exchange does not need
    /// have arrived after its content.
    private func complete(hasExcess: Bool = false) {
      guard let exchange else { return }
      if hasExcess { machine.noteExcess() }
      if exchange.isChallenged {
        exchange.expectsContinue = exchange.exchange.request.body?.expectsContinue == true
        return loop.sendAgain(exchange, isKept: machine.finish())
      }
      if exchange.isExpectationRefused {
        exchange.isExpectationRefused = false
        exchange.expectsContinue = false
        return loop.sendAgain(exchange, isKept: machine.finish())
      }
      let result = Result {
        try exchange.finish(machine.head, mayBeCutOff: machine.mayBeCutOff) { machine.takeTrailers() }
      }
      loop.end(exchange, result, keeping: machine.finish() ? self : nil)
    }

    /// Handles the end of the stream, or bytes that arrived although no request was sent.
    func lost(isReset: Bool) {
      let ending = machine.ended(isReset: isReset || socket.isCutOff)
      guard let exchange else { return loop.discard(self) }
      // The rest of a response that asks for another answer, or rejects the expectation, is not needed.
      if exchange.isChallenged || exchange.isExpectationRefused { return complete() }
      if let failure = EngineFailure.lost(
        exchange, ending, isReset: isReset, hasResponded: uses > 1, socket.tls?.failure)
      {
        return loop.fail(exchange, failure)
      }
      switch ending {
      case .idle, .unsent: loop.moveOn(exchange)
      case .response: complete()
      case .beforeResponse: loop.lostBeforeResponse(exchange)
      case .inHead: loop.fail(exchange, exchange.failure(isReset ? .reset : .truncated, EngineFailure.inHead))
      case .inBody where !isReset && machine.mayBeCutOff:
        loop.fail(exchange, exchange.failure(.truncated, FailureText.missingCloseNotification))
      case .inBody: loop.fail(exchange, exchange.failure(isReset ? .reset : .truncated))
      }
    }
  }
#endif
