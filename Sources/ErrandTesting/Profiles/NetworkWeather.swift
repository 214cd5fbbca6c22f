import ErrandSupport

/// What chance does to the exchanges of a ``ProfiledTransport``: the same for the same seed, exchange by exchange.
final class NetworkWeather: Sendable {
  /// What one exchange meets.
  struct Draw: Sendable, Equatable {
    let isLost: Bool
    let latency: Duration
  }

  private let profile: NetworkProfile
  private let state: Locked<UInt64>

  init(_ profile: NetworkProfile, seed: UInt64) {
    self.profile = profile
    state = Locked(seed)
  }

  /// Draws for the next exchange.
  func next() -> Draw {
    let (first, second) = state.withLock { (Self.chance(&$0), Self.chance(&$0)) }
    return Draw(isLost: first < profile.loss, latency: profile.latency + profile.jitter * second)
  }

  /// A number from 0 up to 1, by SplitMix64.
  private static func chance(_ state: inout UInt64) -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
  }
}
