/// The priority of a call among the calls that wait to start.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The call starts after all calls of higher priority.
  case low = -1
  /// The default.
  case normal = 0
  /// The call starts before all calls of lower priority.
  case high = 1

  /// Orders by priority.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}

/// The networks that a call may use. A transport that can distinguish networks honours the value (URLSession on Apple
/// platforms). It has no effect with other transports (libcurl on Linux).
public struct NetworkWish: Sendable, Hashable {
  /// The call does not use a cellular network.
  public var avoidsCellular: Bool
  /// The call does not use a network that the system reports as expensive.
  public var avoidsExpensive: Bool
  /// Without a network the call waits until its deadline, instead of failing with ``TransportFailure/Kind/offline``.
  public var waitsForConnectivity: Bool

  /// Makes a value.
  public init(avoidsCellular: Bool = false, avoidsExpensive: Bool = false, waitsForConnectivity: Bool = false) {
    self.avoidsCellular = avoidsCellular
    self.avoidsExpensive = avoidsExpensive
    self.waitsForConnectivity = waitsForConnectivity
  }
}
