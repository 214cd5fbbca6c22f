/// The servers that have failed recently. After a failure a server is asked last for some time, which doubles with each
/// further failure. After this time, one call sends its request to the server again.
struct HostHealth: Sendable {
  private struct Failure: Sendable {
    var count: Int
    var until: MonotonicInstant
  }

  /// How long a server is asked last after its first failure.
  static var firstRest: Duration { .seconds(5) }
  /// The longest time for which a server is asked last.
  static var longestRest: Duration { .seconds(300) }

  private var failed: [HTTPURL.Origin: Failure] = [:]

  /// True if no server has failed recently.
  var isHealthy: Bool { failed.isEmpty }

  /// Returns the indices of the servers in the order in which a call sends its request to them. The healthy servers are
  /// first, in the order of `origins`. Then follow the skipped servers, sorted by the moments at which their skipping
  /// ends. A server whose skipping has ended counts as healthy, but only for this one call.
  mutating func order(_ origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> [Int] {
    let rests = origins.map { failed[$0].map { $0.until > now ? $0.until : nil } ?? nil }
    let order = origins.indices.sorted { left, right in
      switch (rests[left], rests[right]) {
      case (nil, nil): left < right
      case (nil, _?): true
      case (_?, nil): false
      case (let one?, let other?): (one, left) < (other, right)
      }
    }
    if let first = order.first, let failure = failed[origins[first]] {
      failed[origins[first]]?.until = now.advanced(by: Self.rest(after: failure.count))
    }
    return order
  }

  /// Records a failure of a server, so that the server is asked last for some time.
  mutating func fail(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) {
    let failures = (failed[origin]?.count ?? 0) + 1
    failed[origin] = Failure(count: failures, until: now.advanced(by: Self.rest(after: failures)))
  }

  /// Records a response of a server, so that the server counts as healthy.
  mutating func recordResponse(from origin: HTTPURL.Origin) { failed[origin] = nil }

  private static func rest(after failures: Int) -> Duration {
    // The time for which a server is skipped is doubled at most ten times. After ten doublings this time is longer than
    // `longestRest` anyway.
    min(firstRest * (1 << min(max(failures - 1, 0), 10)), longestRest)
  }
}
