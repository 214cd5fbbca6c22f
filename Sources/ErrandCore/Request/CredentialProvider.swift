/// Gives the credential of whoever is logged in.
///
/// ``account`` is asked at once and at the same moment for every call, before anything is looked up, and once more after
/// ``credential(for:)``, which is asked when the request is about to be sent, and may wait.
public protocol CredentialProvider: Sendable {
  /// Who is logged in, as a name that tells accounts apart, compared byte by byte; nil for nobody. Any thread; must not
  /// block.
  var account: String? { get }
  /// Whether the credential may be shown to a server. Where this is not implemented: to the base URL's origin alone.
  func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool
  /// The credential for an account that ``account`` gave; nil to send none. Runs in a task that a cancel reaches.
  ///
  /// Give the credential of the account that is asked about, whoever is present by now. If another account is present when
  /// this returns, the response is neither stored nor shared, since it may be the other account's. A call that this sends itself, by whatever client, shows
  /// no credential of this provider, as if its ``APIRequest/credential`` were ``RequestCredential/none``.
  func credential(for account: String?) async throws -> Credential?
}

extension CredentialProvider {
  /// To the base URL's origin alone.
  public func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool { origin == base }
}
