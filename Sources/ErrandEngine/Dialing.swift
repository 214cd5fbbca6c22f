#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// One exchange on its way to a connection: its host is looked up, and the addresses are tried. Only the loop's
  /// thread touches it.
  final class Dialing {
    private struct Attempt {
      let socket: EngineSocket
      let token: UInt64
      let address: SocketAddress
    }

    private static let offlineErrors = [ENETDOWN, ENETUNREACH]
    private static let roomErrors = [EMFILE, ENFILE, ENOMEM, ENOBUFS]

    private(set) var exchange: EngineExchange?
    private let loop: EngineLoop
    private var race: AddressRace?
    private var attempts: [Attempt] = []
    /// The system's error number of the attempt that tells most.
    private var error: Int32 = 0

    init(_ exchange: EngineExchange, _ loop: EngineLoop) {
      self.exchange = exchange
      self.loop = loop
    }

    /// When the next address is to be tried though none has failed; nil for never.
    var nextAttempt: MonotonicInstant? { race?.nextAttempt }

    /// The host has these addresses. Tries those that the policy allows.
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

    /// The host has no address that is known.
    func failed(_ failure: SocketAddress.LookupFailure) {
      guard let exchange else { return }
      loop.fail(exchange, exchange.failure(.nameLookup, EngineFailure.lookup(exchange.origin, failure)))
    }

    /// Tries the addresses whose turn it is.
    func advance() {
      while exchange != nil, let address = race?.next(now: loop.now) { attempt(address) }
      guard let exchange else { return }
      if race?.isLost == true { return loop.fail(exchange, failure(exchange)) }
      loop.expectWatch(of: exchange)
    }

    /// Ends all attempts.
    func cancel() {
      exchange = nil
      for attempt in attempts { loop.forget(attempt.token, attempt.socket) }
      attempts = []
    }

    /// Something happened to the socket of an attempt.
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

    /// That a family has no route tells less than how the addresses of the other one failed.
    private func note(_ error: Int32) {
      if self.error == 0 || Self.offlineErrors.contains(self.error) { self.error = error }
    }

    private func failure(_ exchange: EngineExchange) -> TransportFailure {
      if Self.roomErrors.contains(error) { return exchange.failure(.other, FailureText.outOfRoom) }
      let kind: TransportFailure.Kind = Self.offlineErrors.contains(error) ? .offline : .refused
      let place = loop.configuration.unixSocket
      return exchange.failure(kind, EngineFailure.connecting(kind, exchange.origin, socket: place, error: error))
    }
  }
#endif
