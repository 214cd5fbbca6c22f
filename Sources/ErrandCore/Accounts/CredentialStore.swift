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
  /// Requests a new credential to replace one that was rejected or is about to expire.
  public typealias Refresh = @Sendable (_ old: AccountCredential, _ account: String) async throws -> AccountCredential

  private let book: Locked<AccountBook>
  private let origins: Set<HTTPURL.Origin>
  private let leeway: TimeInterval
  private let renewal: Refresh?
  private let desk: CredentialSaver?
  /// Refreshes credentials for every client that uses the store.
  let refreshing = RefreshControl()
  private let wallClock: @Sendable () -> Date
  private let clients = Locked(WeakList<ClientSessions>())
  private let watchers = Locked<[UUID: AsyncStream<AccountChange>.Continuation]>([:])

  /// An account of whose logout a server is being notified. `time` ends with the notification.
  private struct Parting: Sendable {
    let store: ObjectIdentifier
    let account: String
    let time = TaskMark()
  }

  /// Set while a server is notified of a logout. Calls are then sent with the account that was logged out.
  @TaskLocal private static var parting: Parting?

  /// Makes a store in memory. It is empty when the process starts again.
  ///
  /// - Parameters:
  ///   - origins: Origins that may receive credentials in addition to the origin of the base URL.
  ///   - leeway: How long before its expiry a credential counts as expired.
  ///   - refresh: Requests another credential; see ``RefreshingProvider/refresh(_:for:)`` for the guarantees. If it is
  ///     nil, a response with status 401 is returned to the caller.
  public convenience init(
    origins: Set<HTTPURL.Origin> = [], leeway: Duration = .seconds(30), refresh: Refresh? = nil
  ) {
    self.init(KeptAccounts(), nil, origins, leeway, { Date() }, refresh)
  }

  /// Makes a store that saves its accounts and restores the saved ones. See ``init(origins:leeway:refresh:)`` for the
  /// other parameters.
  ///
  /// - Throws: Errors of the keeper.
  public convenience init(
    keeping keeper: any CredentialKeeper, origins: Set<HTTPURL.Origin> = [], leeway: Duration = .seconds(30),
    refresh: Refresh? = nil
  ) async throws {
    let desk = CredentialSaver(keeper)
    self.init(try await desk.load() ?? KeptAccounts(), desk, origins, leeway, { Date() }, refresh)
  }

  init(
    _ kept: KeptAccounts, _ desk: CredentialSaver?, _ origins: Set<HTTPURL.Origin>, _ leeway: Duration,
    _ wallClock: @escaping @Sendable () -> Date, _ refresh: Refresh?
  ) {
    book = Locked(AccountBook(kept))
    self.desk = desk
    self.origins = origins
    self.leeway = leeway / .seconds(1)
    self.wallClock = wallClock
    renewal = refresh
  }

  // MARK: - Accounts

  /// The names of the accounts that are logged in, sorted by their bytes.
  public var accounts: [String] { book.withLock { $0.kept.accounts } }

  /// Logs an account in, or replaces its credential, and makes it the current account.
  ///
  /// The change applies at once to all calls that start later. The method returns when the change is saved.
  /// - Throws: ``APIError`` if the name is empty, or the error of the keeper. If the keeper failed, the login lasts
  ///   until the process ends.
  public func login(_ account: String, with credential: AccountCredential) async throws {
    guard !account.isEmpty else {
      throw APIError(.authorize, .invalidArgument, "The account name is empty; pass a name to log in.")
    }
    if book.withLock({ $0.isParting(account) }) {
      // The new session must not get the cookies of the former session.
      for client in sessions { client.forgetCookies(account) }
    }
    book.withLock { $0.login(account, credential) }
    publishChanges()
    try await keep()
  }

  /// Makes another logged-in account the current one; nil for none. Calls under way continue with their account.
  ///
  /// - Throws: ``APIError`` of code ``APIError/Code/noCredential`` if the account is not logged in, or the error of the
  ///   keeper.
  public func use(_ account: String?) async throws {
    guard book.withLock({ $0.use(account) }) else {
      throw APIError(.authorize, .noCredential, "The account is not logged in; log in before you make it current.")
    }
    publishChanges()
    try await keep()
  }

  /// Logs an account out, by default the current one. If it was the current account, no account is current afterwards.
  ///
  /// When this method has been called, no new call starts for the account. Calls under way on every client that uses
  /// the store are cancelled with an error of code ``APIError/Code/loggedOut``, and refreshing is cancelled. The
  /// responses in the clients' caches and the cookie jar of the account are removed, and the keeper deletes the
  /// account.
  ///
  /// Then `farewell` runs, to notify the server. The calls that `farewell` awaits are sent with the old credential,
  /// which is not refreshed.
  ///
  /// An interceptor that runs in a call of the account is cancelled with the call. So an interceptor that logs its
  /// account out must do this in a separate task.
  ///
  /// Returns false, and does nothing, if the account is not logged in.
  /// - Throws: The error of the keeper, otherwise the error of `farewell`. The account is logged out in either case.
  @discardableResult
  public func logout(_ account: String? = nil, farewell: (() async throws -> Void)? = nil) async throws -> Bool {
    let parting = book.withLock { book in (account ?? book.kept.current).flatMap { book.logout($0) } }
    guard let parting else { return false }
    defer { book.withLock { $0.end(parting) } }
    let sessions = sessions
    for client in sessions { client.stop(parting.account) }
    refreshing.end(parting.account)
    publishChanges()
    // The accessories must be notified before the first suspension: during a suspension the account may log in again.
    for client in sessions { client.tellEnd(of: parting.account) }
    for client in sessions { await client.removeStored(of: parting.account) }
    var failure: (any Error)?
    do { try await keep() } catch { failure = error }
    if let farewell {
      do { try await run(farewell, for: parting.account) } catch { failure = failure ?? error }
    }
    book.withLock { book in
      guard book.kept[parting.account] == nil else { return }
      for client in sessions { client.forgetCookies(parting.account) }
    }
    if book.withLock({ $0.kept[parting.account] }) == nil {
      for client in sessions { await client.removeStored(of: parting.account) }
    }
    if let failure { throw failure }
    return true
  }

  /// One object for each client that uses the store. The object ends the session of an account in its client.
  private var sessions: [ClientSessions] { clients.withLock { $0.objects } }

  private func run(_ farewell: () async throws -> Void, for account: String) async throws {
    let parting = Parting(store: ObjectIdentifier(self), account: account)
    defer { parting.time.end() }
    // Calls of `farewell` must be sent with the old credential, even if a credential provider has started the logout
    // during a refresh.
    try await UserCodeScope.leaving {
      try await Self.$parting.withValue(parting) { try await RefreshControl.sparing(farewell) }
    }
  }

  // MARK: - Observing changes

  /// The changes of the accounts from now on. Each sequence receives all changes, and finishes when the store is
  /// deallocated.
  public var changes: AsyncStream<AccountChange> {
    AsyncStream { continuation in
      let id = UUID()
      continuation.onTermination = { [weak self] _ in self?.watchers.withLock { _ = $0.removeValue(forKey: id) } }
      watchers.withLock { $0[id] = continuation }
    }
  }

  /// Publishes the changes in their order. Only one thread at a time publishes; it also publishes the changes of other
  /// threads.
  private func publishChanges() {
    var isNext = false
    while let news = book.withLock({ $0.newsToTell(isNext: isNext) }) {
      isNext = true
      for watcher in watchers.withLock({ Array($0.values) }) {
        for change in news { watcher.yield(change) }
      }
    }
  }

  deinit { for watcher in watchers.withLock({ Array($0.values) }) { watcher.finish() } }

  /// Registers a client that uses the store. Returns objects that the caller must release outside of all locks.
  func attach(_ sessions: ClientSessions) -> [ClientSessions] { clients.withLock { $0.insert(sessions) } }

  private func keep() async throws {
    guard let desk else { return }
    do {
      try await desk.save { self.book.withLock { $0.kept } }
    } catch {
      var secrets = KnownSecrets()
      addSecrets(to: &secrets)
      book.withLock { $0.note(.notKept(secrets.masked("\(error)"))) }
      publishChanges()
      throw error
    }
  }

  // MARK: - RefreshingProvider

  /// The account of whose logout the current task notifies a server; nil if there is none.
  private var accountLoggingOut: String? {
    guard let parting = Self.parting, parting.store == ObjectIdentifier(self), parting.time.lasts else { return nil }
    return parting.account
  }

  /// Adds the secrets of all accounts, which must not be printed.
  func addSecrets(to secrets: inout KnownSecrets) {
    for credential in book.withLock({ $0.kept.entries }) {
      secrets.add(credential.credential)
      if let token = credential.refreshToken { secrets.add(token) }
    }
  }

  /// Whether a rejected credential can be refreshed.
  var refreshes: Bool { renewal != nil }

  /// The current account; nil if there is none. For calls of the `farewell` of a logout, the account that was logged
  /// out.
  public var account: String? {
    accountLoggingOut ?? book.withLock { $0.kept.current }
  }

  /// Credentials are sent to the origin of the base URL and to `origins`.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool {
    origin == base || origins.contains(origin)
  }

  /// The credential of an account; nil if `account` is nil or unknown.
  public func credential(for account: String?) async throws -> Credential? {
    account.flatMap { account in book.withLock { $0.credential(for: account, farewell: accountLoggingOut != nil) } }
  }

  /// Whether a credential has expired, or expires within the leeway.
  public func isExpiring(_ credential: Credential) -> Bool {
    guard renewal != nil, let ends = book.withLock({ $0.owner(of: credential) })?.expires else { return false }
    return ends < wallClock().addingTimeInterval(leeway)
  }

  /// Requests another credential and saves it.
  /// - Throws: The error of the `refresh` function; ``APIError`` if the account was logged out.
  public func refresh(_ old: Credential, for account: String?) async throws -> Credential {
    guard let account, let renewal, let present = book.withLock({ $0.kept[account] }) else {
      throw APIError.loggedOut
    }
    let new = try await renewal(present, account)
    guard book.withLock({ $0.refresh(account, from: present, to: new) }) else {
      // The account was logged out or logged in again: the new credential is useless or older than the stored one.
      guard let newer = book.withLock({ $0.kept[account] }) else { throw APIError.loggedOut }
      return newer.credential
    }
    publishChanges()
    try? await keep()
    return new.credential
  }
}

/// Calls a credential keeper on a thread that may block, one operation at a time. Each save writes the accounts that
/// are current when the save begins.
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
