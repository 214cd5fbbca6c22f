import ErrandCore
import ErrandSupport
import Foundation

/// One lookup in the cache, and the actions that follow from its result.
struct LookUp {
  let cache: ResponseCache
  let context: CallContext
  let next: Next
  let request: HTTPRequest

  func run(_ lookupResult: CacheLookupResult) async throws -> HTTPResponse {
    let rules = lookupResult.rules
    if let decision = rules.decideBeforeLookup() { return try await follow(decision, nil, lookupResult) }
    let found = await lookupResult.store.find(
      lookupResult.key, choosing: { rules.choice(among: $0) }, call: context.call,
      patience: Caching.patience(for: rules.mode, isFollowed: context.cache?.isFollowed == true))
    try context.call.check()
    switch found {
    case .found(let entry):
      return try await follow(decision(about: entry.head, rules), entry, lookupResult)
    case .refused(let heads):
      if let response = try await servedForEquivalentURL(lookupResult) { return response }
      return try await follow(rules.decide(without: rules.miss(among: heads)), nil, lookupResult)
    case .damaged: return try await follow(rules.decide(without: .damaged), nil, lookupResult)
    case .unavailable: return try await follow(rules.decide(without: .unavailable), nil, lookupResult)
    case .missing:
      if let response = try await servedForEquivalentURL(lookupResult) { return response }
      return try await follow(rules.decide(without: await reasonOfNothing(lookupResult)), nil, lookupResult)
    }
  }

  private func decision(about head: CacheEntryHead, _ rules: CacheRules) -> CacheDecision {
    guard context.cache?.asksAlways == true, !rules.requestDirectives.onlyIfCached else {
      return rules.decide(head, at: context.moment(cache.wallClock()))
    }
    if rules.hasRange { return .bypass(.range) }
    return rules.hasConditional ? .bypass(.conditional) : .validate(rules.validation(of: head))
  }

  /// Serves a response that is stored for an equivalent URL (see ``SearchTable``). Nil if there is none, or if it cannot
  /// be served without the server: a new response is then stored under its own URL.
  @inline(never)  // frame size
  private func servedForEquivalentURL(_ lookupResult: CacheLookupResult) async throws -> HTTPResponse? {
    let rules = lookupResult.rules
    let variations = cache.searches.withLock { $0.variations(of: rules.url) }
    guard !variations.isEmpty, lookupResult.servesEquivalentURLs else { return nil }
    for variation in variations {
      let digest = lookupResult.digest(variation, request, context)
      guard let key = cache.searches.withLock({ $0.key(rules.url, variation, entry: digest) }) else { continue }
      let found = await lookupResult.store.find(
        key,
        choosing: { heads in
          // A response that cannot be served must not count as used.
          guard let index = rules.choice(among: heads, variation),
            self.decision(about: heads[index], rules).servesWithoutServer
          else { return nil }
          return index
        }, call: context.call, patience: nil)
      guard case .found(let entry) = found else { continue }
      let decision = decision(about: entry.head, rules)
      if decision.servesWithoutServer { return try await follow(decision, entry, lookupResult) }
    }
    return nil
  }

  /// The reason why no stored response was found. If the call reads only from the cache, this method also checks
  /// whether another account has a stored response, so that the error can name this reason.
  private func reasonOfNothing(_ lookupResult: CacheLookupResult) async -> CacheMiss {
    guard lookupResult.rules.mode.usesOnlyCache else { return .missing }
    let accounts = context.ownAccounts(of: lookupResult.key, salt: lookupResult.recipe.salt)
    let holdsOthers = await lookupResult.store.holdsForOthers(
      lookupResult.key.anyAccount, than: accounts, call: context.call, patience: nil)
    return holdsOthers ? .otherAccount : .missing
  }

