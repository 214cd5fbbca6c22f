import ErrandSupport
import Foundation

/// The accounts of an app: login, logout, switching, and credentials that are refreshed and stored.
///
/// ```swift
/// let accounts = try await CredentialStore(keeping: FileCredentialKeeper(file: tokens)) { old, account in
///   try await auth.send(RenewToken(old.refreshToken)).credential
/// }
/// configuration.credentials = accounts
/// try await accounts.login("ada", with: AccountCredential(.bearer(token)))
/// ```
///
/// Several clients may share a store. All members may be called on any thread; a change applies to every call that
/// starts after the change.
public final class CredentialStore: RefreshingProvider {
  /// A function that requests a new credential, because `old` was rejected or is about to expire.
  public typealias Refresh = @Sendable (_ old: AccountCredential, _ account: String) async throws -> AccountCredential

  /// A function that returns true if a response says that the credential of its request has expired or was rejected.
  public typealias Rejection = @Sendable (_ response: HTTPResponse) -> Bool

  private let state: Locked<AccountState>
  private let origins: Set<HTTPURL.Origin>
  private let leeway: TimeInterval
  private let renewal: Refresh?
  private let rejection: Rejection?
  private let saver: CredentialSaver?
  /// Refreshes credentials for every client that uses the store.
  let refreshing = RefreshControl()
  private let wallClock: @Sendable () -> Date
  private let clients = Locked(WeakList<ClientSessions>())
  private let watchers = Locked<[UUID: AsyncStream<AccountChange>.Continuation]>([:])

  /// A logout while the app notifies the server of the logout. The property `period` tells whether the notification
  /// still runs.
  private struct LogoutNotification: Sendable {
    let store: ObjectIdentifier
    let logout: AccountState.PendingLogout
    let period = TaskPeriod()
  }

  /// The logout that the current task reports to the server; nil if the task reports no logout. Calls that the task
  /// sends use the account that was logged out.
  @TaskLocal private static var notification: LogoutNotification?

  /// Makes a store that keeps its accounts only in memory. The accounts are lost when the process ends.
  ///
  /// - Parameters:
  ///   - origins: Origins that may receive credentials in addition to the origin of the base URL.
  ///   - leeway: How long before its expiry a credential counts as expired.
  ///   - refresh: The function that requests a new credential; nil to refresh no credentials. The rules of
  ///     ``RefreshingProvider/refresh(_:for:)`` apply to the function.
  ///   - isRejection: The function that finds rejections of a credential in responses with another status than 401; nil
  ///     if there are none. The rules of ``RefreshingProvider/isRejection(_:)`` apply to the function.
  public convenience init(
    origins: Set<HTTPURL.Origin> = [], leeway: Duration = .seconds(30), refresh: Refresh? = nil,
    isRejection: Rejection? = nil
  ) {
    self.init(KeptAccounts(), nil, origins, leeway, { Date() }, refresh, isRejection)
  }

  /// Makes a store that loads the accounts that `keeper` has saved, and saves every later change. See
  /// ``init(origins:leeway:refresh:isRejection:)`` for the other parameters.
  ///
  /// - Throws: The error of `keeper`, if the accounts cannot be loaded.
  public convenience init(
    keeping keeper: any CredentialKeeper, origins: Set<HTTPURL.Origin> = [], leeway: Duration = .seconds(30),
    refresh: Refresh? = nil, isRejection: Rejection? = nil
  ) async throws {
    let saver = CredentialSaver(keeper)
    self.init(try await saver.load() ?? KeptAccounts(), saver, origins, leeway, { Date() }, refresh, isRejection)
  }

  init(
    _ kept: KeptAccounts, _ saver: CredentialSaver?, _ origins: Set<HTTPURL.Origin>, _ leeway: Duration,
    _ wallClock: @escaping @Sendable () -> Date, _ refresh: Refresh?, _ rejection: Rejection? = nil
  ) {
    state = Locked(AccountState(kept))
    self.saver = saver
    self.origins = origins
    self.leeway = leeway / .seconds(1)
    self.wallClock = wallClock
    renewal = refresh
    self.rejection = rejection
  }

  // MARK: - Accounts

  /// The names of the accounts that are logged in, sorted by their bytes.
  public var accounts: [String] { state.withLock { $0.kept.accounts } }

  /// Logs an account in and makes it the current account. If the account is already logged in, replaces its credential.
  ///
  /// The change applies at once to all calls that start later. The method returns when the change is saved.
  /// - Throws: ``APIError`` if the name is empty, or the error of the ``CredentialKeeper``. If the keeper failed, the
  ///   account is logged in until the process ends.
  public func login(_ account: String, with credential: AccountCredential) async throws {
    guard !account.isEmpty else {
      throw APIError(.authorize, .invalidArgument, "The account name is empty; pass a name to log in.")
    }
    let sessions = sessions
    state.withLock { state in
      // The new login session must not get the cookies of an earlier login session of the account. Under one lock, so
      // that a call of the earlier session cannot make the jar of the new session in between.
      if state.isLoggingOut(account) { for client in sessions { client.forgetCookies(account) } }
      state.login(account, credential)
    }
    publishChanges()
    try await keep()
  }

