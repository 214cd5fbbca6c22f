/// A provider whose credentials run out and can be had anew.
///
/// Where a server answers 401, the client asks for another credential and sends the call once more. However many calls
/// wait, ``refresh(_:for:)`` runs once; those that were sent with an older credential than the present one are simply
/// sent again. A call is refreshed for once; a second 401 is its answer. Clients that use one object refresh together; a
/// value has no identity, so each client refreshes for its own.
///
/// ```swift
/// func refresh(_ old: Credential, for account: String?) async throws -> Credential {
///   let pair = try await client.send(RenewToken(refreshToken: store.refreshToken))   // its credential is `.none`
///   store.keep(pair)
///   return .bearer(pair.token)
/// }
/// ```
public protocol RefreshingProvider: CredentialProvider {
  /// Whether a credential has run out or is about to: then it is refreshed before it is sent. Where this is not
  /// implemented: never. Any thread; must not block.
  func isExpiring(_ credential: Credential) -> Bool

  /// Gets a credential in the place of one that was refused or is about to run out, and keeps it:
  /// ``CredentialProvider/credential(for:)`` gives it from then on.
  ///
  /// Runs in a task of the client's own, since a token that the server has exchanged must not be lost: no caller's
  /// cancel reaches it, the end of the account's session does. So it needs a deadline of its own, as every call of a
  /// client has. What it throws is the cause of the error of all who wait, and of those who come with the same
  /// credential in the next ten seconds, or in the next one where it is an ``APIError`` that says nothing of the
  /// credential, such as that of a failed network: let that through as it came. A call that it makes itself, by whatever
  /// client, is never refreshed for, nor is one of a `Task` that it starts and waits for. It shows no credential of this
  /// provider, as if its ``APIRequest/credential`` were ``RequestCredential/none``.
  func refresh(_ old: Credential, for account: String?) async throws -> Credential
}

extension RefreshingProvider {
  /// Never.
  public func isExpiring(_ credential: Credential) -> Bool { false }
}
