import ErrandCore

/// The freshness lifetime of a response and its origin (RFC 9111 sections 4.2.1 and 4.2.2).
struct FreshnessRule {
  let source: Freshness.Source
  /// The freshness lifetime, in milliseconds.
  let lifetime: Int64

  init(answer: ResponseHead, responseTime: WallTime, policy: CachePolicy) {
    if policy.model == .lifetime {
      self.init(.declared, Self.declared(policy))
      return
    }
    let control = CacheControl(answer: answer.fields)
    if let explicit = Self.explicit(answer.fields, control, responseTime) {
      self.init(.explicit, explicit)
    } else if policy.model == .httpElse, !Self.isExplicit(answer.fields, control) {
      self.init(.declared, Self.declared(policy))
    } else if let heuristic = Self.heuristic(answer, control, responseTime) {
      self.init(.heuristic, heuristic)
    } else {
      self.init(.unknown, 0)
    }
  }

  private init(_ source: Freshness.Source, _ lifetime: Int64) {
    self.source = source
    self.lifetime = lifetime
  }

  /// Whether the server itself specifies the freshness. Then a lifetime that the request declares does not replace it.
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

  /// The lifetime from `max-age`, or else from `Expires` minus `Date`, in milliseconds.
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
    _ answer: ResponseHead, _ control: CacheControl, _ responseTime: WallTime
  ) -> Int64? {
    guard isHeuristic(answer.status) || control.isPublic,
      let changed = lastModified(of: answer.fields, now: responseTime)
    else { return nil }
    return max(changed.milliseconds(to: date(of: answer.fields, responseTime)) / 10, 0)
  }

  private static func declared(_ policy: CachePolicy) -> Int64 { policy.lifetime.clampedNanoseconds / 1_000_000 }

  /// The time at which the server generated the response. If `Date` is missing or invalid, the time at which it
  /// arrived.
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
