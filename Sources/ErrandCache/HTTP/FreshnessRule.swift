import ErrandCore

/// The freshness lifetime of a response, and the rule that determines the lifetime (RFC 9111 sections 4.2.1 and 4.2.2).
struct FreshnessRule {
  let source: Freshness.Source
  /// The freshness lifetime, in milliseconds.
  let lifetime: Int64

  init(response: ResponseHead, responseTime: WallTime, policy: CachePolicy) {
    if policy.model == .lifetime {
      self.init(.declared, Self.declared(policy))
      return
    }
    let control = CacheControl(response: response.fields)
    if let explicit = Self.explicit(response.fields, control, responseTime) {
      self.init(.explicit, explicit)
    } else if policy.model == .httpElse, !Self.isExplicit(response.fields, control) {
      self.init(.declared, Self.declared(policy))
    } else if let heuristic = Self.heuristic(response, control, responseTime) {
      self.init(.heuristic, heuristic)
    } else {
      self.init(.unknown, 0)
    }
  }

  private init(_ source: Freshness.Source, _ lifetime: Int64) {
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
