import ErrandSupport
import Foundation

/// The accounts of an app: login, logout, switch, and credentials that are refreshed and kept.
///
/// ```swift
/// let accounts = try await CredentialStore(keeping: FileCredentialKeeper(file: tokens)) { old, account in
///   try await auth.send(RenewToken(old.refreshToken)).credential
/// }
/// configuration.credentials = accounts
/// try await accounts.login("ada", with: AccountCredential(.bearer(token)))
/// ```
///
/// Several clients may share one. Any thread may call any member; what is changed counts for every call that starts
/// after it.
public final class CredentialStore: RefreshingProvider {
  /// Gets a credential in the place of one that was refused or is about to run out.
  public typealias Refresh = @Sendable (_ old: AccountCredential, _ account: String) async throws -> AccountCredential

  private let book: Locked<AccountBook>
  private let origins: Set<HTTPURL.Origin>
  private let leeway: TimeInterval
  private let renewal: Refresh?
  private let desk: KeeperDesk?
  /// Refreshes for every client that uses the store.
  let refreshing = RefreshControl()
  private let wallClock: @Sendable () -> Date
  private let clients = Locked(WeakList<ClientSessions>())
  private let watchers = Locked<[UUID: AsyncStream<AccountChange>.Continuation]>([:])

  /// Who leaves, and while a server is told so.
  private struct Parting: Sendable {
    let store: ObjectIdentifier
    let account: String
    let time = MarkedTime()
  }

  /// Set while the server is told of a logout: calls go out as the account that has left.
  @TaskLocal private static var parting: Parting?

  /// Makes a store that forgets everything with the process.
  ///
  /// - Parameters:
  ///   - origins: Where credentials may be shown besides the base URL's origin.
  ///   - leeway: How long before its end a credential counts as run out.
  ///   - refresh: Gets another credential (see ``RefreshingProvider/refresh(_:for:)`` for what is promised); nil where
  ///     there is no such thing: then a 401 is the answer.
  public convenience init(
    origins: Set<HTTPURL.Origin> = [], leeway: Duration = .seconds(30), refresh: Refresh? = nil
  ) {
    self.init(KeptAccounts(), nil, origins, leeway, { Date() }, refresh)
  }

  /// Makes a store that keeps its accounts, and knows those that were kept. The parameters are those of
  /// ``init(origins:leeway:refresh:)``.
  ///
  /// - Throws: What the keeper throws.
  public convenience init(
    keeping keeper: any CredentialKeeper, origins: Set<HTTPURL.Origin> = [], leeway: Duration = .seconds(30),
    refresh: Refresh? = nil
  ) async throws {
    let desk = KeeperDesk(keeper)
    self.init(try await desk.load() ?? KeptAccounts(), desk, origins, leeway, { Date() }, refresh)
  }

