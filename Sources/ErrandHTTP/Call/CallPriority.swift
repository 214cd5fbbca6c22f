/// How urgent a call is among those that wait for their turn.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Gives way to all others.
  case low = -1
  /// Neither the one nor the other.
  case normal = 0
  /// Goes before all others.
  case high = 1

  /// Orders by urgency.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}

/// Which networks a call may use: a wish, kept by transports that can tell networks apart (URLSession on Apple
/// platforms) and without effect elsewhere (libcurl on Linux).
public struct NetworkWish: Sendable, Hashable {
  /// Not over a cellular network.
  public var avoidsCellular: Bool
  /// Not over a network that the system calls expensive.
  public var avoidsExpensive: Bool
  /// Waits for a network instead of failing as offline, to the deadline.
  public var waitsForConnectivity: Bool

  /// Makes a wish.
  public init(avoidsCellular: Bool = false, avoidsExpensive: Bool = false, waitsForConnectivity: Bool = false) {
    self.avoidsCellular = avoidsCellular
    self.avoidsExpensive = avoidsExpensive
    self.waitsForConnectivity = waitsForConnectivity
  }
}
