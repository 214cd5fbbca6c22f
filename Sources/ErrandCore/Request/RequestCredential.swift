/// Where a request's credential comes from.
public enum RequestCredential: Sendable, Hashable {
  /// From the client's provider, for the origins it names.
  case inherited
  /// From nowhere.
  case none
  /// From the request itself, for the origin it is sent to.
  case own(Credential)

  /// A name and a password of the request's own.
  public static func basic(user: String, password: String) -> RequestCredential {
    .own(.basic(user: user, password: password))
  }

  /// A token of the request's own.
  public static func bearer(_ token: String) -> RequestCredential { .own(.bearer(token)) }
}
