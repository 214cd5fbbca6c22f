package import ErrandCore

/// How old a stored answer is, in milliseconds (RFC 9111 section 4.2.3).
package enum CacheAge {
  /// How old it was when it came: by its date, or by `Age` and the time of the exchange, whichever is more.
  static func initial(of fields: HTTPFields, requested: WallTime, received: WallTime) -> Int64 {
    let apparent = max(FreshnessRule.date(of: fields, received).milliseconds(to: received), 0)
    let delay = max(requested.milliseconds(to: received), 0)
    return max(apparent, ((seconds(fields) ?? 0) * 1_000).saturatingSum(delay))
  }

  /// For how long it has lain here; nil where the clock was set back since.
  ///
  /// In the process that received it both clocks count, and the larger distance holds: the wall clock may have been set
  /// back, and the monotonic one may have stood still while the machine slept.
  static func residence(of stored: CacheEntryHead, now: CacheMoment) -> Int64? {
    let onWall = stored.responseTime.milliseconds(to: now.wall)
    guard let received = stored.received else { return onWall < 0 ? nil : onWall }
    let distance = received.duration(to: now.monotonic).clampedNanoseconds / 1_000_000
    return distance < 0 ? nil : max(distance, onWall)
  }

  /// The value of `Age` in an answer: the first member of the first line where that is a number (section 5.1).
  static func seconds(_ fields: HTTPFields) -> Int64? {
    for line in fields.values(of: "Age") {
      let first = ASCII.trimmed(line.utf8.prefix { $0 != 0x2C })
      if let seconds = DeltaSeconds.read(first) { return seconds }
    }
    return nil
  }

  /// The field that an answer from the cache carries: how old it is now, in whole seconds.
  package static func field(of stored: CacheEntryHead, now: CacheMoment) -> HTTPField {
    field((residence(of: stored, now: now) ?? 0).saturatingSum(stored.initialAge))
  }

  /// The field for an age in milliseconds.
  static func field(_ age: Int64) -> HTTPField { HTTPField("Age", String(min(age / 1_000, DeltaSeconds.ceiling))) }
}
