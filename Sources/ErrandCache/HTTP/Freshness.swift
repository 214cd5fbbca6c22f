package import ErrandCore

/// The freshness lifetime and the age of a stored response (RFC 9111 section 4.2).
package struct Freshness: Sendable, Hashable {
  package let source: CallDecision.StoredAge.Source
  /// The freshness lifetime, in milliseconds.
  package let lifetime: Int64
  /// The age in milliseconds; nil if the age is unknown because the clock was set back. The age begins when the server
  /// generated the response. But if the request declares the lifetime, the age begins when the response arrived.
  package let age: Int64?

  /// Computes the freshness by the cache policy of the request that reads the response.
  package init(of stored: CacheEntryHead, policy: CachePolicy, now: CacheMoment) {
    let rule = FreshnessRule(response: stored.answer, responseTime: stored.responseTime, policy: policy)
    source = rule.source
    lifetime = rule.lifetime
    let residence = CacheAge.residence(of: stored, now: now)
    age = rule.source == .request ? residence : residence.map { $0.saturatingSum(stored.initialAge) }
  }

  /// The time in milliseconds for which the response has been stale; negative while it is fresh.
  package var staleness: Int64 { age.map { $0.saturatingDifference(lifetime) } ?? .max }

  /// Whether the response may be served without validation.
  package var isFresh: Bool { staleness < 0 }

  /// The time for which the response stays fresh; negative if the response is stale. Nil if the age is unknown.
  var timeLeft: Duration? { age == nil ? nil : .milliseconds(Int64(0).saturatingDifference(staleness)) }

  /// The number of whole seconds for which the response stays fresh; negative if the response is stale. If the age is
  /// unknown, the result is the smallest number.
  package var secondsLeft: Int64 { age == nil ? .min : -(staleness / 1_000) }
}

/// The freshness lifetime of a response, and the rule that determines the lifetime (RFC 9111 sections 4.2.1 and 4.2.2).
struct FreshnessRule {
  let source: CallDecision.StoredAge.Source
  /// The freshness lifetime, in milliseconds.
  let lifetime: Int64

  init(response: ResponseHead, responseTime: WallTime, policy: CachePolicy) {
    if policy.model == .lifetime {
      self.init(.request, Self.declared(policy))
      return
    }
    let control = CacheControl(response: response.fields)
    if let explicit = Self.explicit(response.fields, control, responseTime) {
      self.init(.response, explicit)
    } else if policy.model == .httpElse, !Self.isExplicit(response.fields, control) {
      self.init(.request, Self.declared(policy))
    } else if let heuristic = Self.heuristic(response, control, responseTime) {
      self.init(.lastModified, heuristic)
    } else {
      self.init(.unknown, 0)
    }
  }

  private init(_ source: CallDecision.StoredAge.Source, _ lifetime: Int64) {
    self.source = source
    self.lifetime = lifetime
  }

  /// Whether the server itself specifies the freshness. If so, a lifetime that the request declares is not used.
  static func isExplicit(_ fields: HTTPFields, _ control: CacheControl) -> Bool {
    control.maxAge != nil || control.noStore || control.noCache || control.isMalformed || fields.contains("Expires")
  }

  /// Whether a response with this status may have a heuristic lifetime (RFC 9110 section 15.1).
  static func isHeuristic(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// The lifetime that the server specifies, in milliseconds: `max-age`, or without `max-age` the time from `Date` to
  /// `Expires`. Nil if the server specifies no lifetime.
  private static func explicit(_ fields: HTTPFields, _ control: CacheControl, _ responseTime: WallTime) -> Int64? {
    if control.isMalformed { return 0 }
    if let seconds = control.maxAge { return seconds * 1_000 }
    let lines = fields.values(of: "Expires")
    guard let line = lines.first else { return nil }
    guard lines.count == 1, let expires = HTTPDate.read(line, now: responseTime) else { return 0 }
    return max(date(of: fields, responseTime).milliseconds(to: expires), 0)
  }

  /// The heuristic lifetime: a tenth of the time between the last modification and the response.
  private static func heuristic(
    _ response: ResponseHead, _ control: CacheControl, _ responseTime: WallTime
  ) -> Int64? {
    guard isHeuristic(response.status) || control.isPublic,
      let changed = lastModified(of: response.fields, now: responseTime)
    else { return nil }
    return max(changed.milliseconds(to: date(of: response.fields, responseTime)) / 10, 0)
  }

  private static func declared(_ policy: CachePolicy) -> Int64 { policy.lifetime.clampedNanoseconds / 1_000_000 }

  /// The time at which the server generated the response, from the field `Date`. If `Date` is missing, repeated or
  /// invalid, the time at which the response arrived.
  static func date(of fields: HTTPFields, _ responseTime: WallTime) -> WallTime {
    let lines = fields.values(of: .date)
    guard let line = lines.first, lines.count == 1 else { return responseTime }
    return HTTPDate.read(line, now: responseTime) ?? responseTime
  }

  /// The time of the last modification; nil if `Last-Modified` is missing, repeated or not a date.
  static func lastModified(of fields: HTTPFields, now: WallTime) -> WallTime? {
    let lines = fields.values(of: "Last-Modified")
    guard let line = lines.first, lines.count == 1 else { return nil }
    return HTTPDate.read(line, now: now)
  }
}

/// Computes the age of a stored response, in milliseconds (RFC 9111 section 4.2.3).
package enum CacheAge {
  /// The age of the response when it arrived (`corrected_initial_age`). It is the larger of two values: the age
  /// computed from `Date`, and the value of `Age` plus the duration of the exchange.
  static func initial(of fields: HTTPFields, requested: WallTime, received: WallTime) -> Int64 {
    let apparent = max(FreshnessRule.date(of: fields, received).milliseconds(to: received), 0)
    let delay = max(requested.milliseconds(to: received), 0)
    return max(apparent, ((seconds(fields) ?? 0) * 1_000).saturatingSum(delay))
  }

  /// The time for which the response has been stored (`resident_time`); nil if the clock was set back since it was
  /// stored.
  ///
  /// The process that received the response measures this time on the wall clock and on the monotonic clock, and uses
  /// the longer time: the wall clock may have been set back, and the monotonic clock may have stopped while the machine
  /// slept. Other processes use only the wall clock.
  static func residence(of stored: CacheEntryHead, now: CacheMoment) -> Int64? {
    let onWall = stored.responseTime.milliseconds(to: now.wall)
    guard let received = stored.received else { return onWall < 0 ? nil : onWall }
    let distance = received.duration(to: now.monotonic).clampedNanoseconds / 1_000_000
    return distance < 0 ? nil : max(distance, onWall)
  }

  /// The value of `Age` in a response (RFC 9111 section 5.1). If the field occurs several times, the first line that
  /// begins with a number counts. If a line is a list, only its first member counts.
  static func seconds(_ fields: HTTPFields) -> Int64? {
    for line in fields.values(of: "Age") {
      let first = ASCII.trimmed(line.utf8.prefix { $0 != 0x2C })
      if let seconds = DeltaSeconds.read(first) { return seconds }
    }
    return nil
  }

  /// The `Age` field for a response from the cache: the current age of the response in whole seconds.
  package static func field(of stored: CacheEntryHead, now: CacheMoment) -> HTTPField {
    field((residence(of: stored, now: now) ?? 0).saturatingSum(stored.initialAge))
  }

  /// The `Age` field for an age in milliseconds.
  static func field(_ age: Int64) -> HTTPField { HTTPField("Age", String(min(age / 1_000, DeltaSeconds.ceiling))) }
}