  private func follow(_ decision: CacheDecision, _ entry: CacheEntry?, _ lookupResult: CacheLookupResult) async throws
    -> HTTPResponse
  {
    switch (decision, entry) {
    case (.serve(let serving), let entry?):
      if let range = lookupResult.rules.range { return try await part(range, of: entry, serving, lookupResult) }
      let refresh = refreshIfNeeded(serving, entry, lookupResult)
      return served(entry, serving, lookupResult, refresh: refresh)
    case (.notModified(let serving), let entry?):
      let refresh = refreshIfNeeded(serving, entry, lookupResult)
      return served(entry, serving, lookupResult, body: false, refresh: refresh)
    case (.validate(let how), let entry?):
      let reason = lookupResult.rules.forward(validating: entry.head, at: context.moment(cache.wallClock()))
      noteValidation(of: entry, how, lookupResult.rules, reason)
      return try await forward(lookupResult.forwarding(reason, validating: (entry, how)))
    case (.fail(let miss), _):
      refuse(miss, lookupResult)
      throw APIError.cacheMiss(miss)
    case (.gatewayTimeout(let miss), _):
      refuse(miss, lookupResult)
      return HTTPResponse(head: CacheDecision.gatewayTimeout, url: request.url, from: .local)
    case (.bypass(let bypass), let entry):
      context.note(.cache(.notServed(nil, reason: CacheForward.bypass(bypass).reason)))
      return try await forward(lookupResult.forwarding(.bypass(bypass), fallback: entry))
    case (.fetch(let miss), _):
      let why = CacheForward(miss, of: lookupResult.store)
      context.note(.cache(.notServed(miss, reason: why.reason)))
      return try await forward(lookupResult.forwarding(why))
    case (.serve, nil), (.notModified, nil), (.validate, nil): return try await forward(lookupResult)
    }
  }

  /// Records why a call that must not contact the server gets no response.
  private func refuse(_ miss: CacheMiss, _ lookupResult: CacheLookupResult) {
    let forward = CacheForward(miss, of: lookupResult.store)
    context.note(.cache(.notServed(miss, reason: forward.reason)))
    context.record.cached(CacheReport(.refused(forward), origin: .local, miss: miss))
  }

  // MARK: - Serving

  private func served(
    _ entry: CacheEntry, _ serving: CacheServing, _ lookupResult: CacheLookupResult, body: Bool = true,
    refresh: CallDecision.BackgroundRefresh = .none, after failure: CacheFailure? = nil
  ) -> HTTPResponse {
    let hasBody = body && request.method != .head
    let saved = hasBody ? entry.body.count : 0
    let origin = recordHit(serving, saved: saved, lookupResult, refresh, after: failure)
    return HTTPResponse(
      head: serving.head, body: hasBody ? entry.body : Data(), url: request.url, from: origin,
      hit: hasBody ? CacheHit(entry, lookupResult.store) : nil)
  }

  /// Serves a byte range of a complete stored response (RFC 9111 section 4). If the range is outside the body, the
  /// request is sent to the server, because the body may have grown. A call that must not contact the server receives
  /// status 416.
  ///
  /// The store has read the whole entry, because one checksum, and perhaps one encryption, covers the whole body. A
  /// part that is read alone could not be checked for damage.
  private func part(
    _ range: StoredRange, of entry: CacheEntry, _ serving: CacheServing, _ lookupResult: CacheLookupResult
  ) async throws -> HTTPResponse {
    let count = entry.body.count
    guard let slice = range.slice(of: count) else {
      guard !lookupResult.rules.mayContactServer else {
        return try await forward(lookupResult.forwarding(.bypass(.range)))
      }
      let origin = recordHit(serving, saved: 0, lookupResult)
      return HTTPResponse(head: StoredRange.unsatisfiable(serving.head, of: count), url: request.url, from: origin)
    }
    return part(slice, of: entry, serving, lookupResult)
  }

  private func part(
    _ slice: Range<Int>, of entry: CacheEntry, _ serving: CacheServing, _ lookupResult: CacheLookupResult,
    after failure: CacheFailure? = nil
  ) -> HTTPResponse {
    let origin = recordHit(serving, saved: slice.count, lookupResult, after: failure)
    let begin = entry.body.startIndex + slice.lowerBound
    return HTTPResponse(
      head: StoredRange.head(serving.head, slice, of: entry.body.count),
      body: Data(entry.body[begin..<begin + slice.count]),
      url: request.url, from: origin)
  }

  private func recordHit(
    _ serving: CacheServing, saved bytes: Int, _ lookupResult: CacheLookupResult,
    _ refresh: CallDecision.BackgroundRefresh = .none, after failure: CacheFailure? = nil
  ) -> ResponseOrigin {
    let isFresh = serving.isFresh
    cache.count {
      if isFresh { $0.freshHits += 1 } else { $0.staleHits += 1 }
      $0.bytesSaved += Int64(bytes)
    }
    let origin = isFresh ? ResponseOrigin.cacheFresh : .cacheStale
    let left = serving.freshness.secondsLeft
    let status = failure.map { CacheStatus.fallback(lookupResult.forward, status: $0.status, secondsLeft: left) }
    context.record.cached(
      CacheReport(status ?? .hit(serving.reason, secondsLeft: left), origin: origin, fields: serving.head.fields))
    context.note(.cache(.served(lookupResult.rules.rule(of: serving), serving.freshness.recorded, refresh: refresh)))
    return origin
  }

