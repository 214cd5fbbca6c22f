/// Whether a request uses the cookies of its client.
public enum CookieUse: Sendable, Hashable {
  /// The request uses the cookie rule of the client.
  case inherited
  /// The request carries no cookies, and its response sets none.
  case none
}
