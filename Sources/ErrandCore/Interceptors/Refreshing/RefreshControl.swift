import ErrandSupport

/// Refreshes credentials for all calls of a client: one at a time for an account.
package final class RefreshControl: Sendable {
  typealias Book = RefreshBook<Wakeup, Flight>

  /// How one refreshing ended, for those who waited.
  final class Flight: Sendable {
    private struct End: Sendable {
      var outcome: Book.Outcome?
      var task: Task<Void, Never>?
      /// Whether the task goes on though it has ended.
      var isSpared = false
    }

    let sparing = MarkedTime()
    private let end = Locked(End())

    var outcome: Book.Outcome? { end.withLock { $0.outcome } }

    func carry(_ task: Task<Void, Never>) {
      if end.withLock({ end in
        end.task = end.outcome == nil ? task : nil
        return end.outcome != nil && !end.isSpared
      }) {
        task.cancel()
      }
    }

    /// Notes how it ended; the first word counts. Returns the task that is to be cancelled: none where that is the
    /// present one, since a logout by who refreshes must not cancel itself.
    func end(_ outcome: Book.Outcome) -> Task<Void, Never>? {
      let isSpared = RefreshControl.sparing === sparing
      return end.withLock { end in
        end.outcome = end.outcome ?? outcome
        end.isSpared = isSpared
        defer { end.task = nil }
        return isSpared ? nil : end.task
      }
    }
  }

  /// Whether the present task refreshes, or tells a server of a logout: a call that it makes must not wait for itself.
  static var isRefreshing: Bool { sparing?.lasts == true }

  /// In which nothing that the present task sends is refreshed for.
  @TaskLocal private static var sparing: MarkedTime?

  private let book = Locked(Book())

  package init() {}

  /// How many calls wait for it.
  var waiting: Int { book.withLock { $0.waiting } }

  /// A credential newer than `old`; nil where none is to be had and the answer that asked for it stands.
  /// - Throws: ``ErrandHTTP/CallState/Stopped`` where the call is stopped, ``APIError`` where refreshing fails.
  func newer(
    than old: Credential, for account: String?, by provider: any RefreshingProvider, at base: HTTPURL.Origin?,
    nesting: Int, _ call: CallState
  ) async throws -> Credential? {
    if Self.isRefreshing { return nil }
    try call.check()
    let present = try await credential(for: account, by: provider, nesting: nesting, call)
    if let present, present != old { return present }
    let subject = RefreshSubject(account, of: provider, at: base)
    var entrance = Book.Entrance.refuse
    do {
      try await call.wait { wakeup in
        entrance = book.withLock { $0.enter(subject, old, wakeup, call.timers.now) { Flight() } }
        switch entrance {
        case .wait: break
        case .begin(let flight, let ticket): begin(flight, ticket, old, account, provider, nesting, call.timers)
        case .use, .fail, .refuse: wakeup.resume()
        }
      }
    } catch {
      if let ticket = entrance.ticket { book.withLock { $0.leave(ticket) } }
      throw error
    }
    switch entrance {
    case .use(let credential): return credential
    case .fail(let error): throw error
    case .refuse: return nil
    case .begin(let flight, _), .wait(let flight, _): return try flight.outcome?.get()
    }
  }

  /// Asks a provider for the credential of an account. What it sends meanwhile shows none of its credentials.
  func credential(
    for account: String?, by provider: any CredentialProvider, nesting: Int, _ call: CallState
  ) async throws -> Credential? {
    // A store sends nothing.
    if provider is CredentialStore { return try await call.running { try await provider.credential(for: account) } }
    let id = id(of: provider)
    return try await call.running {
      try await AppScope.during(type(of: provider), in: nesting, provider: id) {
        try await provider.credential(for: account)
      }
    }
  }

  /// Tells a provider from others: an object by itself, a value by the client whose control this is.
  func id(of provider: any CredentialProvider) -> ObjectIdentifier {
    ObjectIdentifier(type(of: provider) is AnyClass ? provider as AnyObject : self)
  }

  /// Nothing that `work` sends is refreshed for.
  static func sparing(_ work: () async throws -> Void) async rethrows {
    let sparing = MarkedTime()
    defer { sparing.end() }
    try await $sparing.withValue(sparing) { try await work() }
  }

  /// The account's session has ended: refreshing for it is cancelled, and those who wait for it fail.
  func end(_ account: String) {
    for (flight, waiting) in book.withLock({ $0.end(account) }) {
      flight.end(.failure(.loggedOut))?.cancel()
      for waiter in waiting { waiter.resume() }
    }
  }

  /// In a task that no caller's cancel reaches.
  private func begin(
    _ flight: Flight, _ ticket: Book.Ticket, _ old: Credential, _ account: String?,
    _ provider: any RefreshingProvider, _ nesting: Int, _ timers: any Timers
  ) {
    let task = Task.detached { [self] in
      let outcome = await Self.$sparing.withValue(flight.sparing) {
        await AppScope.during(type(of: provider), in: nesting, provider: id(of: provider)) {
          await Self.outcome(old, account, provider)
        }
      }
      flight.sparing.end()
      _ = flight.end(outcome)
      for waiter in book.withLock({ $0.land(ticket, outcome, timers.now) }) { waiter.resume() }
    }
    flight.carry(task)
  }

  private static func outcome(
    _ old: Credential, _ account: String?, _ provider: any RefreshingProvider
  ) async -> Book.Outcome {
    do {
      return .success(try await provider.refresh(old, for: account))
    } catch {
      if (error as? APIError)?.code == .loggedOut { return .failure(.loggedOut) }
      var secrets = KnownSecrets()
      secrets.add(old)
      if let store = provider as? CredentialStore { store.addSecrets(to: &secrets) }
      return .failure(failure(error, secrets.masked((error as? APIError)?.message ?? "\(error)")))
    }
  }
}

