#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP

  extension EngineConnection {
    /// True if reading is stopped: the sink has paused, or the body has used its share of the loop's time.
    private var isHeldUp: Bool { isYielding || exchange?.isPaused == true }

    /// Handles an event of the connection's socket.
    func handle(_ report: Poller.Report) {
      if report.isWritable { writable() }
      if isOpen, report.isReadable || report.hasEnded { readable(hasEnded: report.hasEnded) }
    }

    /// Continues in the next iteration of the loop.
    func continueTurn() {
      if isYielding { return continueBody() }
      sendBody()
      if isOpen { readable(hasEnded: false) }
    }

    /// Reads received bytes from the system until none are left, the body pauses, or the limit of one loop iteration is
    /// reached.
    func readable(hasEnded: Bool) {
      guard machine.phase == .busy else { return readIdle() }
      var read = 0
      while machine.phase == .busy, !isHeldUp {
        guard read < Self.bytesPerTurn else { return loop.continueLater(with: self) }
        let room = loop.room(for: exchange)
        let (count, stop) = fill(room)
        read += count
        if count > 0 { take(UnsafeRawBufferPointer(rebasing: room[..<count])) }
        guard machine.phase == .busy, !isHeldUp else { return }
        switch stop {
        case .bytes: if count < room.count, !hasEnded { return }
        case .later: return
        case .end: return lost(isReset: false)
        case .failed: return lost(isReset: true)
        }
      }
    }

    /// Reads into the buffer. A body in memory needs one read. For a sink, it reads until the large buffer is full, so
    /// that the sink writes large pieces.
    private func fill(_ room: UnsafeMutableRawBufferPointer) -> (count: Int, stop: EngineSocket.Transferred) {
      var count = 0
      repeat {
        let got = socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: room[count...]))
        guard case .bytes(let more) = got else { return (count, got) }
        count += more
      } while room.count > EngineLoop.scratchSize && count < room.count
      return (count, .bytes(count))
    }

    /// Closes the connection if bytes arrived while no request was in progress.
    private func readIdle() {
      if socket.hasUnread { lost(isReset: false) }
    }

    /// Parses received bytes and delivers their content.
    func take(_ bytes: UnsafeRawBufferPointer) {
      guard let exchange else { return }
      exchange.lastActivity = loop.now
      loop.decoding.beginPiece()
      do {
        if try !takeSteps(bytes, exchange) { return }
      } catch {
        return loop.fail(exchange, error)
      }
      exchange.reportDownload(self, now: loop.now)
      if machine.sending == .body, exchange.continueEnd != nil { proceed() }
      if self.exchange === exchange, machine.isWhole, !isHeldUp { complete() }
    }

    /// Parses received bytes one step at a time. Returns false if the exchange has ended.
    private func takeSteps(_ bytes: UnsafeRawBufferPointer, _ exchange: EngineExchange) throws -> Bool {
      var start = 0
      while start < bytes.count {
        let (step, used) = try machine.receive(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        if exchange.firstByte == nil, machine.hasBegun {
          exchange.firstByte = .now
          exchange.noteProgress()
        }
        switch step {
        case .more: break
        case .informational: exchange.exchange.onInformational?(machine.head)
        case .head(let framing): try exchange.begin(framing, self, loop)
        case .unasked:
          lost(isReset: false)
          return false
        case .content(let range):
          let piece = UnsafeRawBufferPointer(rebasing: bytes[(start + range.lowerBound)..<(start + range.upperBound)])
          let taken = try exchange.content?.take(piece, &loop.decoding) ?? (piece.count, true)
          machine.giveBack(piece.count - taken.used)
          if exchange.content?.isTooMuch == true {
            complete()
            return false
          }
          if !taken.goesOn {
            holdUp(bytes[(start + used - (piece.count - taken.used))...], exchange)
            return true
          }
        }
        start += used
      }
      return true
    }

    /// Stores the bytes that the body did not accept, and stops reading.
    private func holdUp(_ rest: Slice<UnsafeRawBufferPointer>, _ exchange: EngineExchange) {
      held = Array(rest)
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

    /// Continues a body that was stopped by its sink or by the decoding budget.
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
      if exchange.content?.isTooMuch == true { return complete() }
      if !held.isEmpty {
        let bytes = held
        held = []
        bytes.withUnsafeBytes { take($0) }
      } else if machine.isWhole {
        complete()
      }
      if self.exchange === exchange, machine.phase == .busy, !isHeldUp { readable(hasEnded: true) }
    }

    /// Ends the exchange with its response. If the server rejected `Expect: 100-continue`, sends the request again
    /// instead.
    private func complete() {
      guard let exchange else { return }
      if exchange.isExpectationRefused {
        exchange.isExpectationRefused = false
        exchange.expectsContinue = false
        return loop.sendAgain(exchange, leaving: self, isKept: machine.finish())
      }
      let result = Result { try exchange.finish(self) }
      loop.end(exchange, result, keeping: machine.finish() ? self : nil)
    }

    /// Handles the end of the stream, or bytes that arrived although no request was sent.
    func lost(isReset: Bool) {
      let ending = machine.ended(isReset: isReset)
      guard let exchange else { return loop.discard(self) }
      switch ending {
      case .idle, .unsent: loop.moveOn(exchange, from: self)
      case .response: complete()
      case .beforeResponse: loop.lostBeforeResponse(exchange, on: self)
      case .inHead: loop.fail(exchange, exchange.failure(isReset ? .reset : .truncated, EngineFailure.inHead))
      case .inBody: loop.fail(exchange, exchange.failure(isReset ? .reset : .truncated))
      }
    }
  }
#endif
