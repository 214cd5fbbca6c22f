package import ErrandCore

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
