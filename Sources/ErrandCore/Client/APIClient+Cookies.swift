extension APIClient {
  /// Removes the cookies of an account, where ``ClientConfiguration/cookies`` keeps a jar for each, or did so before:
  /// part of a logout. Answers to its calls that are under way set none any more. One jar for all accounts is left as
  /// it is.
  public func removeCookies(of account: String?) { fittings.sessions.forgetCookies(account) }
}
