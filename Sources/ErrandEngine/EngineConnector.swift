#if os(Linux)
  import ErrandHTTP
  import ErrandTLS
  import Glibc

  /// Opens a connection for one exchange: waits for the lookup of the host, tries the addresses, then opens a tunnel
  /// and sets up TLS if the exchange needs them. Only the loop's thread uses this object.
  final class EngineConnector {
    private struct Attempt {
      var socket: EngineSocket
      let token: UInt64
      let address: SocketAddress
    }

    /// The steps between the TCP connection and the request.
    private enum Step {
      case tunnel(EngineTunnel)
      case handshake(TLSSession)
    }

    private static let offlineErrors = [ENETDOWN, ENETUNREACH]
    private static let resourceErrors = [EMFILE, ENFILE, ENOMEM, ENOBUFS]

    private(set) var exchange: EngineExchange?
    private let loop: EngineLoop
    private var race: AddressRace?
    private var attempts: [Attempt] = []
    /// The connected socket while its tunnel or TLS is set up.
    private var setup: (attempt: Attempt, step: Step)?
    /// The error number (`errno`) of the failed connection attempt that explains the failure best.
    private var error: Int32 = 0
    /// True while the attempt waits for the lookup of the host.
    var isLookingUp = false
    /// True if the queue of the server's Unix domain socket was full at an attempt.
    private(set) var isQueueFull = false

    init(_ exchange: EngineExchange, _ loop: EngineLoop) {
      self.exchange = exchange
      self.loop = loop
    }

    /// The time of the next scheduled connection attempt, to another address or to the same one again. Nil if none is
    /// scheduled.
    var nextAttempt: MonotonicInstant? { race?.nextAttempt }

    /// Begins to connect to the addresses of the host. Skips addresses that the address policy forbids.
    func begin(_ addresses: [SocketAddress], wasLookedUp: Bool) {
      guard let exchange else { return }
      if wasLookedUp { exchange.nameResolved = loop.now }
      let allowed = addresses.filter(allows)
      if allowed.isEmpty, let refused = addresses.last {
        let text = loop.trust.refusal(of: refused.text, refused.kind, host: exchange.origin.host)
        return loop.fail(exchange, exchange.failure(.forbiddenAddress, text))
      }
      race = AddressRace(allowed)
      advance()
    }

    /// True if a connection to the address is allowed. A Unix domain socket is always allowed because the configuration
    /// itself names it.
    private func allows(_ address: SocketAddress) -> Bool {
      loop.trust.allowsAllAddresses || address.isUnix || address.kind.map(loop.trust.allows) == true
    }

    /// Fails the exchange because the lookup of the host failed.
    func failed(_ failure: SocketAddress.LookupFailure) {
      guard let exchange else { return }
      if failure.lacksDescriptors {
        return loop.notConnected(exchange, exchange.failure(.other, FailureText.outOfResources))
      }
      let kind: TransportFailure.Kind = exchange.proxy == nil ? .nameLookup : .proxy
      loop.notConnected(exchange, exchange.failure(kind, cause: failure.text))
    }

    /// Starts the connection attempts that are due. Fails the exchange if every address has failed.
    func advance() {
      while exchange != nil, let address = race?.next(now: loop.now) { attempt(address) }
      guard let exchange else { return }
      if race?.isLost == true { return loop.notConnected(exchange, failure(exchange)) }
      loop.expectWatch(of: exchange)
    }

    /// Ends all connection attempts and releases the exchange.
    func cancel() {
      exchange = nil
      endAttempts()
      guard let (attempt, step) = setup else { return }
      setup = nil
      if case .handshake(let session) = step { session.close() }
      loop.forget(attempt.token, attempt.socket)
    }

    private func endAttempts() {
      for attempt in attempts { loop.forget(attempt.token, attempt.socket) }
      attempts = []
    }

    /// Handles an event of the socket of a connection attempt.
    func handle(_ report: Poller.Report) {
      if setup != nil { return continueSetup(report) }
      guard report.isWritable || report.hasEnded,
        let place = attempts.firstIndex(where: { $0.token == report.token })
      else { return }
      let attempt = attempts.remove(at: place)
      let error = attempt.socket.pendingError
      guard error != 0 else { return win(attempt, report) }
      loop.forget(attempt.token, attempt.socket)
      note(error)
      race?.failed(now: loop.now)
      advance()
    }

    private func attempt(_ address: SocketAddress) {
      let (socket, error) = loop.openSocket(for: address)
      guard let socket else {
        note(error)
        race?.failed(now: loop.now)
        return
      }
      let outcome = socket.connect(to: address)
      if case .failed(let error) = outcome {
        socket.close()
        // The queue of the server's Unix domain socket is full. A TCP socket would wait for a free place by itself.
        if address.isUnix, error == EAGAIN {
          isQueueFull = true
          race?.postponed(address, now: loop.now)
          return
        }
        note(error)
        race?.failed(now: loop.now)
        return
      }
      guard let token = loop.register(socket, for: self) else {
        socket.close()
        note(ENOMEM)
        race?.failed(now: loop.now)
        return
      }
      let attempt = Attempt(socket: socket, token: token, address: address)
      if outcome == .connected { win(attempt, nil) } else { attempts.append(attempt) }
    }

    private func win(_ attempt: Attempt, _ report: Poller.Report?) {
      guard let exchange else { return loop.forget(attempt.token, attempt.socket) }
      endAttempts()
      race = nil
      exchange.connected = loop.now
      guard exchange.origin.scheme == .https else { return finish(attempt, report) }
      guard exchange.proxy == nil else {
        setup = (attempt, .tunnel(EngineTunnel(exchange, over: attempt.socket, loop)))
        return continueSetup(report)
      }
      beginHandshake(attempt, report)
    }

    /// Passes the connection to the loop, which begins the exchange.
    private func finish(_ attempt: Attempt, _ report: Poller.Report?) {
      guard let exchange else { return loop.forget(attempt.token, attempt.socket) }
      self.exchange = nil
      loop.connected(exchange, attempt.socket, attempt.token, attempt.address, report)
    }

    // MARK: - Tunnels and TLS

    private func continueSetup(_ report: Poller.Report?) {
      guard let exchange, let (attempt, step) = setup else { return }
      switch step {
      case .handshake(let session): continueHandshake(attempt, session, report)
      case .tunnel(let tunnel):
        switch tunnel.advance(loop.receiveBuffer(for: nil)) {
        case .later: loop.expectWatch(of: exchange)
        case .failed(let failure): loop.fail(exchange, failure)
        case .open: beginHandshake(attempt, report)
        case .reconnect: reconnect(exchange, attempt)
        }
      }
    }

    /// Connects to the proxy again, because it has closed the connection after it asked for credentials.
    private func reconnect(_ exchange: EngineExchange, _ attempt: Attempt) {
      setup = nil
      loop.forget(attempt.token, attempt.socket)
      exchange.connected = nil
      race = AddressRace([attempt.address])
      advance()
    }

    private func beginHandshake(_ attempt: Attempt, _ report: Poller.Report?) {
      guard let exchange else { return loop.forget(attempt.token, attempt.socket) }
      setup = nil
      let protocols = loop.protocols(for: exchange.origin)
      guard
        let session = loop.tls.session(
          with: exchange.origin, over: attempt.socket, protocols: protocols, at: loop.now)
      else {
        loop.forget(attempt.token, attempt.socket)
        return loop.fail(exchange, exchange.failure(.other, FailureText.outOfResources))
      }
      setup = (attempt, .handshake(session))
      continueHandshake(attempt, session, report)
    }

    /// Continues the TLS handshake. After the handshake, checks the server's key before a byte of the request is sent.
    private func continueHandshake(_ attempt: Attempt, _ session: TLSSession, _ report: Poller.Report?) {
      guard let exchange else { return }
      switch session.handshake() {
      case .later: loop.expectWatch(of: exchange)
      case .failed:
        let reported = session.failure
        let failure = EngineFailure.tls(exchange, reported.handshakeKind, reported)
        if failure.kind == .closedBeforeResponse { return loop.notConnected(exchange, failure) }
        loop.fail(exchange, failure)
      case .done:
        guard loop.tls.allowsKey(of: session, exchange.origin) else {
          session.reject()
          return loop.fail(exchange, exchange.failure(.pinMismatch))
        }
        setup = nil
        exchange.secured = .now
        var secured = attempt
        secured.socket = attempt.socket.secured(by: session)
        // The handshake may have consumed the event of bytes that follow it, so the connection must look for them.
        finish(
          secured,
          Poller.Report(
            token: attempt.token, isReadable: true, isWritable: false, hasEnded: report?.hasEnded == true))
      }
    }

    /// Records the error number of a failed connection attempt. Any other error replaces "no network" and "no route",
    /// because other errors explain more.
    private func note(_ error: Int32) {
      if self.error == 0 || Self.offlineErrors.contains(self.error) { self.error = error }
    }

    private func failure(_ exchange: EngineExchange) -> TransportFailure {
      if Self.resourceErrors.contains(error) { return exchange.failure(.other, FailureText.outOfResources) }
      let refused: TransportFailure.Kind = exchange.proxy == nil ? .refused : .proxy
      let kind = Self.offlineErrors.contains(error) ? .offline : refused
      let text = loop.configuration.unixSocket.map(FailureText.refused(socket:))
      return exchange.failure(kind, text, cause: String(cString: strerror(error)))
    }
  }
#endif
