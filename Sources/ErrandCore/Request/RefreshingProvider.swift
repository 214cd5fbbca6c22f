/// A provider whose credentials expire and can be refreshed.
///
/// If a server responds with 401, the client asks the provider for another credential and sends the call again. One
/// call of ``refresh(_:for:)`` serves all calls that wait for a new credential. A call that was sent with an older
/// credential than the current one is sent again without a refresh. A call causes one refresh at most: after a second
/// 401, the 401 is the response of the call. Clients with the same provider object share a refresh. If the provider is
/// a value, it has no identity, so each client refreshes for itself.
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
  /// From then on ``CredentialProvider/credential(for:)`` must return the new credential.
  ///
  /// Runs in a separate task of the client. Cancelling a call does not cancel this task, because a token that the
  /// server has already exchanged must not be lost. The end of the account's session cancels the task. So the refresh
  /// needs its own deadline; a call that it sends has one.
  ///
  /// If the refresh throws, the error is the cause of the errors of all waiting calls. Calls with the same credential
  /// in the next ten seconds fail with this error, too. If it is an ``APIError`` that does not concern the credential,
  /// such as a failed network, this lasts only one second. So throw such an error unchanged.
  ///
  /// If this function sends calls itself, on any client, they cause no refresh. They carry no credential of this
  /// provider, as if their ``APIRequest/credential`` were ``RequestCredential/none``. This also applies to calls of a
  /// `Task` that the function starts and awaits.
  func refresh(_ old: Credential, for account: String?) async throws -> Credential
}

extension RefreshingProvider {
  /// Returns false.
  public func isExpiring(_ credential: Credential) -> Bool { false }
}
