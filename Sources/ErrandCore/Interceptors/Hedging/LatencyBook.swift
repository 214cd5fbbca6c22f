/// How long the last answers of an origin took. A value.
struct LatencyBook: Sendable {
  /// How many are remembered.
  static var limit: Int { 128 }
  /// How few say nothing.
  static var least: Int { 20 }

  private var times: [Duration] = []
  private var next = 0

  mutating func note(_ time: Duration) {
    if times.count < Self.limit { return times.append(time) }
    times[next] = time
    next = (next + 1) % Self.limit
  }

  /// The time within which this share of the answers came; nil where too few are known.
  func time(of share: Double) -> Duration? {
    guard times.count >= Self.least else { return nil }
    // A share that is no number counts as nothing.
    let place = share > 0 ? Double(times.count) * min(share, 1) : 0
    return times.sorted()[min(Int(place), times.count - 1)]
  }
}

extension HedgeRule {
  /// When the second request goes out; nil for never.
  func delay(_ book: LatencyBook?) -> Duration? {
    switch kind {
    case .after(let time): time
    case .share(let share, let least): book?.time(of: share).map { max($0, least) }
    }
  }
}
