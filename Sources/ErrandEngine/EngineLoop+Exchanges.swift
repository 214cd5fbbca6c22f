#if os(Linux)
  import ErrandHTTP
  import Glibc

  // The way of an exchange through the loop: it begins, finds a connection, perhaps another one, and ends.
  extension EngineLoop {
    // MARK: - Beginning

    func start(_ exchange: EngineExchange) {
      exchange.begun = now
      exchange.started = now
      exchange.lastActivity = now
      exchange.slot = watches.insert(exchange)
      place(exchange)
    }

    /// Gives an exchange a kept connection that is still good, or makes one.
    private func place(_ exchange: EngineExchange) {
      if !exchange.needsFreshConnection, let connection = keptConnection(for: exchange.origin) {
        connection.carry(exchange)
        return expectWatch(of: exchange)
      }
      dial(exchange)
    }

    /// A kept connection on which nothing waits to be read. The poller alone would tell too late of one that the server
    /// has closed meanwhile.
    private func keptConnection(for origin: HTTPURL.Origin) -> EngineConnection? {
      while true {
        let (connection, expired) = pool.take(for: origin, now: now)
        for old in expired { close(old) }
        guard let connection else { return nil }
        if !connection.socket.hasUnread { return connection }
        close(connection)
      }
    }

    private func dial(_ exchange: EngineExchange) {
      let dialing = Dialing(exchange, self)
      exchange.carrier = .dialing(dialing)
      if let known = knownAddresses(of: exchange) { return dialing.begin(known, wasLookedUp: false) }
      expectWatch(of: exchange)
      let origin = exchange.origin
      lookups[origin, default: []].append(dialing)
      guard lookups[origin]?.count == 1 else { return }
      NameLookups.shared.addresses(of: origin.host, port: origin.port) { [weak self] answer in
        self?.push(.resolved(origin, answer))
      }
    }

    /// The addresses of an exchange's host that need no look-up; nil if it needs one.
    private func knownAddresses(of exchange: EngineExchange) -> [SocketAddress]? {
      if let path = configuration.unixSocket { return [SocketAddress(socket: path)].compactMap { $0 } }
      if let addresses = exchange.addresses { return addresses }
      if let addresses = overrides[exchange.origin] { return addresses }
      guard let last = exchange.origin.host.utf8.last, last == 0x5D || ASCII.isDigit(last) else { return nil }
      return SocketAddress(numeric: exchange.origin.host, port: exchange.origin.port).map { [$0] }
    }

    func resolved(_ origin: HTTPURL.Origin, _ answer: NameLookups.Answer) {
      for dialing in lookups.removeValue(forKey: origin) ?? [] {
        switch answer {
        case .success(let addresses): dialing.begin(addresses, wasLookedUp: true)
        case .failure(let failure): dialing.failed(failure)
        }
      }
    }

    /// A connection to the host of an exchange stands.
    func connected(
      _ exchange: EngineExchange, _ socket: EngineSocket, _ token: UInt64, _ address: SocketAddress,
      _ report: Poller.Report?
    ) {
      let connection = EngineConnection(
        socket, token: token, origin: exchange.origin, address: address.text, loop: self)
      sockets.hand(token, to: .connection(connection))
      exchange.connected = now
      connection.carry(exchange)
      expectWatch(of: exchange)
      if let report, connection.isOpen, report.isReadable || report.hasEnded {
        connection.readable(hasEnded: report.hasEnded)
      }
    }

    // MARK: - Going on

    func resumeBody(_ exchange: EngineExchange) {
      guard exchange.slot != nil, exchange.isPaused, let connection = exchange.connection else { return }
      connection.continueBody()
      expectWatch(of: exchange)
    }

    func resumeUpload(_ exchange: EngineExchange) {
      guard exchange.slot != nil, exchange.upload?.isPaused == true, let connection = exchange.connection else {
        return
      }
      exchange.upload?.isPaused = false
      exchange.lastActivity = now
      connection.sendBody()
      expectWatch(of: exchange)
    }

    /// Sees to it that an exchange is looked at in time.
    func expectWatch(of exchange: EngineExchange) {
      guard let slot = exchange.slot, let end = exchange.watchEnd else { return }
      watches.expect(slot, at: end)
    }

    /// Looks at the exchanges that may have waited too long, and at the kept connections.
    func watch() {
      while let exchange = watches.popDue(now) {
        if let end = exchange.watchEnd, end <= now { isDue(exchange) }
        expectWatch(of: exchange)
      }
      for connection in pool.expire(now: now) { close(connection) }
    }

    private func isDue(_ exchange: EngineExchange) {
      switch exchange.carrier {
      case .nothing: break
      case .dialing(let dialing):
        if let end = exchange.connectEnd, end <= now {
          let text = FailureText.connectTimeout(exchange.origin, after: exchange.exchange.connectTimeout)
          return fail(exchange, exchange.failure(.connectTimeout, text))
        }
        dialing.advance()
      case .connection(let connection):
        if let end = exchange.continueEnd, end <= now { return connection.proceed() }
        let text = FailureText.idleTimeout(exchange.origin, after: exchange.exchange.idleTimeout)
        fail(exchange, exchange.failure(.idleTimeout, text))
      }
    }

    // MARK: - Once more

    /// A connection turned out to be dead before a byte of the request was written: nothing is lost, whatever the
    /// method.
    func moveOn(_ exchange: EngineExchange, from connection: EngineConnection) {
      guard connection.uses > 1, exchange.upload?.canBeginAnew != false else {
        return fail(exchange, exchange.failure(.closedBeforeResponse))
      }
      exchange.staleConnections += 1
      sendAgain(exchange, leaving: connection, isKept: false)
    }

    /// The connection ended before a line of the response. The server may have carried the request out.
    func lostBeforeResponse(_ exchange: EngineExchange, on connection: EngineConnection) {
      guard exchange.mayBeRepeated else { return fail(exchange, exchange.failure(.closedBeforeResponse)) }
      exchange.isRepeated = true
      exchange.exchange.handling.note?.repeated()
      exchange.expectsContinue = exchange.exchange.request.body?.expectsContinue == true
      sendAgain(exchange, leaving: connection, isKept: false)
    }

    func sendAgain(_ exchange: EngineExchange, leaving connection: EngineConnection, isKept: Bool) {
      exchange.beginAgain(now: now)
      connection.release()
      if isKept { keep(connection) } else { close(connection) }
      place(exchange)
    }

    // MARK: - The end

    /// Ends an exchange without a response, and its connection with it. No effect on one that has ended.
    func fail(_ exchange: EngineExchange, _ error: any Error) { end(exchange, .failure(error), keeping: nil) }

    /// Ends an exchange. `kept` is its connection if that may carry another one.
    func end(_ exchange: EngineExchange, _ result: Result<HTTPResponse, any Error>, keeping kept: EngineConnection?) {
      guard let slot = exchange.slot else { return }
      watches.remove(slot)
      exchange.slot = nil
      exchange.result = measured(result, exchange)
      exchange.upload?.close()
      switch exchange.carrier {
      case .nothing: break
      case .dialing(let dialing): dialing.cancel()
      case .connection(let connection):
        connection.release()
        if kept === connection { keep(connection) } else { close(connection) }
      }
      exchange.carrier = .nothing
      note(ended: exchange)
    }

    /// A failure with what was measured until then; a response as it is. What a stop ended is noted.
    private func measured(
      _ result: Result<HTTPResponse, any Error>, _ exchange: EngineExchange
    ) -> Result<HTTPResponse, any Error> {
      guard case .failure(let error) = result else { return result }
      let metrics = exchange.finalMetrics()
      guard var failure = error as? TransportFailure else {
        exchange.exchange.handling.note?.measured(metrics)
        return result
      }
      failure.metrics = metrics
      return .failure(failure)
    }
  }
#endif
