import ErrandSupport

/// The accounts that are logged in, and the login sessions whose logout is under way. The type only decides; it has no
/// side effects.
struct AccountBook: Sendable {
  /// A login session that has ended, but of whose end the server has not been notified yet.
  struct Farewell: Sendable {
    let account: String
    fileprivate let number: UInt64
  }

  private(set) var kept: KeptAccounts
  private var farewells: [ByteText: (number: UInt64, credential: Credential)] = [:]
  private var last: UInt64 = 0
  /// Changes that are not published yet, in order.
  private var news: [AccountChange] = []
  private var isTelling = false

  init(_ kept: KeptAccounts) {
    self.kept = kept
    if let current = kept.current, kept[current] == nil { self.kept.current = nil }
  }

  /// The credential of an account. There may be two: the one of the present session, and the one of a former session
  /// whose server is being notified. With `farewell` the former one is preferred, otherwise the present one.
  func credential(for account: String, farewell: Bool) -> Credential? {
    let present = kept[account]?.credential
    let former = farewells[ByteText(account)]?.credential
    return farewell ? former ?? present : present ?? former
  }

  /// The stored data of the account that has a credential.
  func owner(of credential: Credential) -> AccountCredential? {
    kept.entries.first { $0.credential == credential }
  }

  mutating func login(_ account: String, _ credential: AccountCredential) {
    kept[account] = credential
    kept.current = account
    news.append(.loggedIn(account))
  }

  /// Makes an account the current one. Returns false if the account is not logged in.
  mutating func use(_ account: String?) -> Bool {
    if let account, kept[account] == nil { return false }
    kept.current = account
    news.append(.switched(to: account))
    return true
  }

  /// Stores a refreshed credential. Returns false if the session has ended or its credential was replaced during the
  /// refresh.
  mutating func refresh(_ account: String, from old: AccountCredential, to new: AccountCredential) -> Bool {
    guard kept[account] == old else { return false }
    kept[account] = new
    news.append(.refreshed(account))
    return true
  }

  /// Ends the session of an account. Returns nil if the account is not logged in.
  mutating func logout(_ account: String) -> Farewell? {
    guard let old = kept[account] else { return nil }
    kept[account] = nil
    if kept.current.hasSameBytes(as: account) { kept.current = nil }
    last &+= 1
    farewells[ByteText(account)] = (last, old.credential)
    news.append(.loggedOut(account))
    return Farewell(account: account, number: last)
  }

  /// Adds a change to publish that leaves the accounts unchanged, such as a failed save.
  mutating func note(_ change: AccountChange) { news.append(change) }

  /// The changes to publish now, in order. Nil if there are none, or if another thread is publishing. The thread that
  /// publishes calls this method again with `isNext` until the result is nil.
  mutating func newsToTell(isNext: Bool) -> [AccountChange]? {
    guard isNext || !isTelling else { return nil }
    isTelling = !news.isEmpty
    defer { news = [] }
    return news.isEmpty ? nil : news
  }

  /// Whether the account has a former session whose server is not notified yet.
  func isParting(_ account: String) -> Bool { farewells[ByteText(account)] != nil }

  /// Removes the credential of a former session after its server has been notified.
  mutating func end(_ farewell: Farewell) {
    if farewells[ByteText(farewell.account)]?.number == farewell.number { farewells[ByteText(farewell.account)] = nil }
  }
}
