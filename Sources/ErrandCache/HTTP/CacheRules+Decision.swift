package import ErrandCore

extension CacheRules {
  /// Makes the decision about the call if it does not depend on a stored response. Returns nil if the decision depends
  /// on a stored response, so that the store must be searched.
  package func decideBeforeLookup() -> CacheDecision? {
    guard policy.model != nil, mode != .withoutCache else {
      return mode.usesOnlyCache ? .fail(.disabled) : .bypass(.disabled)
    }
    guard let bypass = bypass() else { return nil }
    // Only the server can serve such a range. Why the call gets no response depends on what is stored.
    if bypass == .range, range == nil, !mayContactServer { return nil }
    return barred(.missing) ?? .bypass(bypass)
  }

  /// Decides what to do with a call for which the store has no response that can be used.
  package func decide(without reason: CacheMiss) -> CacheDecision {
    barred(reason) ?? (hasRange ? .bypass(.range) : .fetch(reason))
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
    if let barred = barred(freshness.isFresh ? .needsServer : .expired) { return barred }
    if hasRange { return .bypass(.range) }
    if hasConditional { return .bypass(.conditional) }
    return .validate(validation(of: stored))
  }

  /// Whether a stored response may be served for the given reason. A byte range is served only if it can be cut out of
  /// the stored body, and if no background refresh follows. The refresh would send the field `Range` again and receive
  /// only a part of the body.
  private func mayServe(_ stored: CacheEntryHead, _ reason: CacheServing.Reason) -> Bool {
    !hasRange || mayCut(stored) && reason != .staleWhileRevalidate
  }

  /// Returns the request fields that validate a stored response, which may still be fresh. Background refreshes use
  /// this method, too.
  package func validation(of stored: CacheEntryHead) -> CacheValidation {
    var added = fieldsToAdd
    // Conditions are added only to GET, HEAD and QUERY, because with other methods a condition has another meaning (RFC
    // 9110 section 13.1.2).
    if isReading, !hasConditional { added += Self.conditionals(of: stored) }
    return CacheValidation(fields: added, allowance: allowance(for: stored))
  }

  /// The request fields that validate a stored response (RFC 9111 section 4.3.1), with the received validators
  /// unchanged. Without `If-None-Match` if the response has several entity tags, or one with a control character, which
  /// no request may contain; without `If-Modified-Since` if `Last-Modified` is not a single valid date.
  private static func conditionals(of stored: CacheEntryHead) -> [HTTPField] {
    let fields = stored.answer.fields
    var conditionals: [HTTPField] = []
    let tags = fields.values(of: .eTag)
    if let tag = tags.first, tags.count == 1, ASCII.all(tag, ASCII.isFieldValue) {
      conditionals.append(HTTPField("If-None-Match", tag))
    }
    let isDate = FreshnessRule.lastModified(of: fields, now: stored.responseTime) != nil
    if isDate, let changed = fields["Last-Modified"] { conditionals.append(HTTPField("If-Modified-Since", changed)) }
    return conditionals
  }

  /// The reason for asking the server to validate a stored response.
  package func forward(validating stored: CacheEntryHead, at now: CacheMoment) -> CacheForward {
    guard freshness(of: stored, at: now).isFresh else { return .miss(.expired) }
    return directives(of: stored.answer).noCache ? .miss(.needsServer) : .requested
  }

