/// Where an answer came from.
public enum ResponseOrigin: Sendable, Hashable {
  /// From the server.
  case network
}
