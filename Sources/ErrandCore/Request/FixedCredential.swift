/// A credential provider with one credential that does not change.
public struct FixedCredential: CredentialProvider {
  /// The name of the account to which the credential belongs; nil if it belongs to no account.
  public let account: String?
  let credential: Credential

  /// Makes a provider of the given credential.
  public init(_ credential: Credential, account: String? = nil) {
    self.credential = credential
    self.account = account
  }

  /// Returns the fixed credential for every account.
  public func credential(for account: String?) async throws -> Credential? { credential }
}