  init(
    _ kept: KeptAccounts, _ desk: KeeperDesk?, _ origins: Set<HTTPURL.Origin>, _ leeway: Duration,
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

  /// The names of those who are logged in, in order.
  public var accounts: [String] { book.withLock { $0.kept.accounts } }

  /// Logs an account in, or gives it another credential, and makes it the present one.
  ///
  /// It counts at once, for calls that start later. Returns when it is kept.
  /// - Throws: ``APIError`` for an account without a name, and what the keeper throws: then the login lasts as long as
  ///   the process.
  public func login(_ account: String, with credential: AccountCredential) async throws {
    guard !account.isEmpty else {
      throw APIError(.authorize, .invalidArgument, "An account without a name cannot log in; give it one.")
    }
    if book.withLock({ $0.isParting(account) }) {
      // What the former session left behind is not the new one's.
      for client in sessions { client.forgetCookies(account) }
    }
    book.withLock { $0.login(account, credential) }
    tell()
    try await keep()
  }

  /// Makes another account that is logged in the present one; nil for nobody. Calls under way go on as they began.
  ///
  /// - Throws: ``APIError`` of code ``APIError/Code/noCredential`` where the account is not logged in, and what the
  ///   keeper throws.
  public func use(_ account: String?) async throws {
    guard book.withLock({ $0.use(account) }) else {
      throw APIError(.authorize, .noCredential, "The account is not logged in; log it in before it is used.")
    }
    tell()
    try await keep()
  }

  /// Logs an account out, the present one where none is named. Afterwards nobody is the present account, unless
  /// another one was.
  ///
  /// At once no call starts for the account any more. What is under way for it on every client that uses the store is
  /// cancelled, with an error of code ``APIError/Code/loggedOut``; refreshing ends; what its clients' caches hold of it
  /// is removed, as is its cookie jar, and the keeper forgets it. Then `farewell` tells the server: the calls that it
  /// awaits go out with the old credential, and are not refreshed for. An interceptor of a call of the account is
  /// cancelled with it: one that logs out does so in a task of its own.
  ///
  /// Returns false, and does nothing, where the account is not logged in.
  /// - Throws: What the keeper throws, or else `farewell`. The account is logged out all the same.
  @discardableResult
  public func logout(_ account: String? = nil, farewell: (() async throws -> Void)? = nil) async throws -> Bool {
    let parting = book.withLock { book in (account ?? book.kept.current).flatMap { book.logout($0) } }
    guard let parting else { return false }
    defer { book.withLock { $0.end(parting) } }
    let sessions = sessions
    for client in sessions { client.stop(parting.account) }
    refreshing.end(parting.account)
    tell()
    // Before anybody is waited for, who may log in again meanwhile.
    for client in sessions { client.tellEnd(of: parting.account) }
    for client in sessions { await client.removeStored(of: parting.account) }
    var failure: (any Error)?
    do { try await keep() } catch { failure = error }
    if let farewell {
      do { try await say(farewell, for: parting.account) } catch { failure = failure ?? error }
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

  /// The parts that clients have in the end of a session.
  private var sessions: [ClientSessions] { clients.withLock { $0.objects } }

  private func say(_ farewell: () async throws -> Void, for account: String) async throws {
    let parting = Parting(store: ObjectIdentifier(self), account: account)
    defer { parting.time.end() }
    // What tells the server of a logout shows the old credential, also where the provider logs out as it refreshes.
    try await AppScope.leaving {
      try await Self.$parting.withValue(parting) { try await RefreshControl.sparing(farewell) }
    }
  }

  // MARK: - Those who watch

  /// What happens to the accounts from now on. Each sequence hears everything, and ends with the store.
  public var changes: AsyncStream<AccountChange> {
    AsyncStream { continuation in
      let id = UUID()
      continuation.onTermination = { [weak self] _ in self?.watchers.withLock { _ = $0.removeValue(forKey: id) } }
      watchers.withLock { $0[id] = continuation }
    }
  }

  /// Tells what has happened, in the order in which it did: one thread at a time, for all.
  private func tell() {
    var isNext = false
    while let news = book.withLock({ $0.newsToTell(isNext: isNext) }) {
      isNext = true
      for watcher in watchers.withLock({ Array($0.values) }) {
        for change in news { watcher.yield(change) }
      }
    }
  }

  deinit { for watcher in watchers.withLock({ Array($0.values) }) { watcher.finish() } }

  /// A client uses the store.
  func attach(_ sessions: ClientSessions) -> [ClientSessions] { clients.withLock { $0.insert(sessions) } }

  private func keep() async throws {
    guard let desk else { return }
    do {
      try await desk.save { self.book.withLock { $0.kept } }
    } catch {
      var secrets = KnownSecrets()
      addSecrets(to: &secrets)
      book.withLock { $0.note(.notKept(secrets.masked("\(error)"))) }
      tell()
      throw error
    }
  }

  // MARK: - What a client asks

  /// Who leaves, where the present task tells a server so.
  private var leaver: String? {
    guard let parting = Self.parting, parting.store == ObjectIdentifier(self), parting.time.lasts else { return nil }
    return parting.account
  }

  /// What must not be printed of all accounts.
  func addSecrets(to secrets: inout KnownSecrets) {
    for credential in book.withLock({ $0.kept.entries }) {
      secrets.add(credential.credential)
      if let token = credential.refreshToken { secrets.add(token) }
    }
  }

  /// Whether another credential can be had where one is refused.
  var refreshes: Bool { renewal != nil }

  /// The present account; nil for nobody.
  public var account: String? {
    leaver ?? book.withLock { $0.kept.current }
  }

  /// To the base URL's origin and to those that were named.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool {
    origin == base || origins.contains(origin)
  }

  /// The credential of an account; nil for nobody.
  public func credential(for account: String?) async throws -> Credential? {
    account.flatMap { account in book.withLock { $0.credential(for: account, farewell: leaver != nil) } }
  }

  /// Whether a credential ends within the leeway.
  public func isExpiring(_ credential: Credential) -> Bool {
    guard renewal != nil, let ends = book.withLock({ $0.owner(of: credential) })?.expires else { return false }
    return ends < wallClock().addingTimeInterval(leeway)
  }

  /// Gets another credential and keeps it.
  /// - Throws: What the function throws that was given for it; ``APIError`` where the account has been logged out.
  public func refresh(_ old: Credential, for account: String?) async throws -> Credential {
    guard let account, let renewal, let present = book.withLock({ $0.kept[account] }) else {
      throw APIError.loggedOut
    }
    let new = try await renewal(present, account)
    guard book.withLock({ $0.refresh(account, from: present, to: new) }) else {
      // Logged out, or logged in anew: what was had is nobody's, or older than what is there.
      guard let newer = book.withLock({ $0.kept[account] }) else { throw APIError.loggedOut }
      return newer.credential
    }
    tell()
    try? await keep()
    return new.credential
  }
}

/// Uses a keeper on threads that may block, for one thing at a time: the last to save saves the newest.
final class KeeperDesk: Sendable {
  private let keeper: any CredentialKeeper
  private let queue = DispatchQueue(label: "errand.keeper")

  init(_ keeper: any CredentialKeeper) { self.keeper = keeper }

  func load() async throws -> KeptAccounts? { try await done { [keeper] in try keeper.load() } }

  func save(_ accounts: @escaping @Sendable () -> KeptAccounts) async throws {
    try await done { [keeper] in try keeper.save(accounts()) }
  }

  private func done<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withUnsafeThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}