  // MARK: - Forwarding to the server

  private func forward(_ lookupResult: CacheLookupResult) async throws -> HTTPResponse {
    recordForwarding(lookupResult)
    if lookupResult.fallback != nil { return try await forwardOrServe(lookupResult) }
    return try await next(request, in: context.with { $0.lookup = lookupResult })
  }

  /// Records why the cache served nothing, for a call that fails. If a response arrives, its report replaces this one.
  @inline(never)  // frame size
  private func recordForwarding(_ lookupResult: CacheLookupResult) {
    let forward = lookupResult.forward
    context.record.cached(CacheReport(.unanswered(forward), origin: .local, miss: forward.miss))
  }

  /// Sends the request to the server. If the server cannot be reached, fails or does not respond in time, the stored
  /// response is served instead, as far as its age is allowed.
  private func forwardOrServe(_ lookupResult: CacheLookupResult) async throws -> HTTPResponse {
    do {
      let response = try await withTimeToSpare(lookupResult)
      return staleFallback(for: .status(response.status), lookupResult) ?? response
    } catch {
      try context.call.check()
      guard Self.isServersFault(error), let response = staleFallback(for: .noResponse, lookupResult) else {
        throw error
      }
      return response
    }
  }

  /// The stored response, the requested part of it, or a 304 response if the caller already has it. Nil if it must not
  /// be served, or if the range is outside of its body.
  private func staleFallback(for failure: CacheFailure, _ lookupResult: CacheLookupResult) -> HTTPResponse? {
    guard let found = lookupResult.served(after: failure, at: context.moment(cache.wallClock())) else { return nil }
    if let slice = found.slice { return part(slice, of: found.entry, found.serving, lookupResult, after: failure) }
    return served(found.entry, found.serving, lookupResult, body: !found.isKnown, after: failure)
  }

  /// Sends the request, and ends the exchange shortly before the deadline of the call. The stored response can be
  /// served in the time that remains: a tenth of the time until the deadline, but at most 50 ms. The exchange has all
  /// of the time if the stored response cannot be served at the deadline.
  private func withTimeToSpare(_ lookupResult: CacheLookupResult) async throws -> HTTPResponse {
    let call = context.call
    guard let deadline = call.deadline, lookupResult.served(after: .noResponse, at: moment(deadline)) != nil else {
      return try await next(request, in: context.with { $0.lookup = lookupResult })
    }
    let spare = min(.milliseconds(50), max(.zero, call.timers.now.duration(to: deadline)) / 10)
    let child = CallState(following: call, deadline: deadline.advanced(by: .zero - spare))
    defer { child.settle() }
    let forwarded = context.with {
      $0.lookup = lookupResult
      $0.call = child
    }
    return try await call.whileAsking({ child.stop($0) }) { try await next(request, in: forwarded) }
  }

  /// A later moment on both clocks.
  private func moment(_ later: MonotonicInstant) -> CacheMoment {
    let now = context.moment(cache.wallClock())
    let distance = now.monotonic.duration(to: later).clampedNanoseconds / 1_000_000
    return CacheMoment(wall: now.wall.advanced(byMilliseconds: distance), monotonic: later)
  }

  private static func isServersFault(_ error: any Error) -> Bool {
    switch error {
    case let error as APIError where error.code == .circuitOpen: true
    // The credential provider could not reach its server, and the request was not sent. After a 401, the error has a
    // response, and the stored response is not served.
    case let error as APIError where error.code == .refreshUnavailable && error.response == nil:
      error.cause.map(isServersFault) ?? false
    case let stopped as CallState.Stopped: stopped.reason == .expired
    default: TransportFailure.behind(error).map { $0.kind != .sink && $0.kind != .unsupported } ?? false
    }
  }

  /// Starts a background refresh if serving the stored response requires one and the call may contact the server.
  private func refreshIfNeeded(
    _ serving: CacheServing, _ entry: CacheEntry, _ lookupResult: CacheLookupResult
  ) -> CallDecision.BackgroundRefresh {
    guard serving.refreshes, lookupResult.rules.mayContactServer else { return .none }
    return refresh(entry, lookupResult) ? .started : .notStarted
  }

