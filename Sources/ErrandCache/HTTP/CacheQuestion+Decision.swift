package import ErrandCore

extension CacheQuestion {
  /// Makes the decisions that do not depend on a stored response. Returns nil if the store must be searched.
  package func beforeLooking() -> CacheDecision? {
    guard policy.model != nil, mode != .withoutCache else {
      return mode.asksNobody ? .fail(.disabled) : .bypass(.disabled)
    }
    guard let bypass = bypass() else { return nil }
    return barred(.missing) ?? .bypass(bypass)
  }

  /// Decides what to do if the store has no usable response.
  package func decide(without reason: CacheMiss) -> CacheDecision {
    barred(reason) ?? (wantsPart ? .bypass(.range) : .fetch(reason))
  }

  /// Decides what to do with the stored response that was selected.
  package func decide(_ stored: CacheEntryHead, at now: CacheMoment) -> CacheDecision {
    let freshness = freshness(of: stored, at: now)
    if let reason = servingReason(stored, freshness), mayServe(stored, reason) {
      let isKnown = isKnownToCaller(stored)
      let head = isKnown ? Self.notModified(stored, now) : Self.served(stored, at: now)
      let serving = CacheServing(reason: reason, head: head, freshness: freshness)
      return isKnown ? .notModified(serving) : .serve(serving)
    }
    if let barred = barred(.expired) { return barred }
    if wantsPart { return .bypass(.range) }
    if hasConditional { return .bypass(.conditional) }
    return .validate(validation(of: stored))
  }

  /// Whether a stored response may be served for the reason. A byte range is not served if a background refresh would
  /// follow: the refresh would repeat the `Range` field and receive only that part of the body.
  private func mayServe(_ stored: CacheEntryHead, _ reason: CacheServing.Reason) -> Bool {
    !wantsPart || mayCut(stored) && reason != .staleWhileRevalidate
  }

  /// Returns the fields that validate a stored response, even a fresh one. Also used by background refreshes.
  package func validation(of stored: CacheEntryHead) -> CacheValidation {
    var added = fieldsToAdd
    // Conditions are added only to GET and HEAD. With other methods they have another meaning (RFC 9110 section
    // 13.1.2).
    if isReading, !hasConditional { added += StoredValidators(stored).conditionals }
    return CacheValidation(fields: added, allowance: allowance(for: stored))
  }

  /// Makes the whole decision: selects one of the stored responses, which are ordered newest first, and decides what to
  /// do with the selected one.
  package func decide(among heads: [CacheEntryHead], at now: CacheMoment) -> (index: Int?, decision: CacheDecision) {
    if let decision = beforeLooking() { return (nil, decision) }
    guard let index = choice(among: heads) else { return (nil, decide(without: miss(among: heads))) }
    return (index, decide(heads[index], at: now))
  }

  /// Decides whether the stored response may be served after the server failed (`stale-if-error`); nil if not.
  package func mayServe(
    _ stored: CacheEntryHead, after failure: CacheFailure, by allowance: StaleAllowance, at now: CacheMoment
  ) -> CacheServing? {
    guard failure.isServersFault else { return nil }
    let freshness = freshness(of: stored, at: now)
    switch allowance {
    case .none: return nil
    case .upTo(let milliseconds): if freshness.staleness > milliseconds { return nil }
    case .anyAge: break
    }
    return CacheServing(reason: .staleIfError, head: Self.served(stored, at: now), freshness: freshness)
  }

  /// The head (status and fields) with which a stored response is served. Its `Age` is computed anew (RFC 9111 section
  /// 5.1).
  package static func served(_ stored: CacheEntryHead, at now: CacheMoment) -> ResponseHead {
    var head = stored.answer
    head.fields.replace(CacheAge.field(of: stored, now: now))
    return head
  }

  // MARK: - Parts

  private func bypass() -> CacheBypass? {
    if mode == .ignoringCache { return .ignored }
    if heedsServer, !isReading { return .method }
    if wantsPart, range == nil { return .range }
    let isForServer = ["If-Match", "If-Unmodified-Since"].contains { fields.contains($0) }
    if isForServer || fields.contains("If-Range") && !wantsPart { return wantsPart ? .range : .conditional }
    return hasConditional && !isReading ? .conditional : nil
  }

