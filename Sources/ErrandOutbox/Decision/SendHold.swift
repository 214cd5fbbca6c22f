import ErrandCache

/// The pause of the whole outbox after an attempt that could not reach any server, or that lacked a login. Without it,
/// a device without a network would try all entries one after the other, again and again.
///
/// In each pause one entry that has not failed is sent as a probe, because the pause may be the fault of another server
/// or another lane. If the probe reaches a server, the pause ends.
struct SendHold: Sendable, Equatable {
  private(set) var failures = 0
  private(set) var until: WallTime?
  /// Whether a probe may be sent during the pause.
  private(set) var mayProbe = false

  /// Learns from the result of an attempt.
  mutating func learn(from verdict: SendVerdict, at now: WallTime, chance: Double, _ backOff: BackOff) {
    guard case .retry(let retry) = verdict, [.offline, .login].contains(retry.reason.code) else { return end() }
    // Several attempts that fail at the same time lengthen the pause only once.
    if let until, now < until { return }
    failures += 1
    mayProbe = true
    until = now.advanced(byMilliseconds: backOff.delay(after: failures, atLeast: nil, chance: chance))
  }

  /// Learns that an attempt begins. During a pause it is the probe, and the next one waits for the end of the pause.
  mutating func begin() { mayProbe = false }

  /// Ends the pause, because an attempt reached a server or an event such as a login happened.
  mutating func end() { self = SendHold() }
}