  /// Makes another logged-in account the current account. If `account` is nil, no account is current afterwards.
  /// Running calls keep the account with which they started.
  ///
  /// - Throws: ``APIError`` of code ``APIError/Code/noCredential`` if the account is not logged in, or the error of the
  ///   ``CredentialKeeper``.
  public func use(_ account: String?) async throws {
    guard state.withLock({ $0.use(account) }) else {
      throw APIError(.authorize, .noCredential, "The account is not logged in; log in before you make it current.")
    }
    publishChanges()
    try await keep()
  }

  /// Logs an account out, by default the current account. If the current account is logged out, no account is current
  /// afterwards.
  ///
  /// As soon as this method runs, no new call starts for the account. The running calls of the account are cancelled on
  /// every client that uses the store; they fail with an error of code ``APIError/Code/loggedOut``. A running refresh
  /// of the credential is cancelled. The stored responses and the cookie jar of the account are removed from these
  /// clients, and the ``CredentialKeeper`` deletes the account.
  ///
  /// Then `farewell` runs, which may notify the server. The calls that `farewell` awaits are sent with the old
  /// credential. This credential is not refreshed.
  ///
  /// An interceptor that runs in a call of the account is cancelled together with the call. So an interceptor that logs
  /// its account out must call this method in a separate task.
  ///
  /// Returns false, and does nothing, if the account is not logged in.
  /// - Throws: The error of the ``CredentialKeeper``, otherwise the error of `farewell`. The account is logged out even
  ///   if the method throws.
  @discardableResult
  public func logout(_ account: String? = nil, farewell: (() async throws -> Void)? = nil) async throws -> Bool {
    let pending = state.withLock { state in (account ?? state.kept.current).flatMap { state.logout($0) } }
    guard let pending else { return false }
    defer { state.withLock { $0.end(pending) } }
    let sessions = sessions
    for client in sessions { client.stop(pending.account) }
    refreshing.end(pending.account)
    publishChanges()
    // The accessories must be notified before the first `await`: while the method is suspended, the account may log in
    // again.
    for client in sessions { client.notifyEnd(of: pending.account) }
    for client in sessions { await client.removeStored(of: pending.account) }
    var failure: (any Error)?
    do { try await keep() } catch { failure = error }
    if let farewell {
      do { try await run(farewell, for: pending) } catch { failure = failure ?? error }
    }
    state.withLock { state in
      guard state.kept[pending.account] == nil else { return }
      for client in sessions { client.forgetCookies(pending.account) }
    }
    if state.withLock({ $0.kept[pending.account] }) == nil {
      for client in sessions { await client.removeStored(of: pending.account) }
    }
    if let failure { throw failure }
    return true
  }

  /// The objects that end the session of an account, one object for each client that uses the store.
  private var sessions: [ClientSessions] { clients.withLock { $0.objects } }

  private func run(_ farewell: () async throws -> Void, for logout: AccountState.PendingLogout) async throws {
    let notification = LogoutNotification(store: ObjectIdentifier(self), logout: logout)
    defer { notification.period.end() }
    // A credential provider may start the logout while it refreshes a credential. Calls that a provider sends carry no
    // credential, but the calls of `farewell` need the old credential. So `farewell` runs as if no provider had started
    // it.
    try await UserCodeScope.leaving {
      try await Self.$notification.withValue(notification) { try await RefreshControl.withoutRefreshing(farewell) }
    }
  }

  // MARK: - Observing changes

  /// A new sequence that delivers every later change of the accounts. The sequence ends when the store is deallocated.
  public var changes: AsyncStream<AccountChange> {
    AsyncStream { continuation in
      let id = UUID()
      continuation.onTermination = { [weak self] _ in self?.watchers.withLock { _ = $0.removeValue(forKey: id) } }
      watchers.withLock { $0[id] = continuation }
    }
  }

  /// Sends the changes to all observers, oldest first. Only one thread publishes at a time. That thread also publishes
  /// the changes that other threads add in the meantime.
  private func publishChanges() {
    var isNext = false
    while let pending = state.withLock({ $0.takePendingChanges(isNext: isNext) }) {
      isNext = true
      for watcher in watchers.withLock({ Array($0.values) }) {
        for change in pending { watcher.yield(change) }
      }
    }
  }

  deinit { for watcher in watchers.withLock({ Array($0.values) }) { watcher.finish() } }

