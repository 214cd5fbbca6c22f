#if os(Linux)
  import ErrandHTTP

  /// A connection that one exchange opens while others of the same origin wait for it, so that a burst of requests to a
  /// new server opens one connection.
  struct HTTP2Opening {
    /// The exchange that opens the connection.
    let leader: EngineExchange
    var waiting: [EngineExchange] = []
  }

  // Exchanges over HTTP/2: they share connections, wait for connections, and move between connections.
  extension EngineLoop {
    // MARK: - Choosing

    /// True if a connected socket speaks HTTP/2: the server chose it during the TLS handshake, or it is configured.
    /// Requests in cleartext to a proxy always use HTTP/1.1.
    func usesHTTP2(_ socket: EngineSocket, for exchange: EngineExchange) -> Bool {
      if let chosen = socket.negotiatedProtocol { return chosen == "h2" }
      return configuration.httpVersion == .http2PriorKnowledge && exchange.forwardingProxy == nil
    }

    /// True if the server of an exchange may speak HTTP/2, so that exchanges share a connection.
    func mayShareConnection(_ exchange: EngineExchange) -> Bool {
      switch configuration.httpVersion {
      case .http1Only: false
      case .http2PriorKnowledge: exchange.forwardingProxy == nil
      case .automatic, .http2:
        exchange.origin.scheme == .https && !http1Origins.contains(exchange.origin)
          && !http1RequiredOrigins.contains(exchange.origin)
      }
    }

    /// The protocols that are offered to a server in the TLS handshake.
    func protocols(for origin: HTTPURL.Origin) -> [String] {
      http1RequiredOrigins.contains(origin) ? ["http/1.1"] : configuration.applicationProtocols
    }

    /// Sends an exchange on an open HTTP/2 connection, or lets it wait for a connection that another exchange opens.
    /// Returns false if the exchange must open a connection.
    func share(_ exchange: EngineExchange) -> Bool {
      if let connection = sharedConnection(for: exchange) {
        connection.begin(exchange)
        expectWatch(of: exchange)
        return true
      }
      if exchange.needsOwnConnection || openings[exchange.origin] == nil { return false }
      exchange.stage = .joining
      openings[exchange.origin]?.waiting.append(exchange)
      expectWatch(of: exchange)
      return true
    }

    /// Lets an exchange that is about to connect open the connection for all exchanges of its origin.
    func lead(_ exchange: EngineExchange) {
      guard mayShareConnection(exchange), !exchange.needsOwnConnection, openings[exchange.origin] == nil else { return }
      openings[exchange.origin] = HTTP2Opening(leader: exchange)
    }

    /// Returns an open connection that takes another stream. An idle connection, and one whose PING frame is not
    /// answered in time, first handles the bytes that have arrived: they may say that the server closes it, or they may
    /// be the answer. Connections above the maximum age are closed here too: in an iteration of the loop, requests
    /// begin before the ages are checked, and the process may have been stopped for long.
    private func sharedConnection(for exchange: EngineExchange) -> HTTP2Connection? {
      for old in sharedPool.expire(now: now) { old.finish() }
      while let connection = sharedPool.use(for: exchange.origin, where: exchange.mayShare) {
        guard connection.streams.isEmpty || connection.isOverdue else { return connection }
        if connection.socket.hasUnread { connection.readable() }
        connection.endIfOverdue()
        if exchange.mayShare(connection) { return connection }
        if connection.isOpen, connection.streams.isEmpty { keep(connection) }
      }
      return nil
    }

    // MARK: - Connecting

    /// Begins an exchange on its new HTTP/2 connection, and then the exchanges that wait for the connection.
    func connectedHTTP2(
      _ exchange: EngineExchange, _ socket: EngineSocket, _ token: UInt64, _ address: SocketAddress
    ) {
      let connection = HTTP2Connection(
        socket, token: token, origin: exchange.origin, proxy: exchange.proxy, peer: EnginePeer(address), loop: self)
      sockets.hand(token, to: .http2(connection))
      http1Origins.remove(exchange.origin)
      guard connection.open(exchange.exchange.limits) else {
        connection.finish()
        return fail(exchange, exchange.failure(.other, FailureText.outOfResources))
      }
      sharedPool.insert(connection, for: exchange.origin)
      let others = endOpening(of: exchange)
      connection.begin(exchange)
      expectWatch(of: exchange)
      place(others)
      connection.flush()
      // The poller reports each change once, and bytes may have arrived before the connection had an owner.
      if connection.isOpen { connection.readable() }
    }

    /// Returns the exchanges that wait for the connection of `leader`. They must connect themselves, because the server
    /// chose HTTP/1.1.
    func exchangesOverHTTP1(waitingFor leader: EngineExchange) -> [EngineExchange] {
      guard openings[leader.origin]?.leader === leader else { return [] }
      Self.insert(leader.origin, into: &http1Origins)
      return endOpening(of: leader)
    }

    /// Handles the end of an exchange that waits for a connection or opens one. If the connection failed, the exchanges
    /// that wait for it fail as well. If only the exchange ended, another one opens the connection at the end of the
    /// current work. Until then, the others may end for the same reason: because their calls were stopped together, or
    /// by the same time-out.
    func connectOthers(waitingFor exchange: EngineExchange, _ error: any Error) {
      guard openings[exchange.origin]?.leader === exchange else {
        openings[exchange.origin]?.waiting.removeAll { $0 === exchange }
        crowds[exchange.origin]?.removeAll { $0 === exchange }
        return
      }
      let others = endOpening(of: exchange)
      let hasConnection = sharedPool.contains(exchange.origin)
      guard let failure = error as? TransportFailure, failure.kind != .connectTimeout, !hasConnection else {
        stranded += others
        return
      }
      for other in others { fail(other, other.failure(failure.kind, failure.description)) }
    }

    // MARK: - Waiting for a stream

    /// Handles a connection that could not be opened. If the exchange may use another connection to the server, it waits
    /// until that one takes a stream, at most until the connect time-out. Otherwise it fails.
    func notConnected(_ exchange: EngineExchange, _ failure: TransportFailure) {
      guard mayShareConnection(exchange),
        let open = sharedPool.first(of: exchange.origin, where: exchange.mayUse)
      else { return fail(exchange, failure) }
      let others = endOpening(of: exchange)
      leave(exchange.stage, keeping: nil)
      exchange.stage = .joining
      expectWatch(of: exchange)
      crowds[exchange.origin, default: []] += [exchange] + others.filter { $0.mayUse(open) }
      continueCrowdLater(of: exchange.origin)
      place(others.filter { !$0.mayUse(open) })
    }

    /// Remembers how many concurrent streams a server accepts. Another connection to it then keeps to the limit before
    /// the server's settings have arrived.
    func note(mostStreams: Int, for origin: HTTPURL.Origin) {
      let isSmall = mostStreams < HTTP2Session.initialStreams
      if isSmall, streamLimits[origin] == nil, streamLimits.count >= Self.mostOrigins { streamLimits.removeAll() }
      streamLimits[origin] = isSmall ? mostStreams : nil
    }

    /// Returns the exchanges that wait for the connection of `leader`. They no longer wait.
    func endOpening(of leader: EngineExchange) -> [EngineExchange] {
      guard openings[leader.origin]?.leader === leader else { return [] }
      return openings.removeValue(forKey: leader.origin)?.waiting ?? []
    }

    /// Places the exchanges that have not ended.
    func place(_ exchanges: [EngineExchange]) {
      for exchange in exchanges where exchange.slot != nil { place(exchange) }
    }

    /// The maximum number of origins whose properties are remembered.
    private static let mostOrigins = 1024

    private static func insert(_ origin: HTTPURL.Origin, into origins: inout Set<HTTPURL.Origin>) {
      if origins.count >= mostOrigins { origins.removeAll() }
      origins.insert(origin)
    }

    // MARK: - Moving

    /// Moves an exchange to another connection because the server guarantees that it has not processed the request (RFC
    /// 9113 section 8.7), or because it processes the request only over HTTP/1.1. This is safe for every method.
    func moveUnprocessed(_ exchange: EngineExchange, from connection: HTTP2Connection) {
      guard exchange.refusals < EngineExchange.mostRefusals, exchange.upload?.canBeSentAgain != false,
        !exchange.exchange.call.isStopped
      else {
        let text = EngineFailure.unprocessed(exchange.origin, connection.goAwayCause)
        return fail(
          exchange, TransportFailure(.closedBeforeResponse, text, isCertainlyNotSent: !exchange.wasBegun))
      }
      let wasBegun = exchange.wasBegun
      exchange.refusals += 1
      exchange.refusers.append(connection)
      exchange.exchange.handling.observer?.repeated()
      exchange.expectsContinue = exchange.exchange.request.body?.expectsContinue == true
      sendAgain(exchange, isKept: false, after: EngineExchange.pause(afterRefusals: exchange.refusals))
      // What this connection accepted does not count. An earlier connection may have ended without such a guarantee.
      exchange.wasBegun = wasBegun
    }

    /// True if a server that requires HTTP/1.1 gets it. Without TLS, the configuration requires HTTP/2.
    func mayUseHTTP1(for origin: HTTPURL.Origin) -> Bool {
      configuration.applicationProtocols.contains("http/1.1") && origin.scheme == .https
    }

    /// Uses HTTP/1.1 for a server from now on if possible, because the server requires it.
    func requireHTTP1(of origin: HTTPURL.Origin) {
      if mayUseHTTP1(for: origin) { Self.insert(origin, into: &http1RequiredOrigins) }
    }

    /// Sends the bytes of a connection at the end of the current work, together with the bytes of other requests.
    func flushLater(_ connection: HTTP2Connection) {
      guard !connection.isFlushQueued else { return }
      connection.isFlushQueued = true
      unflushed.append(connection)
    }

    /// Places the exchanges that need another connection, and sends the bytes of all connections.
    func settleHTTP2() {
      while !unplaced.isEmpty || !unflushed.isEmpty || !relieved.isEmpty || !stranded.isEmpty {
        let origins = relieved
        relieved.removeAll()
        for origin in origins { continueWaiting(for: origin) }
        let others = stranded
        stranded.removeAll()
        for exchange in others where exchange.slot != nil {
          exchange.stage = .unconnected
          place(exchange)
        }
        let exchanges = unplaced
        unplaced.removeAll()
        for exchange in exchanges {
          if exchange.slot != nil, case .unconnected = exchange.stage { place(exchange) }
        }
        let connections = unflushed
        unflushed.removeAll()
        for connection in connections { connection.flush() }
      }
    }

    // MARK: - The pool

    /// Keeps a connection without exchanges for later exchanges.
    func keep(_ connection: HTTP2Connection) {
      connection.observer?.changed(to: .idle)
      for old in sharedPool.keep(connection, for: connection.origin, now: now) { old.finish() }
    }

    /// Removes a connection that takes no new streams from the pool.
    func forget(_ connection: HTTP2Connection) {
      sharedPool.remove(connection, of: connection.origin)
      continueCrowdLater(of: connection.origin)
    }

    /// Removes and closes the socket of a connection.
    func removeSocket(of connection: HTTP2Connection) {
      guard sockets.remove(connection.token) != nil else { return }
      connection.socket.close()
      connection.observer?.changed(to: .closed)
    }
  }
#endif
