import ErrandCore

/// For how long an answer is fresh, and who says so (RFC 9111 section 4.2.1 and 4.2.2).
struct FreshnessRule {
  let source: Freshness.Source
  /// In milliseconds.
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

  /// Whether the server says anything of its own about time, so that a declared lifetime fills no gap.
  static func isExplicit(_ fields: HTTPFields, _ control: CacheControl) -> Bool {
    control.maxAge != nil || control.noStore || control.noCache || control.isMalformed || fields.contains("Expires")
  }

  /// Statuses that are fresh for a while though nobody says so (RFC 9110 section 15.1).
  static func isHeuristic(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// `max-age`, or else `Expires` less `Date`.
  private static func explicit(_ fields: HTTPFields, _ control: CacheControl, _ responseTime: WallTime) -> Int64? {
    if control.isMalformed { return 0 }
    if let seconds = control.maxAge { return seconds * 1_000 }
    let lines = fields.values(of: "Expires")
    guard let line = lines.first else { return nil }
    guard lines.count == 1, let expires = HTTPDate.read(line, now: responseTime) else { return 0 }
    return max(date(of: fields, responseTime).milliseconds(to: expires), 0)
  }

  /// A tenth of the time between the last change and the answer.
  private static func heuristic(
    _ answer: ResponseHead, _ control: CacheControl, _ responseTime: WallTime
  ) -> Int64? {
    guard isHeuristic(answer.status) || control.isPublic,
      let changed = lastModified(of: answer.fields, now: responseTime)
    else { return nil }
    return max(changed.milliseconds(to: date(of: answer.fields, responseTime)) / 10, 0)
  }

  private static func declared(_ policy: CachePolicy) -> Int64 { policy.lifetime.clampedNanoseconds / 1_000_000 }

  /// When the answer was made; when it came, where it does not say.
  static func date(of fields: HTTPFields, _ responseTime: WallTime) -> WallTime {
    let lines = fields.values(of: .date)
    guard let line = lines.first, lines.count == 1 else { return responseTime }
    return HTTPDate.read(line, now: responseTime) ?? responseTime
  }

  /// When the body was changed; nil where the field is missing, is there twice or is no date.
  static func lastModified(of fields: HTTPFields, now: WallTime) -> WallTime? {
    let lines = fields.values(of: "Last-Modified")
    guard let line = lines.first, lines.count == 1 else { return nil }
    return HTTPDate.read(line, now: now)
  }
}
