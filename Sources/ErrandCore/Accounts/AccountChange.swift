/// What happened to the accounts of a ``CredentialStore``.
public enum AccountChange: Sendable, Hashable {
  /// An account was logged in, and is the present one.
  case loggedIn(String)
  /// Another account that is logged in is the present one; nil for nobody.
  case switched(to: String?)
  /// An account has another credential.
  case refreshed(String)
  /// An account was logged out: its calls were cancelled, and nothing more is sent for it.
  case loggedOut(String)
  /// The keeper could not keep what happened; the sentence says why. Until the process ends it counts all the same.
  case notKept(String)
}
