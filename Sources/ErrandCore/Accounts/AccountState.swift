import ErrandSupport

/// The state of a ``CredentialStore``: the accounts that are logged in, and the logouts of which the server is still
/// being notified. The type performs no I/O.
struct AccountState: Sendable {
  /// A logout that has happened on this device, while the server is still being notified of the logout.
  struct PendingLogout: Sendable {
    let account: String
    fileprivate let number: UInt64
  }

  private(set) var kept: KeptAccounts
  private var pendingLogouts: [ByteText: (number: UInt64, credential: Credential)] = [:]
  private var last: UInt64 = 0
  /// The changes that are not published to observers yet, oldest first.
  private var pendingChanges: [AccountChange] = []
  private var isPublishing = false

  init(_ kept: KeptAccounts) {
    self.kept = kept
    if let current = kept.current, kept[current] == nil { self.kept.current = nil }
  }

  /// Returns the credential of an account; nil if there is none. An account has two credentials if it was logged out
  /// and logged in again while the server is being notified of the logout. If `duringLogout` is true, the method
  /// prefers the credential from before the logout, otherwise the credential from the new login.
  func credential(for account: String, duringLogout: Bool) -> Credential? {
    let present = kept[account]?.credential
    let former = pendingLogouts[ByteText(account)]?.credential
    return duringLogout ? former ?? present : present ?? former
  }

  /// The stored data of the account to which a credential belongs; nil if no logged-in account has the credential.
  func owner(of credential: Credential) -> AccountCredential? {
    kept.entries.first { $0.credential == credential }
  }

  mutating func login(_ account: String, _ credential: AccountCredential) {
    kept[account] = credential
    kept.current = account
    pendingChanges.append(.loggedIn(account))
  }

  /// Makes an account the current account; nil means that no account is current. Returns false if the account is not
  /// logged in.
  mutating func use(_ account: String?) -> Bool {
    if let account, kept[account] == nil { return false }
    kept.current = account
    pendingChanges.append(.switched(to: account))
    return true
  }

  /// Stores a refreshed credential. Returns false, and stores nothing, if the account was logged out or its credential
  /// was replaced during the refresh.
  mutating func refresh(_ account: String, from old: AccountCredential, to new: AccountCredential) -> Bool {
    guard kept[account] == old else { return false }
    kept[account] = new
    pendingChanges.append(.refreshed(account))
    return true
  }

  /// Logs an account out. Returns the logout, so that the caller can notify the server; nil if the account is not
  /// logged in.
  mutating func logout(_ account: String) -> PendingLogout? {
    guard let old = kept[account] else { return nil }
    kept[account] = nil
    if kept.current.hasSameBytes(as: account) { kept.current = nil }
    last &+= 1
    pendingLogouts[ByteText(account)] = (last, old.credential)
    pendingChanges.append(.loggedOut(account))
    return PendingLogout(account: account, number: last)
  }

  /// Adds a change to the list of unpublished changes, without changing the accounts. An example is a failed save.
  mutating func note(_ change: AccountChange) { pendingChanges.append(change) }

  /// Removes and returns all unpublished changes, oldest first. Returns nil if there are no unpublished changes. Only
  /// one thread publishes changes at a time. To begin publishing, a thread passes false for `isNext`; the result is
  /// then also nil if another thread is publishing. After publishing, the thread calls the method again with true,
  /// until the result is nil.
  mutating func takePendingChanges(isNext: Bool) -> [AccountChange]? {
    guard isNext || !isPublishing else { return nil }
    isPublishing = !pendingChanges.isEmpty
    defer { pendingChanges = [] }
    return pendingChanges.isEmpty ? nil : pendingChanges
  }

  /// True if the account was logged out and the server has not been notified of the logout yet.
  func isLoggingOut(_ account: String) -> Bool { pendingLogouts[ByteText(account)] != nil }

  /// True if the account was logged in again after a logout of which the server is being notified. The calls of the
  /// notification belong to the former session of the account.
  func isSuperseded(_ logout: PendingLogout) -> Bool {
    kept[logout.account] != nil || pendingLogouts[ByteText(logout.account)]?.number != logout.number
  }

  /// Removes the credential of an account that was logged out. The caller calls this method after it has notified the
  /// server of the logout.
  mutating func end(_ logout: PendingLogout) {
    let account = ByteText(logout.account)
    if pendingLogouts[account]?.number == logout.number { pendingLogouts[account] = nil }
  }
}

/// A change of the accounts in a ``CredentialStore``, such as a login.
public enum AccountChange: Sendable, Hashable {
  /// An account was logged in and is now the current account.
  case loggedIn(String)
  /// The app selected another current account. The value is the new current account; nil if no account is current now.
  case switched(to: String?)
  /// The credential of an account was refreshed.
  case refreshed(String)
  /// An account was logged out. Its running calls were cancelled, and no new call starts for the account. The only
  /// exceptions are the calls that notify the server of the logout.
  case loggedOut(String)
  /// The ``CredentialKeeper`` could not save a change of the accounts; the text gives the reason. The change remains in
  /// effect until the process ends.
  case notKept(String)
}

extension AccountChange: ComparedByBytes {
  /// The kind of the change, and the account name or the reason.
  package var identity: some Hashable {
    let (kind, text): (Int, String?) =
      switch self {
      case .loggedIn(let account): (0, account)
      case .switched(let account): (1, account)
      case .refreshed(let account): (2, account)
      case .loggedOut(let account): (3, account)
      case .notKept(let reason): (4, reason)
      }
    return Parts(kind, text.map { ByteText($0) })
  }
}
