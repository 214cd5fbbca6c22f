/// Which of a client's servers a request goes to.
public enum RequestServer: Sendable, Hashable {
  /// The base URL of the family or the client.
  case base
  /// The CDN's URL, or the base URL where none is set.
  case cdn
  /// The base URL of a named environment of the client.
  case environment(String)
}
