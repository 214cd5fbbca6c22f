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
public struct KeptAccounts: Sendable, Hashable, Codable {
  /// The present account; nil for nobody.
  public var current: String?
  /// The credentials by the accounts' names.
  public var credentials: [String: AccountCredential]

  /// Makes a list, empty where nothing is said.
  public init(current: String? = nil, credentials: [String: AccountCredential] = [:]) {
    self.current = current
    self.credentials = credentials
  }
}
