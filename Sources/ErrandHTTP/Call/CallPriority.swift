/// The priority of a call among the calls that wait to start. Over HTTP/2, the engine on Linux also tells the server
/// about it in a `Priority` field (RFC 9218): `u=1` for ``high`` and `u=5` for ``low``.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The call starts after all waiting calls of higher priority.
  case low = -1
  /// The priority that every call has by default.
  case normal = 0
  /// The call starts before all waiting calls of lower priority.
  case high = 1

  /// Returns whether `left` is the lower priority.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}

/// The networks that a call may use. Only transports that can distinguish networks, such as URLSession on Apple
/// platforms, honour this value. Other transports, such as the engine on Linux, ignore the value.
public struct NetworkWish: Sendable, Hashable {
  /// Whether the call must not use a cellular network.
  public var avoidsCellular: Bool
  /// Whether the call must not use a network that the system reports as expensive.
  public var avoidsExpensive: Bool
  /// Whether the call waits until its deadline if no network is available. Otherwise the call fails with
  /// ``TransportFailure/Kind/offline``.
  public var waitsForConnectivity: Bool

  /// Makes the description of the allowed networks. By default the call may use every network, and fails if no network
  /// is available.
  public init(avoidsCellular: Bool = false, avoidsExpensive: Bool = false, waitsForConnectivity: Bool = false) {
    self.avoidsCellular = avoidsCellular
    self.avoidsExpensive = avoidsExpensive
    self.waitsForConnectivity = waitsForConnectivity
  }
}
