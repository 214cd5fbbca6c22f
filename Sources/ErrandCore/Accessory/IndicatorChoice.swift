/// Which loading indicator counts a request.
public enum IndicatorChoice: Sendable, Hashable {
  /// Those of the client that have no name.
  case inherited
  /// None at all.
  case none
  /// The one with this name.
  case named(String)
}