  /// Decides whether the stored response is served because the server failed (`stale-if-error`). Returns the head to
  /// serve and the reason. The head has status 304 if the caller already has the stored response. Nil if the stored
  /// response must not be served.
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
    let head = isKnownToCaller(stored) ? Self.notModified(stored, now) : Self.served(stored, at: now)
    return CacheServing(reason: .staleIfError, head: head, freshness: freshness)
  }

  /// The head (status and fields) with which a stored response is served. Its `Age` is the current age (RFC 9111
  /// section 5.1).
  package static func served(_ stored: CacheEntryHead, at now: CacheMoment) -> ResponseHead {
    var head = stored.answer
    head.fields.replace(CacheAge.field(of: stored, now: now))
    return head
  }

  // MARK: - Parts

  private func bypass() -> CacheBypass? {
    if mode == .ignoringCache { return .ignored }
    if followsHTTPRules, !isReading { return .method }
    if hasRange, range == nil { return .range }
    let isForServer = ["If-Match", "If-Unmodified-Since"].contains { fields.contains($0) }
    if isForServer || fields.contains("If-Range") && !hasRange { return hasRange ? .range : .conditional }
    return hasConditional && !isReading ? .conditional : nil
  }

  package var mayContactServer: Bool { !mode.usesOnlyCache && !requestDirectives.onlyIfCached }

  /// The decision for a call that must not contact the server; nil if the call may contact the server.
  private func barred(_ reason: CacheMiss) -> CacheDecision? {
    if mode.usesOnlyCache { return .fail(reason) }
    return requestDirectives.onlyIfCached ? .gatewayTimeout(reason) : nil
  }

  /// The reason for serving the stored response without contacting the server; nil if the server must be contacted.
  private func servingReason(_ stored: CacheEntryHead, _ freshness: Freshness) -> CacheServing.Reason? {
    let server = directives(of: stored.answer)
    switch mode {
    case .cachedElseLoad, .cacheOnlyAtAnyAge:
      return !freshness.isFresh ? .anyAge : server.noCache ? .unvalidated : .fresh
    case .revalidating where !requestDirectives.onlyIfCached:
      return server.immutable && !server.noCache && !requestDirectives.noCache && freshness.isFresh ? .fresh : nil
    case .networkElseCached where !requestDirectives.onlyIfCached: return nil
    default: return requestDirectives.noCache || server.noCache ? nil : servingReason(freshness, server)
    }
  }

  /// Returns why the directives of the request and of the response allow serving the stored response. Nil if the
  /// directives forbid it. See RFC 9111 sections 4.2.4 and 5.2.1, and RFC 5861 section 3.
  private func servingReason(_ freshness: Freshness, _ server: CacheControl) -> CacheServing.Reason? {
    let wanted = (requestDirectives.minFresh ?? 0) * 1_000
    if freshness.isFresh, freshness.staleness <= -wanted, isYoungEnough(freshness) { return .fresh }
    if server.mustRevalidate, !freshness.isFresh { return nil }
    if let limit = requestDirectives.maxStale,
      lateness(freshness).saturatingSum(wanted) <= limit.saturatingProduct(1_000)
    {
      return .staleAllowed
    }
    guard requestDirectives.maxAge == nil, requestDirectives.minFresh == nil, let limit = server.staleWhileRevalidate
    else { return nil }
    return freshness.staleness <= limit * 1_000 ? .staleWhileRevalidate : nil
  }

  /// Whether the age of the response is within the request's `max-age`. With `max-age=0` no response is young enough.
  private func isYoungEnough(_ freshness: Freshness) -> Bool {
    guard let limit = requestDirectives.maxAge else { return true }
    guard limit > 0, let age = freshness.age else { return false }
    return age <= limit * 1_000
  }

  /// The time in milliseconds by which the response is too old. It is the longer of two times: the time since the end
  /// of the freshness lifetime, and the time by which the age exceeds the `max-age` of the request.
  private func lateness(_ freshness: Freshness) -> Int64 {
    guard let limit = requestDirectives.maxAge, let age = freshness.age else { return freshness.staleness }
    return max(freshness.staleness, age.saturatingDifference(limit * 1_000))
  }

  /// The longest staleness with which a stored response is served if the server fails. A byte range is served only if
  /// it can be cut out of the stored body.
  func allowance(for stored: CacheEntryHead) -> StaleAllowance {
    if hasRange, !mayCut(stored) { return .none }
    if mode == .networkElseCached { return .anyAge }
    let server = directives(of: stored.answer)
    guard !server.mustRevalidate, !server.noCache, !requestDirectives.noCache,
      let seconds = requestDirectives.staleIfError ?? server.staleIfError
    else { return .none }
    return .upTo(milliseconds: seconds * 1_000)
  }
}
