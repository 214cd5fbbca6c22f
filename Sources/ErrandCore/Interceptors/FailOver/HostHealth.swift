/// Which servers have failed of late. A value; one that failed is left alone for a while that doubles from failure to
/// failure, then one call tries it.
struct HostHealth: Sendable {
  private struct Ailment: Sendable {
    var failures: Int
    var until: MonotonicInstant
  }

  /// How long a server is left alone after its first failure.
  static var firstRest: Duration { .seconds(5) }
  /// How long it is left alone at most.
  static var longestRest: Duration { .seconds(300) }

  private var ailing: [HTTPURL.Origin: Ailment] = [:]

  /// Whether every server is well as far as is known.
  var isWell: Bool { ailing.isEmpty }

  /// The order in which servers are asked now: the well ones as they are listed, then the others, the one that may be
  /// tried soonest first. One whose rest is over counts as well for the one call that asks now.
  mutating func order(_ origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> [Int] {
    let rests = origins.map { ailing[$0].map { $0.until > now ? $0.until : nil } ?? nil }
    let order = origins.indices.sorted { left, right in
      switch (rests[left], rests[right]) {
      case (nil, nil): left < right
      case (nil, _?): true
      case (_?, nil): false
      case (let one?, let other?): (one, left) < (other, right)
      }
    }
    if let first = order.first, let ailment = ailing[origins[first]] {
      ailing[origins[first]]?.until = now.advanced(by: Self.rest(after: ailment.failures))
    }
    return order
  }

  /// A server has failed.
  mutating func fail(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) {
    let failures = (ailing[origin]?.failures ?? 0) + 1
    ailing[origin] = Ailment(failures: failures, until: now.advanced(by: Self.rest(after: failures)))
  }

  /// A server has answered.
  mutating func answer(_ origin: HTTPURL.Origin) { ailing[origin] = nil }

  private static func rest(after failures: Int) -> Duration {
    // Ten doublings are far beyond the longest.
    min(firstRest * (1 << min(max(failures - 1, 0), 10)), longestRest)
  }
}