  /// Registers the ``ClientSessions`` of a client that uses the store, so that a logout can end the sessions on the
  /// client. Returns the objects that were registered before. The caller must keep the returned objects until it has
  /// released all locks, because their `deinit` may run code of the app.
  func attach(_ sessions: ClientSessions) -> [ClientSessions] { clients.withLock { $0.insert(sessions) } }

  private func keep() async throws {
    guard let saver else { return }
    do {
      try await saver.save { self.state.withLock { $0.kept } }
    } catch {
      var secrets = KnownSecrets()
      addSecrets(to: &secrets)
      state.withLock { $0.note(.notKept(secrets.masked(AppErrorText.of(error)))) }
      publishChanges()
      throw error
    }
  }

  // MARK: - RefreshingProvider

  /// The logout that the current task reports to the server; nil if the task reports no logout of this store.
  private var notifiedLogout: AccountState.PendingLogout? {
    guard let notification = Self.notification, notification.store == ObjectIdentifier(self),
      notification.period.lasts
    else { return nil }
    return notification.logout
  }

  /// Returns true for the status 401, and for the responses that the function `isRejection` of the initializer finds.
  public func isRejection(_ response: HTTPResponse) -> Bool {
    response.status == 401 || rejection?(response) == true
  }

  /// True if the current task reports a logout to the server. The responses to its calls are not cached.
  var isLoggingOut: Bool { notifiedLogout != nil }

  /// True if the current task reports the logout of an account to the server, and the account is logged in again. The
  /// calls of the task then belong to the former session, whose cookies were removed at the new login.
  func isOfFormerSession(_ account: String?) -> Bool {
    guard let logout = notifiedLogout, account.hasSameBytes(as: logout.account) else { return false }
    return state.withLock { $0.isSuperseded(logout) }
  }

  /// Adds the secrets of all accounts to `secrets`, so that they are masked in messages.
  func addSecrets(to secrets: inout KnownSecrets) {
    for credential in state.withLock({ $0.kept.entries }) {
      secrets.add(credential.credential)
      if let token = credential.refreshToken { secrets.add(token) }
    }
  }

  var refreshes: Bool { renewal != nil }

  /// The name of the current account; nil if no account is current. While the `farewell` function of a logout runs, its
  /// task gets the name of the account that was logged out.
  public var account: String? { notifiedLogout?.account ?? state.withLock { $0.kept.current } }

  /// True if credentials may be sent to an origin: the origin of the base URL, or one of the `origins` of the store.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool {
    origin == base || origins.contains(origin)
  }

  /// The credential of an account; nil if `account` is nil or the store has no credential for the account.
  public func credential(for account: String?) async throws -> Credential? {
    guard let account else { return nil }
    return state.withLock { $0.credential(for: account, duringLogout: isLoggingOut) }
  }

  /// True if a credential should be refreshed before it is sent: it has expired or expires within `leeway`, and the
  /// store has a function that refreshes credentials.
  public func isExpiring(_ credential: Credential) -> Bool {
    guard renewal != nil, let ends = state.withLock({ $0.owner(of: credential) })?.expires else { return false }
    return ends < wallClock().addingTimeInterval(leeway)
  }

  /// Requests a new credential with the `refresh` function of the store, and saves the new credential. If another
  /// credential has replaced `old` already, returns that credential.
  /// - Throws: The error of the `refresh` function; ``APIError`` if the account was logged out.
  public func refresh(_ old: Credential, for account: String?) async throws -> Credential {
    guard let account, let renewal, let present = state.withLock({ $0.kept[account] }) else {
      throw APIError.loggedOut
    }
    if present.credential != old { return present.credential }
    let new = try await renewal(present, account)
    guard state.withLock({ $0.refresh(account, from: present, to: new) }) else {
      // The account was logged out or logged in again during the refresh. So the new credential is useless, or older
      // than the stored credential.
      guard let newer = state.withLock({ $0.kept[account] }) else { throw APIError.loggedOut }
      return newer.credential
    }
    publishChanges()
    try? await keep()
    return new.credential
  }
}

/// Calls a ``CredentialKeeper`` on a thread that may block, one operation at a time. Each save writes the accounts that
/// are logged in when the save begins.
final class CredentialSaver: Sendable {
  private let keeper: any CredentialKeeper
  private let queue = DispatchQueue(label: "errand.keeper")

  init(_ keeper: any CredentialKeeper) { self.keeper = keeper }

  func load() async throws -> KeptAccounts? { try await perform { [keeper] in try keeper.load() } }

  func save(_ accounts: @escaping @Sendable () -> KeptAccounts) async throws {
    try await perform { [keeper] in try keeper.save(accounts()) }
  }

  private func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withUnsafeThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}
