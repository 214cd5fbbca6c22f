/// The servers that have failed recently. A server that failed is skipped for a period that doubles with each failure.
/// After the period one call tries the server again.
struct HostHealth: Sendable {
  private struct Ailment: Sendable {
    var failures: Int
    var until: MonotonicInstant
  }

  /// How long a server is skipped after its first failure.
  static var firstRest: Duration { .seconds(5) }
  /// How long a server is skipped at most.
  static var longestRest: Duration { .seconds(300) }

  private var ailing: [HTTPURL.Origin: Ailment] = [:]

  /// True if no server has failed recently.
  var isWell: Bool { ailing.isEmpty }

  /// The order in which servers are asked now. The healthy servers are first, in the listed order. Then follow the
  /// failed servers, first the server that may be tried soonest. A server whose skipped period is over counts as
  /// healthy, but only for this one call.
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

  /// Records a failure of a server.
  mutating func fail(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) {
    let failures = (ailing[origin]?.failures ?? 0) + 1
    ailing[origin] = Ailment(failures: failures, until: now.advanced(by: Self.rest(after: failures)))
  }

  /// Records a response of a server.
  mutating func answer(_ origin: HTTPURL.Origin) { ailing[origin] = nil }

  private static func rest(after failures: Int) -> Duration {
    // After ten doublings the period is longer than `longestRest`.
    min(firstRest * (1 << min(max(failures - 1, 0), 10)), longestRest)
  }
}
