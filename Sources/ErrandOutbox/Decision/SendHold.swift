import ErrandCache

/// The pause of the whole outbox after an attempt that could not reach any server, or that lacked a login. Without it,
/// a device without a network would try all entries one after the other, again and again.
struct SendHold: Sendable, Equatable {
  private(set) var failures = 0
  private(set) var until: WallTime?

  /// Learns from the result of an attempt.
  mutating func learn(from verdict: SendVerdict, at now: WallTime, chance: Double, _ backOff: BackOff) {
    guard case .retry(let retry) = verdict, [.offline, .login].contains(retry.reason.code) else { return end() }
    // Several attempts that fail at the same time lengthen the pause only once.
    if let until, now < until { return }
    failures += 1
    until = now.advanced(byMilliseconds: backOff.delay(after: failures, atLeast: nil, chance: chance))
  }

  /// Ends the pause, because an attempt reached a server or an event such as a login happened.
  mutating func end() { self = SendHold() }
}
