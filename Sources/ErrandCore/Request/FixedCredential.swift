/// A provider with one credential that does not change.
public struct FixedCredential: CredentialProvider {
  /// The name of the account; nil for none.
  public let account: String?
  private let credential: Credential

  /// Makes a provider.
  public init(_ credential: Credential, account: String? = nil) {
    self.credential = credential
    self.account = account
  }

  /// The value of the field `Authorization`.
  var fieldValue: String { credential.fieldValue }

  /// Returns the credential, whatever the account is.
  public func credential(for account: String?) async throws -> Credential? { credential }
}
