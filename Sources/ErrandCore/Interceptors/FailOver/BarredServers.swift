/// The servers that a call leaves alone for now, since they said when to come back. A value.
struct BarredServers: Sendable {
  private var ends: [HTTPURL.Origin: MonotonicInstant] = [:]

  /// A server is not to be asked for a time.
  mutating func bar(_ origin: HTTPURL.Origin, for rest: Duration, _ now: MonotonicInstant) {
    ends[origin] = now.advanced(by: rest)
  }

  /// Whether a server is not to be asked now.
  func contains(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> Bool { ends[origin].map { $0 > now } ?? false }

  /// How long until one of these may be asked; nil where one may be now.
  func wait(for origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> Duration? {
    guard let soonest = origins.map({ ends[$0] ?? now }).min(), soonest > now else { return nil }
    return now.duration(to: soonest)
  }
}
