import ErrandSupport

/// Keeps credentials from one run of a program to the next: a Keychain, a file, a database.
///
/// Its methods are called one after the other, on a thread where they may block.
public protocol CredentialKeeper: Sendable {
  /// What was saved last; nil for nothing.
  func load() throws -> KeptAccounts?
  /// Keeps this in the place of what was saved before. Where nobody is logged in any more, no secret must be left.
  func save(_ accounts: KeptAccounts) throws
}

/// The accounts that are logged in: what a ``CredentialKeeper`` keeps. Its coded form holds secrets.
///
/// Accounts are told apart by the bytes of their names.
public struct KeptAccounts: Sendable, Hashable {
  /// The present account; nil for nobody.
  public var current: String?
  private var table: [ByteText: AccountCredential]

  /// Makes a list, empty where nothing is said.
  public init(current: String? = nil, credentials: [String: AccountCredential] = [:]) {
    self.current = current
    table = [:]
    for (account, credential) in credentials { table[ByteText(account)] = credential }
  }

  /// The names of the accounts, sorted by their bytes.
  public var accounts: [String] { table.keys.map(\.text).sorted { $0.precedesByBytes($1) } }

  /// The credential of an account; nil if the account is not logged in.
  public subscript(account: String) -> AccountCredential? {
    get { table[ByteText(account)] }
    set { table[ByteText(account)] = newValue }
  }

  /// The credentials by the accounts' names. Of names that Swift counts as equal though their bytes differ, it has one
  /// alone: use ``accounts`` and the subscript to see all of them.
  public var credentials: [String: AccountCredential] {
    Dictionary(table.map { ($0.text, $1) }) { first, _ in first }
  }

  var entries: [AccountCredential] { Array(table.values) }

  /// Whether both hold the same accounts, names compared byte by byte.
  public static func == (left: KeptAccounts, right: KeptAccounts) -> Bool {
    left.current.hasSameBytes(as: right.current) && left.table == right.table
  }

  /// Hashes the accounts.
  public func hash(into hasher: inout Hasher) { hasher.combine(table) }
}

extension KeptAccounts: Codable {
  private enum Key: String, CodingKey { case current, accounts, credentials }

  private struct Entry: Codable {
    let account: String
    let credential: AccountCredential
  }

  /// Reads what ``encode(to:)`` wrote, or an object `credentials` keyed by account, as earlier versions wrote it.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let current = try values.decodeIfPresent(String.self, forKey: .current)
    guard let entries = try values.decodeIfPresent([Entry].self, forKey: .accounts) else {
      let credentials = try values.decode([String: AccountCredential].self, forKey: .credentials)
      self.init(current: current, credentials: credentials)
      return
    }
    self.init(current: current)
    for entry in entries { self[entry.account] = entry.credential }
  }

  /// Writes the accounts as a list, since decoders of JSON merge keys that Swift counts as equal:
  /// `{"current": "ada", "accounts": [{"account": "ada", "credential": {"token": "…"}}]}`.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encodeIfPresent(current, forKey: .current)
    let entries = accounts.compactMap { account in self[account].map { Entry(account: account, credential: $0) } }
    try values.encode(entries, forKey: .accounts)
  }
}
