#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// Opens a connection for one exchange: waits for the lookup of the host, then tries the addresses. Only the loop's
  /// thread uses this object.
  final class EngineConnector {
    private struct Attempt {
      let socket: EngineSocket
      let token: UInt64
      let address: SocketAddress
    }

    private static let offlineErrors = [ENETDOWN, ENETUNREACH]
    private static let resourceErrors = [EMFILE, ENFILE, ENOMEM, ENOBUFS]

    private(set) var exchange: EngineExchange?
    private let loop: EngineLoop
    private var race: AddressRace?
    private var attempts: [Attempt] = []
    /// The error number (`errno`) of the failed connection attempt that explains the failure best.
    private var error: Int32 = 0

    init(_ exchange: EngineExchange, _ loop: EngineLoop) {
      self.exchange = exchange
      self.loop = loop
    }

    /// The time at which the next address is tried even if no attempt has failed. Nil if no attempt is scheduled.
    var nextAttempt: MonotonicInstant? { race?.nextAttempt }

    /// Begins to connect to the addresses of the host. Skips addresses that the address policy forbids.
    func begin(_ addresses: [SocketAddress], wasLookedUp: Bool) {
      guard let exchange else { return }
      if wasLookedUp { exchange.nameResolved = loop.now }
      let allowed = addresses.filter { loop.configuration.allows($0) }
      if allowed.isEmpty, let refused = addresses.last {
        let text = EngineFailure.refusal(of: refused, host: exchange.origin.host)
        return loop.fail(exchange, exchange.failure(.forbiddenAddress, text))
      }
      race = AddressRace(allowed)
      advance()
    }

    /// Fails the exchange because the lookup of the host failed.
    func failed(_ failure: SocketAddress.LookupFailure) {
      guard let exchange else { return }
      loop.fail(exchange, exchange.failure(.nameLookup, EngineFailure.lookup(exchange.origin, failure)))
    }

    /// Starts the connection attempts that are due. Fails the exchange if every address has failed.
    func advance() {
      while exchange != nil, let address = race?.next(now: loop.now) { attempt(address) }
      guard let exchange else { return }
      if race?.isLost == true { return loop.fail(exchange, failure(exchange)) }
      loop.expectWatch(of: exchange)
    }

    /// Ends all connection attempts and releases the exchange.
    func cancel() {
      exchange = nil
      for attempt in attempts { loop.forget(attempt.token, attempt.socket) }
      attempts = []
    }

    /// Handles an event of the socket of a connection attempt.
    func handle(_ report: Poller.Report) {
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
      cancel()
      loop.connected(exchange, attempt.socket, attempt.token, attempt.address, report)
    }

    /// Records the error number of a failed connection attempt. Any other error replaces "no network" and "no route",
    /// because other errors explain more.
    private func note(_ error: Int32) {
      if self.error == 0 || Self.offlineErrors.contains(self.error) { self.error = error }
    }

    private func failure(_ exchange: EngineExchange) -> TransportFailure {
      if Self.resourceErrors.contains(error) { return exchange.failure(.other, FailureText.outOfResources) }
      let kind: TransportFailure.Kind = Self.offlineErrors.contains(error) ? .offline : .refused
      let place = loop.configuration.unixSocket
      return exchange.failure(kind, EngineFailure.connecting(kind, exchange.origin, socket: place, error: error))
    }
  }
#endif