extension RefreshControl {
  private static func failure(_ cause: any Error, _ reason: String) -> APIError {
    if (cause as? APIError)?.leavesCredential == true {
      let clause = "The credential was refused or has run out, and no other can be had at this moment: \(reason)"
      return APIError(.authorize, .refreshUnavailable, APIError.sentence(clause), cause: cause)
    }
    let clause = "The credential was refused or has run out; log in again, since no other could be had: \(reason)"
    return APIError(.authorize, .refreshFailed, APIError.sentence(clause), cause: cause)
  }
}

extension APIError {
  /// Whether the server of tokens was not heard, so that nobody says that a credential is worth nothing: the network
  /// failed, somebody on the way answered, or the server did not work.
  var leavesCredential: Bool {
    switch stage {
    case .transport, .redirect, .deadline: true
    case .admission: code == .queueFull || code == .circuitOpen
    case .validate, .decode:
      switch code {
      case .status: status.map { $0 >= 500 || $0 == 408 || $0 == 429 } ?? false
      case .contentType, .notJSON: true
      default: response?.fields.mediaType?.isPage == true
      }
    default: false
    }
  }
}

extension RefreshControl {
  private struct Shared: Sendable {
    weak let provider: (any CredentialProvider & AnyObject)?
    let control = RefreshControl()
  }

  private static let shared = Locked<[ObjectIdentifier: Shared]>([:])

  /// Who refreshes for a provider on every client that uses it: a refresh token that may be used once must not be used
  /// twice. Nil for a provider that is a value, since there may be several with its type.
  static func shared(by provider: any CredentialProvider) -> RefreshControl? {
    if let store = provider as? CredentialStore { return store.refreshing }
    guard type(of: provider) is AnyClass, let object = provider as? any CredentialProvider & AnyObject else {
      return nil
    }
    // Whatever dies of it, which may be the app's, dies behind the lock.
    let (control, _) = shared.withLock { shared -> (RefreshControl, [any Sendable]) in
      if let known = shared[ObjectIdentifier(object)], known.provider === object { return (known.control, []) }
      let held = shared.values.map { ($0.provider, $0.control) }
      shared = shared.filter { $0.value.provider != nil }
      let new = Shared(provider: object)
      shared[ObjectIdentifier(object)] = new
      return (new.control, held)
    }
    return control
  }
}

extension RefreshBook.Entrance {
  fileprivate var ticket: RefreshBook.Ticket? {
    switch self {
    case .begin(_, let ticket), .wait(_, let ticket): ticket
    case .use, .fail, .refuse: nil
    }
  }
}
