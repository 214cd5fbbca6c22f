import ErrandSupport

/// What chance does to the exchanges of a ``ProfiledTransport``: the same for the same seed, exchange by exchange.
final class NetworkWeather: Sendable {
  /// What one exchange meets.
  struct Draw: Sendable, Equatable {
    let isLost: Bool
    let latency: Duration
  }

  private let profile: NetworkProfile
  private let numbers: Locked<SeededNumbers>

  init(_ profile: NetworkProfile, seed: UInt64) {
    self.profile = profile
    numbers = Locked(SeededNumbers(seed: seed))
  }

  /// Draws for the next exchange.
  func next() -> Draw {
    let (first, second) = numbers.withLock { (Self.chance(&$0), Self.chance(&$0)) }
    return Draw(isLost: first < profile.loss, latency: profile.latency + profile.jitter * second)
  }

  /// A number from 0 up to 1.
  private static func chance(_ numbers: inout SeededNumbers) -> Double { Double(numbers.next() >> 11) * 0x1p-53 }
}
