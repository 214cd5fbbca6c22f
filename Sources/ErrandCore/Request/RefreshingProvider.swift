/// A credential provider whose credentials expire and can be refreshed.
///
/// If a server responds with 401, the client asks the provider for another credential and sends the call again. One
/// call of ``refresh(_:for:)`` serves all calls that wait for a new credential. A call that was sent with an older
/// credential than the current one is sent again without a refresh. A call causes at most one refresh. If the server
/// responds with 401 again, this second 401 is the response of the call. Clients with the same provider object share a
/// refresh. A provider that is a struct or an enum has no identity, so each client refreshes its credential separately.
///
/// ```swift
/// func refresh(_ old: Credential, for account: String?) async throws -> Credential {
///   let pair = try await client.send(RenewToken(refreshToken: store.refreshToken))   // its credential is `.none`
///   store.keep(pair)
///   return .bearer(pair.token)
/// }
/// ```
public protocol RefreshingProvider: CredentialProvider {
  /// Returns true if a credential has expired or is about to expire. Such a credential is refreshed before it is sent.
  /// The default implementation returns false. The function is called on any thread and must not block.
  func isExpiring(_ credential: Credential) -> Bool

  /// Gets a credential that replaces `old`, which was rejected or is about to expire, and stores the new credential.
  /// After this function has returned, ``CredentialProvider/credential(for:)`` must return the new credential.
  ///
  /// This function runs in a separate task of the client. The cancellation of a call does not cancel this task, because
  /// a token that the server has already exchanged must not be lost. The task is cancelled only when the session of the
  /// account ends. So the refresh needs its own deadline, such as the deadline of a call that the refresh sends.
  ///
  /// If the refresh throws, the thrown error is the cause of the errors of all waiting calls. Calls with the same
  /// credential in the next ten seconds fail with this error, too. After an ``APIError`` that does not concern the
  /// credential, such as a failed network, calls fail only in the next second. So throw such an error unchanged.
  ///
  /// If this function itself sends calls, on any client, these calls cause no refresh. They carry no credential of this
  /// provider, as if their ``APIRequest/credential`` were ``RequestCredential/none``. This also applies to calls of a
  /// `Task` that the function starts and awaits.
  func refresh(_ old: Credential, for account: String?) async throws -> Credential
}

extension RefreshingProvider {
  /// By default, no credential is about to expire.
  public func isExpiring(_ credential: Credential) -> Bool { false }
}
