import ErrandSupport

/// Who is logged in, and who is being said good-bye to. Decides, and performs nothing.
struct AccountBook: Sendable {
  /// A session that has ended and whose server is still to be told.
  struct Farewell: Sendable {
    let account: String
    fileprivate let number: UInt64
  }

  private(set) var kept: KeptAccounts
  private var farewells: [ByteText: (number: UInt64, credential: Credential)] = [:]
  private var last: UInt64 = 0
  /// What has happened and was not told yet, in order.
  private var news: [AccountChange] = []
  private var isTelling = false

  init(_ kept: KeptAccounts) {
    self.kept = kept
    if let current = kept.current, kept[current] == nil { self.kept.current = nil }
  }

  /// The credential of an account: of its present session, or of the one that ended last.
  func credential(for account: String, farewell: Bool) -> Credential? {
    let present = kept[account]?.credential
    let former = farewells[ByteText(account)]?.credential
    return farewell ? former ?? present : present ?? former
  }

  /// What is kept beside a credential that is in use.
  func owner(of credential: Credential) -> AccountCredential? {
    kept.entries.first { $0.credential == credential }
  }

  mutating func login(_ account: String, _ credential: AccountCredential) {
    kept[account] = credential
    kept.current = account
    news.append(.loggedIn(account))
  }

  /// False where the account is not logged in.
  mutating func use(_ account: String?) -> Bool {
    if let account, kept[account] == nil { return false }
    kept.current = account
    news.append(.switched(to: account))
    return true
  }

  /// Takes a credential that was had in the place of another; false where the session has ended or was renewed since.
  mutating func refresh(_ account: String, from old: AccountCredential, to new: AccountCredential) -> Bool {
    guard kept[account] == old else { return false }
    kept[account] = new
    news.append(.refreshed(account))
    return true
  }

  /// Nil where the account is not logged in.
  mutating func logout(_ account: String) -> Farewell? {
    guard let old = kept[account] else { return nil }
    kept[account] = nil
    if kept.current.hasSameBytes(as: account) { kept.current = nil }
    last &+= 1
    farewells[ByteText(account)] = (last, old.credential)
    news.append(.loggedOut(account))
    return Farewell(account: account, number: last)
  }

  /// Notes something that is no change of the accounts themselves.
  mutating func note(_ change: AccountChange) { news.append(change) }

  /// What is to be told now, in order; nil where there is nothing more, or where another thread is telling. Whoever has
  /// told goes on with `isNext`, until there is nothing more.
  mutating func newsToTell(isNext: Bool) -> [AccountChange]? {
    guard isNext || !isTelling else { return nil }
    isTelling = !news.isEmpty
    defer { news = [] }
    return news.isEmpty ? nil : news
  }

  /// Whether a session of the account has ended whose server is still to be told.
  func isParting(_ account: String) -> Bool { farewells[ByteText(account)] != nil }

  /// The server has been told: nobody shows the former credential any more.
  mutating func end(_ farewell: Farewell) {
    if farewells[ByteText(farewell.account)]?.number == farewell.number { farewells[ByteText(farewell.account)] = nil }
  }
}
