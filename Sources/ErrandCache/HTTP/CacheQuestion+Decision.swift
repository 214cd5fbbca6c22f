package import ErrandCore

extension CacheQuestion {
  /// What is clear before anything is looked up; nil where the store must be asked.
  package func beforeLooking() -> CacheDecision? {
    guard policy.model != nil, mode != .withoutCache else {
      return mode.asksNobody ? .fail(.disabled) : .bypass(.disabled)
    }
    guard let bypass = bypass() else { return nil }
    return barred(.missing) ?? .bypass(bypass)
  }

  /// What to do where nothing was found that can be used.
  package func decide(without reason: CacheMiss) -> CacheDecision {
    barred(reason) ?? (wantsPart ? .bypass(.range) : .fetch(reason))
  }

  /// What to do with the stored answer that was chosen.
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

  /// A part is served of what needs no refresh: that would ask for the part alone.
  private func mayServe(_ stored: CacheEntryHead, _ reason: CacheServing.Reason) -> Bool {
    !wantsPart || mayCut(stored) && reason != .staleWhileRevalidate
  }

  /// How to ask the server about a stored answer, however fresh it is: for a refresh in the background, too.
  package func validation(of stored: CacheEntryHead) -> CacheValidation {
    var added = fieldsToAdd
    // For another method than GET and HEAD a condition would mean something else (RFC 9110 section 13.1.2).
    if isReading, !hasConditional { added += StoredValidators(stored).conditionals }
    return CacheValidation(fields: added, allowance: allowance(for: stored))
  }

  /// All of it at once: which of the stored answers, newest first, and what to do.
  package func decide(among heads: [CacheEntryHead], at now: CacheMoment) -> (index: Int?, decision: CacheDecision) {
    if let decision = beforeLooking() { return (nil, decision) }
    guard let index = choice(among: heads) else { return (nil, decide(without: miss(among: heads))) }
    return (index, decide(heads[index], at: now))
  }

  /// Whether the stored answer may be served after the server failed.
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

  /// The head of a stored answer as it is served, its `Age` newly computed (RFC 9111 section 5.1).
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

  /// Whether the server may be asked, be it in the background.
  package var mayAskServer: Bool { !mode.asksNobody && !asks.onlyIfCached }

  /// What takes the place of asking the server, where that is not wanted.
  private func barred(_ reason: CacheMiss) -> CacheDecision? {
    if mode.asksNobody { return .fail(reason) }
    return asks.onlyIfCached ? .gatewayTimeout(reason) : nil
  }

  /// Why the stored answer may be served without asking; nil where it may not.
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

  /// RFC 9111 sections 4.2.4 and 5.2.1, RFC 5861 section 3.
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

  /// Whether it is no older than the request allows; `max-age=0` allows nothing.
  private func isYoungEnough(_ freshness: Freshness) -> Bool {
    guard let limit = asks.maxAge else { return true }
    guard limit > 0, let age = freshness.age else { return false }
    return age <= limit * 1_000
  }

  /// By how much it is over its own lifetime, or over the age that the request allows.
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
