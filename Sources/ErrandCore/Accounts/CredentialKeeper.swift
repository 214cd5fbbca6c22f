import ErrandSupport

/// Stores credentials between runs of a program, for example in a Keychain, a file or a database.
///
/// The methods of a keeper are called one after the other, on a thread where they may block.
public protocol CredentialKeeper: Sendable {
  /// Returns the accounts that were saved last; nil if there are none.
  func load() throws -> KeptAccounts?
  /// Replaces the saved accounts. If no account is logged in, no secret must remain.
  func save(_ accounts: KeptAccounts) throws
}

/// The accounts that are logged in, as a ``CredentialKeeper`` stores them. The encoded form contains secrets.
///
/// The names of accounts are compared byte by byte.
public struct KeptAccounts: Sendable, Hashable {
  /// The current account; nil for none.
  public var current: String?
  private var table: [ByteText: AccountCredential]

  /// Makes a list of accounts; by default it is empty.
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

  /// The credentials by account name. If two names differ in their bytes but are equal as Swift strings, the dictionary
  /// contains only one of them. Use ``accounts`` and the subscript to read all accounts.
  public var credentials: [String: AccountCredential] {
    Dictionary(table.map { ($0.text, $1) }) { first, _ in first }
  }

  var entries: [AccountCredential] { Array(table.values) }

  /// Whether two lists contain the same accounts. Names are compared byte by byte.
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

  /// Reads the form that ``encode(to:)`` wrote. Also reads the form of earlier versions: an object `credentials` keyed
  /// by account name.
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

  /// Writes the accounts as a list, because JSON decoders merge keys that are equal in Swift:
  /// `{"current": "ada", "accounts": [{"account": "ada", "credential": {"token": "…"}}]}`.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encodeIfPresent(current, forKey: .current)
    let entries = accounts.compactMap { account in self[account].map { Entry(account: account, credential: $0) } }
    try values.encode(entries, forKey: .accounts)
  }
}