  /// Starts a background refresh of the stored response, in a separate task. At most one refresh of an entry runs at a
  /// time. The refresh is cancelled after 60 s, or when a removal through ``ResponseCache`` selects the entry.
  /// Returns false if no refresh was started, because one is running or failed recently.
  private func refresh(_ entry: CacheEntry, _ lookupResult: CacheLookupResult) -> Bool {
    let timers = context.call.timers
    let state = CallState(
      deadline: timers.now.advanced(by: Self.refreshLimit), timers: timers, priority: context.call.priority)
    let place = RefreshTable.Place(key: lookupResult.key, variant: entry.head.variant)
    let stored = entry.head.responseTime
    guard cache.refreshes.begin(place, entry.head, state) else { return false }
    let generation = cache.generations.withLock { $0.register() }
    let request = withoutConditions
    let refreshing = lookupResult.refreshing(entry, by: lookupResult.rules.with(request), generation)
    let background = context.with { $0.lookup = refreshing }.inBackground(state)
    Task { @concurrent [cache, next] in
      if await Self.isStill(entry, refreshing, state) {
        let response = try? await next(request, in: background)
        if await Self.isStill(entry, refreshing, state) || state.endsBy == .expired {
          let retryAfter = response.flatMap { RetryAfter.delay(in: $0.fields) }
          cache.refreshes.fail(place, stored: stored, retryAfter: retryAfter, now: timers.now)
        }
      }
      cache.generations.withLock { $0.unregister(generation) }
      cache.refreshes.end(place, state)
    }
    return true
  }

  private var withoutConditions: HTTPRequest {
    var request = request
    request.fields.removeAll { CacheRules.conditions.contains($0.name) }
    return request
  }

  /// Whether the store still has this entry unchanged. The result is false, for example, if another call has refreshed
  /// the entry.
  private static func isStill(
    _ entry: CacheEntry, _ lookupResult: CacheLookupResult, _ state: CallState
  ) async -> Bool {
    let rules = lookupResult.rules
    let found = await lookupResult.store.find(
      lookupResult.key, choosing: { rules.choice(among: $0) }, call: state,
      patience: Caching.patience(for: rules.mode, isFollowed: true))
    guard case .found(let now) = found else { return false }
    return now.head.variant == entry.head.variant && now.head.responseTime == entry.head.responseTime
  }

  private static let refreshLimit = Duration.seconds(60)
}

/// Values for the record of a call.
extension LookUp {
  private func noteValidation(
    of entry: CacheEntry, _ how: CacheValidation, _ rules: CacheRules, _ forward: CacheForward
  ) {
    guard context.record.flight != nil else { return }
    // Without a validator, the server cannot confirm the stored response.
    guard how.isConditional else {
      context.note(.cache(.notServed(forward.miss, reason: forward.reason)))
      return
    }
    let freshness = rules.freshness(of: entry.head, at: context.moment(cache.wallClock()))
    context.note(.cache(.validating(freshness.recorded)))
  }
}

extension CacheRules {
  /// The rule that allowed serving a stored response, with the limit that a field states.
  fileprivate func rule(of serving: CacheServing) -> CallDecision.ServingRule {
    switch serving.reason {
    case .fresh: .fresh
    case .staleWhileRevalidate:
      .staleWhileRevalidate(CacheControl(response: serving.head.fields).staleWhileRevalidate.map { .seconds($0) })
    case .staleAllowed: .maxStale(requestDirectives.maxStale.map { .seconds($0) })
    case .unvalidated: .withoutValidation
    case .anyAge: .anyAge
    case .staleIfError: .staleIfError
    }
  }
}

extension Freshness {
  /// The age and the lifetime, for the record of a call.
  fileprivate var recorded: CallDecision.StoredAge {
    CallDecision.StoredAge(age: age.map { .milliseconds($0) }, lifetime: .milliseconds(lifetime), source: source)
  }
}

extension CacheReport {
  init(
    _ status: CacheStatus, origin: ResponseOrigin, miss: CacheMiss? = nil, fields: HTTPFields = HTTPFields()
  ) {
    self.init(origin: origin, miss: miss, fields: fields) { isCollapsed in
      let status = isCollapsed ? status.collapsed : status
      return (status.sentence, status.value)
    }
  }
}

/// The stored entry that was served. It keeps values that were decoded from its body.
final class CacheHit: StoredHit {
  private let entry: CacheEntry
  private let store: any CacheStore

  init(_ entry: CacheEntry, _ store: any CacheStore) {
    self.entry = entry
    self.store = store
  }

  var requestTime: Int64 { entry.head.requestTime.milliseconds }

  func value(for rules: DecodedRules) -> (any Sendable)? { entry.decoded?.value(rules) }

  /// Keeps a decoded value. The size of the body is used as an estimate of the memory that the value takes.
  func keep(_ value: any Sendable, for rules: DecodedRules) {
    entry.decoded?.keep(value, rules, cost: entry.body.count)
  }

  func reject() { store.remove(.variant(entry.key, entry.head.variant)) }
}
