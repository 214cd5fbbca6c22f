#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// A lookup of a host, and the connection attempts that wait for it.
  struct HostLookup {
    /// The number of the lookup in ``NameLookups``.
    var number: Int
    /// The connection attempts in their order. Attempts that have ended may be among them.
    var waiting: [EngineConnector] = []
    /// The number of the connection attempts that have not ended.
    var count = 0
  }

  // The life of an exchange in the loop: it begins, finds a connection, may move to another connection, and ends.
  extension EngineLoop {
    // MARK: - Beginning

    func start(_ exchange: EngineExchange) {
      exchange.begun = now
      exchange.started = now
      exchange.lastActivity = now
      exchange.slot = watches.insert(exchange)
      place(exchange)
    }

    /// Sends an exchange on a usable idle connection, or opens a new connection.
    func place(_ exchange: EngineExchange) {
      if mayShareConnection(exchange), share(exchange) { return }
      if !exchange.needsFreshConnection, let connection = keptConnection(for: exchange) {
        connection.begin(exchange)
        return expectWatch(of: exchange)
      }
      connect(exchange)
    }

    /// Returns an idle connection that has nothing to read. Checks the socket itself, because the poller may report too
    /// late that the server has closed the connection.
    private func keptConnection(for exchange: EngineExchange) -> EngineConnection? {
      while true {
        let (connection, expired) = pool.take(for: exchange.origin, now: now)
        for old in expired { close(old) }
        guard let connection else { return nil }
        if connection.proxy == exchange.proxy, !connection.socket.hasUnread { return connection }
        close(connection)
      }
    }

    private func connect(_ exchange: EngineExchange) {
      lead(exchange)
      let connector = EngineConnector(exchange, self)
      exchange.stage = .connecting(connector)
      if let known = knownAddresses(of: exchange) { return connector.begin(known, wasLookedUp: false) }
      expectWatch(of: exchange)
      let origin = exchange.peer
      if lookups[origin] == nil { lookups[origin] = HostLookup(number: beginLookup(of: origin)) }
      connector.isLookingUp = true
      lookups[origin]?.waiting.append(connector)
      lookups[origin]?.count += 1
    }

    private func beginLookup(of origin: HTTPURL.Origin) -> Int {
      names.addresses(of: origin.host, port: origin.port) { [weak self] answer in
        self?.push(.resolved(origin, answer))
      }
    }

    /// Handles the end of a connection attempt. Cancels the lookup of its host if no other attempt waits for it. A lookup
    /// that has begun cannot be cancelled: later attempts wait for it too, so that one slow host uses only one thread.
    func leaveLookup(_ connector: EngineConnector, of origin: HTTPURL.Origin) {
      guard connector.isLookingUp else { return }
      connector.isLookingUp = false
      lookups[origin]?.count -= 1
      guard let lookup = lookups[origin] else { return }
      if lookup.count == 0 {
        lookups[origin] = names.cancel(lookup.number) ? nil : HostLookup(number: lookup.number)
      } else if lookup.waiting.count > 2 * lookup.count + 64 {
        // Ended attempts are removed all at once: a search for each of many attempts would take long.
        lookups[origin]?.waiting.removeAll { !$0.isLookingUp }
      }
    }

    /// The addresses of the exchange's host if they are known without a lookup. Nil if a lookup is needed.
    private func knownAddresses(of exchange: EngineExchange) -> [SocketAddress]? {
      if let path = configuration.unixSocket { return [SocketAddress(socket: path)].compactMap { $0 } }
      if let addresses = exchange.addresses { return addresses }
      if let addresses = overrides[exchange.peer] { return addresses }
      guard let last = exchange.peer.host.utf8.last, last == 0x5D || ASCII.isDigit(last) else { return nil }
      return SocketAddress(numeric: exchange.peer.host, port: exchange.peer.port).map { [$0] }
    }

    /// Continues the connection attempts that wait for a lookup. If the lookup had no file descriptor, closes the
    /// oldest idle connection and looks up the host again.
    func resolved(_ origin: HTTPURL.Origin, _ answer: NameLookups.Answer) {
      let isAwaited = lookups[origin].map { $0.count > 0 } == true
      if case .failure(let failure) = answer, failure.lacksDescriptors, isAwaited, closeOldestIdle() {
        let number = beginLookup(of: origin)
        lookups[origin]?.number = number
        return
      }
      let waiting = lookups.removeValue(forKey: origin)?.waiting ?? []
      for connector in waiting { connector.isLookingUp = false }
      for connector in waiting {
        switch answer {
        case .success(let addresses): connector.begin(addresses, wasLookedUp: true)
        case .failure(let failure): connector.failed(failure)
        }
      }
    }

    /// Begins an exchange on its new connection.
    func connected(
      _ exchange: EngineExchange, _ socket: EngineSocket, _ token: UInt64, _ address: SocketAddress,
      _ report: Poller.Report?
    ) {
      if usesHTTP2(socket, for: exchange) { return connectedHTTP2(exchange, socket, token, address) }
      let others = exchangesOverHTTP1(waitingFor: exchange)
      let connection = EngineConnection(
        socket, token: token, origin: exchange.origin, proxy: exchange.proxy, peer: EnginePeer(address), loop: self)
      sockets.hand(token, to: .connection(connection))
      connection.begin(exchange)
      expectWatch(of: exchange)
      if let report, connection.isOpen, report.isReadable || report.hasEnded {
        connection.readable(hasEnded: report.hasEnded)
      }
      place(others)
    }

    // MARK: - Continuing

    func resumeBody(_ exchange: EngineExchange) {
      guard exchange.slot != nil, exchange.isPaused else { return }
      switch exchange.stage {
      case .connected(let connection): connection.continueBody()
      case .streaming(let stream): stream.continueTurn()
      case .unconnected, .joining, .connecting: return
      }
      expectWatch(of: exchange)
    }

    func resumeUpload(_ exchange: EngineExchange) {
      guard exchange.slot != nil, exchange.upload?.isPaused == true else { return }
      exchange.upload?.isPaused = false
      exchange.lastActivity = now
      switch exchange.stage {
      case .connected(let connection): connection.sendBody()
      case .streaming(let stream): stream.connection.resumeBody(of: stream)
      case .unconnected, .joining, .connecting: return
      }
      expectWatch(of: exchange)
    }

    /// Schedules the next time-out check of an exchange.
    func expectWatch(of exchange: EngineExchange) {
      guard let slot = exchange.slot, let end = exchange.watchEnd else { return }
      watches.expect(slot, at: end)
    }

    /// Checks the time-outs of exchanges and closes idle connections that are too old.
    func watch() {
      while let exchange = watches.popDue(now) {
        exchange.progress?.reportWaiting(at: now)
        if let end = exchange.watchEnd, end <= now { isDue(exchange) }
        expectWatch(of: exchange)
      }
      for connection in pool.expire(now: now) { close(connection) }
      for connection in sharedPool.expire(now: now) { connection.finish() }
    }

    private func isDue(_ exchange: EngineExchange) {
      switch exchange.stage {
      case .unconnected:
        exchange.pauseEnd = nil
        exchange.started = now
        place(exchange)
      case .connecting(let connector):
        let isOver = exchange.connectEnd.map { $0 <= now } == true
        if isOver || exchange.pauseEnd.map({ $0 <= now }) == true, useFreeStream(exchange) { return }
        if isOver { return failConnecting(exchange) }
        connector.advance()
      case .joining: failConnecting(exchange)
      case .connected(let connection):
        // The response may have arrived while the loop was busy or the process was stopped.
        connection.readable(hasEnded: false)
        guard exchange.slot != nil, connection.exchange === exchange else { return }
        if let end = exchange.continueEnd, end <= now { return connection.proceed() }
        failIfIdle(exchange)
      case .streaming(let stream):
        if stream.connection.isOverdue {
          // The answer may have arrived while the loop was busy.
          stream.connection.readable()
          return stream.connection.endIfOverdue()
        }
        stream.connection.ping()
        stream.connection.readable()
        failIfIdle(exchange)
      }
    }

    private func failConnecting(_ exchange: EngineExchange) {
      let text = FailureText.connectTimeout(exchange.origin, after: exchange.exchange.connectTimeout)
      var cause: String?
      if case .connecting(let connector) = exchange.stage, connector.isQueueFull, let socket = configuration.unixSocket
      {
        cause = "the server accepts no connection from the queue of \(socket)"
      }
      fail(exchange, exchange.failure(.connectTimeout, text, cause: cause))
    }

    private func failIfIdle(_ exchange: EngineExchange) {
      guard exchange.slot != nil, let end = exchange.watchEnd, end <= now else { return }
      let text = FailureText.idleTimeout(exchange.origin, after: exchange.exchange.idleTimeout)
      fail(exchange, exchange.failure(.idleTimeout, text))
    }

    // MARK: - Sending again

    /// Moves an exchange to another connection because its connection closed before a byte of the request was written.
    /// Sending the request again is safe for every method, because the server received no part of it. `cause` is the
    /// server's reason for the end of the connection, if it has named one.
    func moveOn(_ exchange: EngineExchange, _ cause: String? = nil) {
      guard exchange.isReused == true, exchange.upload?.canBeSentAgain != false else {
        return fail(exchange, exchange.failure(.closedBeforeResponse, cause: cause))
      }
      exchange.staleConnections += 1
      sendAgain(exchange, isKept: false)
    }

    /// Handles a connection that closed before the first line of the response. The server may have processed the
    /// request, so only a repeatable request is sent again. `cause` is the server's reason for the end of the connection,
    /// if it has named one.
    func lostBeforeResponse(_ exchange: EngineExchange, _ cause: String? = nil) {
      guard exchange.mayBeRepeated else {
        return fail(exchange, exchange.failure(.closedBeforeResponse, cause: cause))
      }
      exchange.isRepeated = true
      exchange.exchange.handling.observer?.repeated()
      exchange.expectsContinue = exchange.exchange.request.body?.expectsContinue == true
      sendAgain(exchange, isKept: false)
    }

    /// Sends the request of an exchange again. `isKept` is true if another exchange may use the current connection.
    func sendAgain(_ exchange: EngineExchange, isKept: Bool, after pause: Duration = .zero) {
      let (stage, kept) = (exchange.stage, isKept ? exchange.connection : nil)
      exchange.beginAgain(now: now)
      leave(stage, keeping: kept)
      if pause > .zero {
        exchange.pauseEnd = now.advanced(by: pause)
        expectWatch(of: exchange)
      } else if case .streaming = stage {
        unplaced.append(exchange)
      } else {
        place(exchange)
      }
    }

    // MARK: - The end

    /// Ends an exchange with a failure and closes its connection. Has no effect if the exchange has already ended.
    func fail(_ exchange: EngineExchange, _ error: any Error) { end(exchange, .failure(error), keeping: nil) }

    /// Ends an exchange. `kept` is the exchange's connection if another exchange may use that connection; otherwise
    /// nil.
    func end(_ exchange: EngineExchange, _ result: Result<HTTPResponse, any Error>, keeping kept: EngineConnection?) {
      guard let slot = exchange.slot else { return }
      watches.remove(slot)
      exchange.slot = nil
      exchange.result = measured(result, exchange)
      exchange.upload?.close()
      exchange.file = nil
      if case .connecting(let connector) = exchange.stage { leaveLookup(connector, of: exchange.peer) }
      leave(exchange.stage, keeping: kept)
      exchange.stage = .unconnected
      note(ended: exchange)
      if case .failure(let error) = result { connectOthers(waitingFor: exchange, error) }
    }

    /// Releases the connection of an exchange. Keeps the connection in the pool if it is `kept`.
    func leave(_ stage: EngineExchange.Stage, keeping kept: EngineConnection?) {
      switch stage {
      case .unconnected, .joining: break
      case .connecting(let connector): connector.cancel()
      case .connected(let connection):
        connection.release()
        if kept === connection { keep(connection) } else { close(connection) }
      case .streaming(let stream): stream.release()
      }
    }

    /// Adds the metrics to a failure. If the error cannot contain metrics, such as a cancellation, reports the metrics
    /// to the exchange's observer. A response is returned unchanged.
    private func measured(
      _ result: Result<HTTPResponse, any Error>, _ exchange: EngineExchange
    ) -> Result<HTTPResponse, any Error> {
      guard case .failure(let error) = result else { return result }
      let metrics = exchange.finalMetrics()
      guard var failure = error as? TransportFailure else {
        exchange.exchange.handling.observer?.measured(metrics)
        return result
      }
      failure.metrics = metrics
      return .failure(failure)
    }
  }
#endif
