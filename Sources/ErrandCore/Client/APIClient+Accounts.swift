extension APIClient {
  /// The name of the account that is logged in; nil if the client has no credential provider, or if no account is
  /// logged in.
  package var presentAccount: String? { snapshot.configuration.credentials?.account }

  /// Ends an account's session on this client. Call it if the client uses a credential provider of your own;
  /// ``CredentialStore/logout(_:farewell:)`` calls it for you.
  ///
  /// Cancels the calls that were started for the account, with an error of code ``APIError/Code/loggedOut``, and stops
  /// refreshing the account's credential. Removes the account's entries from every cache that the client has used,
  /// removes the account's cookie jar, and notifies the client's accessories. Before you call this function, let the
  /// provider return another account; otherwise calls that start during the logout still use the old account. Returns
  /// the number of calls that will now end as cancelled.
  @discardableResult
  public func endSession(of account: String) async -> Int {
    let count = await fittings.sessions.end(account)
    await fittings.sessions.forget(account)
    return count
  }

  /// Removes the cookies of an account, as part of a logout. The function has an effect if
  /// ``ClientConfiguration/cookies`` keeps, or has kept, a separate jar for each account. Responses to the account's
  /// running calls set no cookies any more. A jar that all accounts share is not changed.
  public func removeCookies(of account: String?) { fittings.sessions.forgetCookies(account) }
}
