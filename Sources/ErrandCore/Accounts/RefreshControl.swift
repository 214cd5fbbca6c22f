import ErrandSupport

/// Refreshes credentials for all calls of a client, one refresh at a time for each account.
package final class RefreshControl: Sendable {
  typealias State = RefreshState<Wakeup, Refresh>

  /// One refresh of a credential, and its result. Several calls may wait for the refresh.
  final class Refresh: Sendable {
    private struct End: Sendable {
      var outcome: State.Outcome?
      var task: Task<Void, Never>?
      /// True if the task that refreshes the credential itself logged the account out. The logout ends the refresh, but
      /// must not cancel the task that called the logout.
      var isExemptFromCancel = false
    }

    let noRefreshPeriod = TaskPeriod()
    private let end = Locked(End())

    var outcome: State.Outcome? { end.withLock { $0.outcome } }

    func carry(_ task: Task<Void, Never>) {
      if end.withLock({ end in
        end.task = end.outcome == nil ? task : nil
        return end.outcome != nil && !end.isExemptFromCancel
      }) {
        task.cancel()
      }
    }

    /// Stores the result of the refresh; only the first result counts. Returns the refreshing task, which the caller
    /// must cancel. Returns nil if the refreshing task itself calls this method: code that refreshes a credential may
    /// log the account out, and the logout must not cancel that code.
    func end(_ outcome: State.Outcome) -> Task<Void, Never>? {
      let isExemptFromCancel = RefreshControl.noRefreshPeriod === noRefreshPeriod
      return end.withLock { end in
        end.outcome = end.outcome ?? outcome
        end.isExemptFromCancel = isExemptFromCancel
        defer { end.task = nil }
        return isExemptFromCancel ? nil : end.task
      }
    }
  }

  /// True if the current task refreshes a credential, or notifies a server of a logout. A call that such a task sends
  /// must not wait for a refresh, because it might wait for the refresh that its own task performs.
  static var isRefreshing: Bool { noRefreshPeriod?.lasts == true }

  /// The period in which calls of the current task must not refresh credentials; nil if these calls may refresh
  /// credentials.
  @TaskLocal private static var noRefreshPeriod: TaskPeriod?

  private let state = Locked(State())

  package init() {}

  var waiting: Int { state.withLock { $0.waiting } }

  /// Returns a credential that is newer than `old`, and how it was obtained. The credential is nil if no newer
  /// credential is available. The caller then keeps `old`, or the response that has already rejected it.
  /// - Throws: ``ErrandHTTP/CallState/Stopped`` if the call is stopped, ``APIError`` if refreshing fails.
  func newer(
    than old: Credential, for account: String?, by provider: any RefreshingProvider, at base: HTTPURL.Origin?,
    nesting: Int, _ call: CallState
  ) async throws -> (Credential?, CallDecision.RefreshResult) {
    if Self.isRefreshing { return (nil, .refused) }
    try call.check()
    let present = try await credential(for: account, by: provider, nesting: nesting, call)
    if let present, present != old { return (present, .alreadyNewer) }
    let subject = RefreshSubject(account, of: provider, at: base)
    var decision = State.Decision.refuse
    do {
      try await call.wait { wakeup in
        decision = state.withLock { $0.request(subject, old, wakeup, call.timers.now) { Refresh() } }
        switch decision {
        case .wait: break
        case .begin(let refresh, let ticket): begin(refresh, ticket, old, account, provider, nesting, call.timers)
        case .use, .fail, .refuse: wakeup.resume()
        }
      }
    } catch {
      if let ticket = decision.ticket { state.withLock { $0.cancelWait(ticket) } }
      throw error
    }
    switch decision {
    case .use(let credential): return (credential, .alreadyNewer)
    case .fail(let error): throw error
    case .refuse: return (nil, .refused)
    case .begin(let refresh, _): return Self.result(try refresh.outcome?.get(), .refreshed)
    case .wait(let refresh, _): return Self.result(try refresh.outcome?.get(), .waited)
    }
  }

  private static func result(
    _ credential: Credential?, _ result: CallDecision.RefreshResult
  ) -> (Credential?, CallDecision.RefreshResult) {
    credential == nil ? (nil, .refused) : (credential, result)
  }

  /// Asks a provider for the credential of an account. If the provider sends calls to obtain the credential, these
  /// calls are sent without a credential of this provider.
  func credential(
    for account: String?, by provider: any CredentialProvider, nesting: Int, _ call: CallState
  ) async throws -> Credential? {
    // A `CredentialStore` returns a stored credential and sends no calls, so it needs no ``UserCodeScope``.
    if provider is CredentialStore { return try await call.running { try await provider.credential(for: account) } }
    let id = id(of: provider)
    return try await call.running {
      try await UserCodeScope.during(type(of: provider), in: nesting, provider: id) {
        try await provider.credential(for: account)
      }
    }
  }

  /// The identity of a credential provider. For a provider that is an instance of a class, it is the identity of the
  /// object. For a provider that is a value, it is the identity of this ``RefreshControl``, which belongs to one
  /// client.
  func id(of provider: any CredentialProvider) -> ObjectIdentifier {
    ObjectIdentifier(type(of: provider) is AnyClass ? provider as AnyObject : self)
  }

  /// Runs `work`. Calls that `work` sends do not refresh credentials.
  static func withoutRefreshing(_ work: () async throws -> Void) async rethrows {
    let period = TaskPeriod()
    defer { period.end() }
    try await $noRefreshPeriod.withValue(period) { try await work() }
  }

  /// Ends the session of an account: cancels the running refreshes of its credential. The calls that wait for these
  /// refreshes fail.
  func end(_ account: String) {
    for (refresh, waiting) in state.withLock({ $0.end(account) }) {
      refresh.end(.failure(.loggedOut))?.cancel()
      for waiter in waiting { waiter.resume() }
    }
  }

  /// Starts a refresh in a detached task, so that the refresh continues if a waiting call is cancelled.
  private func begin(
    _ refresh: Refresh, _ ticket: State.Ticket, _ old: Credential, _ account: String?,
    _ provider: any RefreshingProvider, _ nesting: Int, _ timers: any Timers
  ) {
    let task = Task.detached { [self] in
      let outcome = await Self.$noRefreshPeriod.withValue(refresh.noRefreshPeriod) {
        await UserCodeScope.during(type(of: provider), in: nesting, provider: id(of: provider)) {
          await Self.outcome(old, account, provider)
        }
      }
      refresh.noRefreshPeriod.end()
      _ = refresh.end(outcome)
      for waiter in state.withLock({ $0.finish(ticket, outcome, timers.now) }) { waiter.resume() }
    }
    refresh.carry(task)
  }

  private static func outcome(
    _ old: Credential, _ account: String?, _ provider: any RefreshingProvider
  ) async -> State.Outcome {
    do {
      return .success(try await provider.refresh(old, for: account))
    } catch {
      if (error as? APIError)?.code == .loggedOut { return .failure(.loggedOut) }
      var secrets = KnownSecrets()
      secrets.add(old)
      if let store = provider as? CredentialStore { store.addSecrets(to: &secrets) }
      return .failure(failure(error, secrets.masked(AppErrorText.of(error))))
    }
  }
}

