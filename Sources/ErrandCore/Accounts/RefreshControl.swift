import ErrandSupport

/// Refreshes credentials for all calls of a client, one refresh at a time for each account.
package final class RefreshControl: Sendable {
  typealias Book = RefreshBook<Wakeup, Flight>

  /// One refresh and its result, for the calls that wait for it.
  final class Flight: Sendable {
    private struct End: Sendable {
      var outcome: Book.Outcome?
      var task: Task<Void, Never>?
      /// True if the task continues although the refresh already has a result.
      var isSpared = false
    }

    let sparing = TaskMark()
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

    /// Stores the result; only the first result counts. Returns the task to cancel. Returns nil in the refreshing task
    /// itself: if the refreshing code logs the account out, that must not cancel the code.
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

  /// True if the current task refreshes a credential, or notifies a server of a logout. Calls that such a task sends
  /// must not wait for a refresh, because that could be the refresh of the task itself.
  static var isRefreshing: Bool { sparing?.lasts == true }

  /// A period in which calls of the current task do not refresh credentials.
  @TaskLocal private static var sparing: TaskMark?

  private let book = Locked(Book())

  package init() {}

  /// The number of calls that wait for a refresh.
  var waiting: Int { book.withLock { $0.waiting } }

  /// Returns a credential that is newer than `old`. Nil if none is available; then the response with status 401 is the
  /// result of the call.
  /// - Throws: ``ErrandHTTP/CallState/Stopped`` if the call is stopped, ``APIError`` if refreshing fails.
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

  /// Asks a provider for the credential of an account. Calls that the provider sends to get the credential are sent
  /// without a credential of this provider.
  func credential(
    for account: String?, by provider: any CredentialProvider, nesting: Int, _ call: CallState
  ) async throws -> Credential? {
    // A `CredentialStore` sends no calls here.
    if provider is CredentialStore { return try await call.running { try await provider.credential(for: account) } }
    let id = id(of: provider)
    return try await call.running {
      try await UserCodeScope.during(type(of: provider), in: nesting, provider: id) {
        try await provider.credential(for: account)
      }
    }
  }

  /// The identity of a provider. If the provider is an object, it is the identity of the object. If the provider is a
  /// value, it is the identity of this control, which belongs to one client.
  func id(of provider: any CredentialProvider) -> ObjectIdentifier {
    ObjectIdentifier(type(of: provider) is AnyClass ? provider as AnyObject : self)
  }

  /// Runs `work` so that its calls do not refresh credentials.
  static func sparing(_ work: () async throws -> Void) async rethrows {
    let sparing = TaskMark()
    defer { sparing.end() }
    try await $sparing.withValue(sparing) { try await work() }
  }

  /// Ends the session of an account: its refreshes are cancelled, and the calls that wait for them fail.
  func end(_ account: String) {
    for (flight, waiting) in book.withLock({ $0.end(account) }) {
      flight.end(.failure(.loggedOut))?.cancel()
      for waiter in waiting { waiter.resume() }
    }
  }

  /// Starts a refresh in a detached task. So the refresh continues if a caller is cancelled.
  private func begin(
    _ flight: Flight, _ ticket: Book.Ticket, _ old: Credential, _ account: String?,
    _ provider: any RefreshingProvider, _ nesting: Int, _ timers: any Timers
  ) {
    let task = Task.detached { [self] in
      let outcome = await Self.$sparing.withValue(flight.sparing) {
        await UserCodeScope.during(type(of: provider), in: nesting, provider: id(of: provider)) {
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
      let clause = "The credential was rejected or has expired, and it cannot be refreshed at the moment: \(reason)"
      return APIError(.authorize, .refreshUnavailable, APIError.sentence(clause), cause: cause)
    }
    let clause = "The credential was rejected or has expired and could not be refreshed; log in again: \(reason)"
    return APIError(.authorize, .refreshFailed, APIError.sentence(clause), cause: cause)
  }
}

extension APIError {
  /// True if the credential may still be valid, because the authorization server did not decide about the credential:
  /// the network failed, an intermediary responded, or the server had an internal error.
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

  /// The control that refreshes the credentials of a provider for all clients that use the provider. With a separate
  /// control in each client, two clients could use the same refresh token, which may be valid only once. Nil for a
  /// provider that is a value, because two values of one type cannot be distinguished.
  static func shared(by provider: any CredentialProvider) -> RefreshControl? {
    if let store = provider as? CredentialStore { return store.refreshing }
    guard type(of: provider) is AnyClass, let object = provider as? any CredentialProvider & AnyObject else {
      return nil
    }
    // Objects of the app may be released here. They are kept until the lock is open, because their `deinit` may run
    // code of the app.
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
