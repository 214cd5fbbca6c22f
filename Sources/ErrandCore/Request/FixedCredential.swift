/// A provider with one credential that does not change.
public struct FixedCredential: CredentialProvider {
  /// The account's name.
  public let account: String?
  private let credential: Credential

  /// Makes a provider.
  public init(_ credential: Credential, account: String? = nil) {
    self.credential = credential
    self.account = account
  }

  /// The value of `Authorization`.
  var fieldValue: String { credential.fieldValue }

  /// The one credential.
  public func credential(for account: String?) async throws -> Credential? { credential }
}
