/// The requests that an origin still accepts, by the policies that its responses have named in `RateLimit`
/// (draft-ietf-httpapi-ratelimit-headers-11). The type reads no clock; the caller passes the current moment.
///
/// A client cannot know which policies cover a request. So an exchange starts only if each known policy has a request
/// left, and takes one request of each policy.
///
/// A policy without a request left is *exhausted*. It may still be exhausted after its reset, so the reset admits only
/// one exchange, the *probe*. The other calls wait until the response headers of the probe have arrived, until it has
/// ended without them, or for ``probeInterval``. If the reset is further away than ``patience``, probes start before the
/// reset, because the policy may not cover the waiting calls.
///
/// A response replaces the numbers of the policies that it names. A response that was not refused removes the exhausted
/// policies that it does not name, because these do not cover all requests of the origin.
struct ServerQuotas: Sendable {
  private struct Quota: Sendable {
    /// The policy; nil for `Retry-After`.
    let policy: ServerPace.Policy?
    var left: Int64
    let reset: MonotonicInstant
    /// The moment at which the server named these numbers. Older responses do not change them.
    let arrival: MonotonicInstant
    /// The moment from which a probe may start if the policy is exhausted.
    var probe: MonotonicInstant

    var isExhausted: Bool { left <= 0 }

    init(_ policy: ServerPace.Policy?, left: Int64, _ arrival: MonotonicInstant, reset: MonotonicInstant) {
      self.policy = policy
      self.left = left
      self.arrival = arrival
      self.reset = reset
      probe = policy == nil ? reset : Self.probe(after: arrival, reset)
    }

    mutating func take(_ now: MonotonicInstant) {
      let isProbe = isExhausted
      left -= 1
      probe = Self.probe(after: now, reset)
      if isProbe { probe = max(probe, now.advanced(by: probeInterval)) }
    }

    mutating func giveBack() {
      left += 1
      if isExhausted { probe = MonotonicInstant(nanoseconds: .min) }
    }

    private static func probe(after now: MonotonicInstant, _ reset: MonotonicInstant) -> MonotonicInstant {
      now.duration(to: reset) > patience ? now.advanced(by: probeInterval) : reset
    }
  }

  /// The longest time to a reset for which no probe starts.
  static let patience = Duration.seconds(60)
  static let probeInterval = Duration.seconds(10)

  private var quotas: [Quota] = []

  /// The moment from which an exchange may start; nil if no policy delays exchanges.
  var next: MonotonicInstant? { quotas.lazy.filter(\.isExhausted).map(\.probe).max() }

  /// Whether the reset of each policy has passed, so that the policies need not be remembered for an idle origin.
  func isOver(_ now: MonotonicInstant) -> Bool { quotas.allSatisfy { $0.reset <= now } }

  mutating func take(_ now: MonotonicInstant) { for index in quotas.indices { quotas[index].take(now) } }

  /// Puts back an unused request of each policy.
  mutating func giveBack() { for index in quotas.indices { quotas[index].giveBack() } }

  /// Lets the next probe start at the reset, because an exchange has ended, which may have been the probe.
  mutating func endProbe() {
    for index in quotas.indices { quotas[index].probe = min(quotas[index].probe, quotas[index].reset) }
  }

  /// Replaces all policies by `Retry-After`. At the given moment one probe may start.
  mutating func close(until moment: MonotonicInstant) { quotas = [Quota(nil, left: 0, moment, reset: moment)] }

  /// Applies the policies that a response names.
  ///
  /// - Parameters:
  ///   - unanswered: The number of other exchanges whose response headers have not arrived. The server may not have
  ///     counted them yet, so they are subtracted.
  ///   - isRefused: Whether the server refused the request because of its load.
  ///   - arrival: The moment at which the response headers arrived.
  mutating func learn(
    _ limits: [ServerPace.Limit], unanswered: Int, isRefused: Bool, since arrival: MonotonicInstant
  ) {
    if !isRefused {
      quotas.removeAll { quota in
        quota.isExhausted && quota.arrival <= arrival && !limits.contains { $0.policy == quota.policy }
      }
    }
    for limit in limits {
      let left = max(limit.remaining - Int64(max(unanswered, 0)), 0)
      let quota = Quota(limit.policy, left: left, arrival, reset: arrival.advanced(by: limit.reset))
      if let known = quotas.firstIndex(where: { $0.policy == limit.policy }) {
        if quotas[known].arrival <= arrival { quotas[known] = quota }
      } else {
        quotas.append(quota)
      }
    }
    guard quotas.count > ServerPace.mostPolicies else { return }
    quotas.sort { ($1.arrival, $0.left) < ($0.arrival, $1.left) }
    quotas.removeLast(quotas.count - ServerPace.mostPolicies)
  }
}