  /// Whether the call may contact the server, even if only in the background.
  package var mayAskServer: Bool { !mode.asksNobody && !asks.onlyIfCached }

  /// The decision for a call that must not contact the server; nil if the call may contact the server.
  private func barred(_ reason: CacheMiss) -> CacheDecision? {
    if mode.asksNobody { return .fail(reason) }
    return asks.onlyIfCached ? .gatewayTimeout(reason) : nil
  }

  /// The reason why the stored response may be served without contacting the server; nil if it may not be served.
  private func servingReason(_ stored: CacheEntryHead, _ freshness: Freshness) -> CacheServing.Reason? {
    let server = directives(of: stored.answer)
    switch mode {
    case .cachedElseLoad, .cacheOnlyAtAnyAge: return freshness.isFresh && !server.noCache ? .fresh : .anyAge
    case .revalidating where !asks.onlyIfCached:
      return server.immutable && !server.noCache && !asks.noCache && freshness.isFresh ? .fresh : nil
    case .networkElseCached where !asks.onlyIfCached: return nil
    default: return asks.noCache || server.noCache ? nil : servingReason(freshness, server)
    }
  }

  /// Decides by the directives of the request and the response: RFC 9111 sections 4.2.4 and 5.2.1, RFC 5861 section 3.
  private func servingReason(_ freshness: Freshness, _ server: CacheControl) -> CacheServing.Reason? {
    let wanted = (asks.minFresh ?? 0) * 1_000
    if freshness.isFresh, freshness.staleness <= -wanted, isYoungEnough(freshness) { return .fresh }
    if server.mustRevalidate, !freshness.isFresh { return nil }
    if let limit = asks.maxStale, lateness(freshness).saturatingSum(wanted) <= limit.saturatingProduct(1_000) {
      return .staleAllowed
    }
    guard asks.maxAge == nil, asks.minFresh == nil, let limit = server.staleWhileRevalidate else { return nil }
    return freshness.staleness <= limit * 1_000 ? .staleWhileRevalidate : nil
  }

  /// Whether the age of the response is within the request's `max-age`. With `max-age=0` no response is young enough.
  private func isYoungEnough(_ freshness: Freshness) -> Bool {
    guard let limit = asks.maxAge else { return true }
    guard limit > 0, let age = freshness.age else { return false }
    return age <= limit * 1_000
  }

  /// The time in milliseconds by which the response exceeds its freshness lifetime, or the request's `max-age` if that
  /// time is longer.
  private func lateness(_ freshness: Freshness) -> Int64 {
    guard let limit = asks.maxAge, let age = freshness.age else { return freshness.staleness }
    return max(freshness.staleness, age.saturatingDifference(limit * 1_000))
  }

  private func allowance(for stored: CacheEntryHead) -> StaleAllowance {
    if mode == .networkElseCached { return .anyAge }
    let server = directives(of: stored.answer)
    guard !server.mustRevalidate, !server.noCache, !asks.noCache,
      let seconds = asks.staleIfError ?? server.staleIfError
    else { return .none }
    return .upTo(milliseconds: seconds * 1_000)
  }
}

/// The validators of a stored response (RFC 9110 section 8.8).
struct StoredValidators {
  /// The received `ETag`, unchanged; nil if the response has none or several.
  let tag: String?
  /// The received `Last-Modified`, unchanged; nil if it is not a single valid date.
  let changed: String?

  init(_ stored: CacheEntryHead) {
    let tags = stored.answer.fields.octets(of: .eTag)
    tag = tags.count == 1 ? tags.first : nil
    let isDate = FreshnessRule.lastModified(of: stored.answer.fields, now: stored.responseTime) != nil
    changed = isDate ? stored.answer.fields["Last-Modified"] : nil
  }

  /// The request fields that validate the stored response (RFC 9111 section 4.3.1).
  var conditionals: [HTTPField] {
    [tag.map { HTTPField("If-None-Match", $0) }, changed.map { HTTPField("If-Modified-Since", $0) }].compactMap { $0 }
  }
}
