import ErrandSupport

/// Stores credentials between runs of a program, for example in a Keychain, a file or a database.
///
/// Errand calls the methods of a keeper one after the other, on a thread that they may block.
public protocol CredentialKeeper: Sendable {
  /// Returns the accounts that were saved last; nil if no accounts were saved.
  func load() throws -> KeptAccounts?
  /// Saves the accounts in place of the accounts that were saved before. If no account is logged in, the storage must
  /// contain no secret afterwards.
  func save(_ accounts: KeptAccounts) throws
}

/// The accounts that are logged in, as a ``CredentialKeeper`` stores them. The encoded form contains secrets.
///
/// The names of accounts are compared byte by byte.
public struct KeptAccounts: Sendable, Hashable {
  /// The name of the current account; nil if no account is current.
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
}

extension KeptAccounts: ComparedByBytes {
  package var identity: some Hashable { Parts(current.map { ByteText($0) }, table) }
}

extension KeptAccounts: Codable {
  private enum Key: String, CodingKey { case current, accounts }

  private struct Entry: Codable {
    let account: String
    let credential: AccountCredential
  }

  /// Decodes the data that ``encode(to:)`` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    self.init(current: try values.decodeIfPresent(String.self, forKey: .current))
    for entry in try values.decode([Entry].self, forKey: .accounts) { self[entry.account] = entry.credential }
  }

  /// Encodes the accounts as a list, such as
  /// `{"current": "ada", "accounts": [{"account": "ada", "credential": {"token": "…"}}]}`. In an object with the
  /// account names as keys, a JSON decoder would merge two names that differ in their bytes but are equal as Swift
  /// strings.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encodeIfPresent(current, forKey: .current)
    let entries = accounts.compactMap { account in self[account].map { Entry(account: account, credential: $0) } }
    try values.encode(entries, forKey: .accounts)
  }
}