extension RefreshControl {
  private static func failure(_ cause: any Error, _ reason: String) -> APIError {
    if cause is CancellationError || (cause as? APIError)?.leavesCredential == true {
      let clause = "The credential was rejected or has expired, and it cannot be refreshed at the moment: \(reason)"
      return APIError(.authorize, .refreshUnavailable, APIError.sentence(clause), cause: cause)
    }
    let clause = "The credential was rejected or has expired and could not be refreshed; log in again: \(reason)"
    return APIError(.authorize, .refreshFailed, APIError.sentence(clause), cause: cause)
  }
}

extension APIError {
  /// True if the credential may still be valid, because the authorization server did not decide about the credential:
  /// the network failed, an intermediary responded, the server had an internal error, or the call was cancelled.
  var leavesCredential: Bool {
    switch stage {
    case .transport, .redirect, .deadline, .cancelled: true
    case .admission: code == .queueFull || code == .circuitOpen || code == .draining
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

  /// The ``RefreshControl`` that all clients with the given credential provider share. With separate controls, two
  /// clients could send the same refresh token, which may be valid only once. Nil for a provider that is a value,
  /// because two values of one type cannot be distinguished.
  static func shared(by provider: any CredentialProvider) -> RefreshControl? {
    if let store = provider as? CredentialStore { return store.refreshing }
    guard type(of: provider) is AnyClass, let object = provider as? any CredentialProvider & AnyObject else {
      return nil
    }
    // Removing entries from the table may release objects of the app, whose `deinit` may run code of the app. So the
    // closure returns these objects, which retains them until the lock is released.
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

extension RefreshState.Decision {
  fileprivate var ticket: RefreshState.Ticket? {
    switch self {
    case .begin(_, let ticket), .wait(_, let ticket): ticket
    case .use, .fail, .refuse: nil
    }
  }
}
