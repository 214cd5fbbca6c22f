/// Whether a request takes part in its client's cookies.
public enum CookieUse: Sendable, Hashable {
  /// As the client says.
  case inherited
  /// It carries none, and its answer sets none.
  case none
}
