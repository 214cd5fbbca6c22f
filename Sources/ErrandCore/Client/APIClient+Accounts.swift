extension APIClient {
  /// The name of the account that is logged in; nil if the client has no credential provider, or if no account is
  /// logged in.
  package var presentAccount: String? { snapshot.configuration.credentials?.account }

  /// The present account as a value of ``CallOptions/requiredAccount``, for work of several calls that belongs to one
  /// account: an empty text if no account is logged in, nil if the client has no credential provider.
  package var accountToRequire: String? { snapshot.configuration.credentials.map { $0.account ?? "" } }

  /// Ends an account's session on this client. Call this function if the client uses a credential provider of your own;
  /// ``CredentialStore/logout(_:farewell:)`` calls it for you.
  ///
  /// Cancels the calls that were started for the account; they fail with an error of code ``APIError/Code/loggedOut``.
  /// Also cancels running refreshes of the account's credential. Removes the account's entries from every cache that
  /// the client has used, removes the account's cookie jar, and notifies the client's accessories. Returns the number
  /// of calls that will now end as cancelled. Before you call this function, make sure that the provider returns
  /// another account. Otherwise calls that start during the logout still use the old account.
  @discardableResult
  public func endSession(of account: String) async -> Int {
    let count = await services.sessions.end(account)
    await services.sessions.forget(account)
    return count
  }

  /// Removes the cookies of an account, as part of a logout. Afterwards, responses to running calls of the account set
  /// no cookies. If `account` is nil, removes the cookies of calls without an account. The function has an effect only
  /// if ``ClientConfiguration/cookies`` uses, or has used, a separate cookie jar for each account. A jar that all
  /// accounts share is not changed.
  public func removeCookies(of account: String?) { services.sessions.forgetCookies(account) }
}
