import ErrandCore
import ErrandSupport
import Foundation

/// One lookup in the cache, and the actions that follow from its result.
struct LookUp {
  let cache: ResponseCache
  let context: CallContext
  let next: Next
  let request: HTTPRequest

  func run(_ trip: CacheLookupResult) async throws -> HTTPResponse {
    let question = trip.question
    if let decision = question.beforeLooking() { return try await follow(decision, nil, trip) }
    let found = await trip.store.find(
      trip.key, choosing: { question.choice(among: $0) }, call: context.call,
      patience: Caching.patience(for: question.mode, isFollowed: context.cache?.isFollowed == true))
    try context.call.check()
    switch found {
    case .found(let entry):
      return try await follow(decision(about: entry.head, question), entry, trip)
    case .refused(let heads):
      return try await follow(question.decide(without: question.miss(among: heads)), nil, trip)
    case .damaged: return try await follow(question.decide(without: .damaged), nil, trip)
    case .unavailable: return try await follow(question.decide(without: .unavailable), nil, trip)
    case .missing:
      return try await follow(question.decide(without: await reasonOfNothing(trip)), nil, trip)
    }
  }

  private func decision(about head: CacheEntryHead, _ question: CacheQuestion) -> CacheDecision {
    guard context.cache?.asksAlways == true, !question.asks.onlyIfCached else {
      return question.decide(head, at: context.moment(cache.wallClock()))
    }
    if question.wantsPart { return .bypass(.range) }
    return question.hasConditional ? .bypass(.conditional) : .validate(question.validation(of: head))
  }

  /// The reason why nothing was found. For a call that reads only from the cache, also searches for an entry of another
  /// account, so that the error can say so.
  private func reasonOfNothing(_ trip: CacheLookupResult) async -> CacheMiss {
    guard trip.question.mode.asksNobody else { return .missing }
    let isElsewhere = await trip.store.holdsForOthers(trip.key, call: context.call, patience: nil)
    return isElsewhere ? .otherAccount : .missing
  }

  private func follow(_ decision: CacheDecision, _ entry: CacheEntry?, _ trip: CacheLookupResult) async throws
    -> HTTPResponse
  {
    switch (decision, entry) {
    case (.serve(let serving), let entry?):
      if let range = trip.question.range { return try await part(range, of: entry, serving, trip) }
      if serving.refreshes, trip.question.mayAskServer { refresh(entry, trip) }
      return served(entry, serving, trip)
    case (.notModified(let serving), let entry?):
      if serving.refreshes, trip.question.mayAskServer { refresh(entry, trip) }
      return served(entry, serving, trip, body: false)
    case (.validate(let how), let entry?):
      let trip = trip.going(.miss(.expired), asking: (entry, how))
      return how.allowance == .none ? try await goOn(trip) : try await goOn(trip, orServe: entry, how.allowance)
    case (.fail(let miss), _):
      context.record.cached(CacheReport(.refused(miss), origin: .local, miss: miss))
      throw APIError.cacheMiss(miss)
    case (.gatewayTimeout(let miss), _):
      context.record.cached(CacheReport(.refused(miss), origin: .local, miss: miss))
      return HTTPResponse(head: CacheDecision.gatewayTimeout, url: request.url, from: .local)
    case (.bypass(let bypass), _):
      return try await goOn(trip.going(.bypass(bypass)))
    case (.fetch(let miss), _):
      return try await goOn(trip.going(.miss(miss)))
    case (.serve, nil), (.notModified, nil), (.validate, nil): return try await goOn(trip)
    }
  }

  // MARK: - Serving

  private func served(
    _ entry: CacheEntry, _ serving: CacheServing, _ trip: CacheLookupResult, body: Bool = true
  ) -> HTTPResponse {
    let hasBody = body && request.method != .head
    let origin = noteHit(serving, saved: hasBody ? entry.body.count : 0)
    return HTTPResponse(
      head: serving.head, body: hasBody ? entry.body : Data(), url: request.url, from: origin,
      hit: hasBody ? CacheHit(entry, trip.store) : nil)
  }

  /// Serves a byte range of a complete stored response (RFC 9111 section 4). If the range is outside the body, the
  /// request is sent to the server.
  private func part(
    _ range: StoredRange, of entry: CacheEntry, _ serving: CacheServing, _ trip: CacheLookupResult
  ) async throws -> HTTPResponse {
    let count = entry.body.count
    guard let slice = range.slice(of: count) else { return try await goOn(trip.going(.bypass(.range))) }
    let origin = noteHit(serving, saved: slice.count)
    let begin = entry.body.startIndex + slice.lowerBound
    return HTTPResponse(
      head: StoredRange.head(serving.head, slice, of: count), body: Data(entry.body[begin..<begin + slice.count]),
      url: request.url, from: origin)
  }

  private func noteHit(_ serving: CacheServing, saved bytes: Int) -> ResponseOrigin {
    let isFresh = serving.reason == .fresh
    cache.count {
      if isFresh { $0.freshHits += 1 } else { $0.staleHits += 1 }
      $0.bytesSaved += Int64(bytes)
    }
    let origin = isFresh ? ResponseOrigin.cacheFresh : .cacheStale
    context.record.cached(
      CacheReport(.hit(serving.reason, secondsLeft: serving.freshness.secondsLeft), origin: origin))
    return origin
  }

  // MARK: - Asking the server

  private func goOn(_ trip: CacheLookupResult) async throws -> HTTPResponse {
    try await next(request, in: context.with(note: trip))
  }

  /// Sends the request to the server. If the server cannot be reached, fails or does not respond in time, the stored
  /// response is served instead.
  private func goOn(
    _ trip: CacheLookupResult, orServe entry: CacheEntry, _ allowance: StaleAllowance
  ) async throws -> HTTPResponse {
    do {
      let response = try await withTimeToSpare(trip)
      return standIn(for: .status(response.status), entry, allowance, trip) ?? response
    } catch {
      try context.call.check()
      guard Self.isServersFault(error), let response = standIn(for: .noAnswer, entry, allowance, trip) else {
        throw error
      }
      return response
    }
  }

  private func standIn(
    for failure: CacheFailure, _ entry: CacheEntry, _ allowance: StaleAllowance, _ trip: CacheLookupResult
  ) -> HTTPResponse? {
    let now = context.moment(cache.wallClock())
    guard let serving = trip.question.mayServe(entry.head, after: failure, by: allowance, at: now) else { return nil }
    return served(entry, serving, trip)
  }

  /// Sends the request, and ends the exchange shortly before the deadline of the call. The rest of the time is for
  /// serving the stored response: a tenth of the time left, but at most 50 ms.
  private func withTimeToSpare(_ trip: CacheLookupResult) async throws -> HTTPResponse {
    let call = context.call
    let spare = min(.milliseconds(50), (call.timeLeft ?? .zero) / 10)
    let child = CallState(following: call, deadline: call.deadline?.advanced(by: .zero - spare))
    defer { child.settle() }
    return try await call.whileAsking({ child.stop($0) }) {
      try await next(request, in: context.with(note: trip).with(child))
    }
  }

  private static func isServersFault(_ error: any Error) -> Bool {
    switch error {
    case let error as APIError where error.code == .circuitOpen: true
    case let stopped as CallState.Stopped: stopped.reason == .expired
    default: TransportFailure.behind(error).map { $0.kind != .sink && $0.kind != .unsupported } ?? false
    }
  }

  /// Starts a background refresh of the stored response, in a separate task. At most one refresh of an entry runs at a
  /// time. It is cancelled after 60 s, or if all entries or those of its account are removed.
  private func refresh(_ entry: CacheEntry, _ trip: CacheLookupResult) {
    let timers = context.call.timers
    let state = CallState(
      deadline: timers.now.advanced(by: Self.refreshLimit), timers: timers, priority: context.call.priority)
    let place = RefreshTable.Place(key: trip.key, variant: entry.head.variant)
    let stored = entry.head.responseTime
    guard cache.refreshes.begin(place, stored: stored, state) else { return }
    let generation = cache.generations.withLock { $0.note() }
    let request = withoutConditions
    let refreshing = trip.refreshing(entry, by: trip.question.asked(by: request), generation)
    let background = context.with(note: refreshing).inBackground(state)
    Task { @concurrent [cache, next] in
      if await Self.isStill(entry, refreshing, state) {
        let response = try? await next(request, in: background)
        if await Self.isStill(entry, refreshing, state) || state.endsBy == .expired {
          let retryAfter = response.flatMap { RetryAfter.delay(in: $0.fields) }
          cache.refreshes.fail(place, stored: stored, retryAfter: retryAfter, now: timers.now)
        }
      }
      cache.generations.withLock { $0.giveBack(generation) }
      cache.refreshes.end(place, state)
    }
  }

  /// The request without its conditional fields.
  private var withoutConditions: HTTPRequest {
    var request = request
    request.fields.removeAll { CacheQuestion.conditions.contains($0.name) }
    return request
  }

  /// Whether the store still has this entry unchanged. It does not if another call has refreshed the entry.
  private static func isStill(_ entry: CacheEntry, _ trip: CacheLookupResult, _ state: CallState) async -> Bool {
    let question = trip.question
    let found = await trip.store.find(
      trip.key, choosing: { question.choice(among: $0) }, call: state,
      patience: Caching.patience(for: question.mode, isFollowed: true))
    guard case .found(let now) = found else { return false }
    return now.head.variant == entry.head.variant && now.head.responseTime == entry.head.responseTime
  }

  private static let refreshLimit = Duration.seconds(60)
}

extension CacheReport {
  init(_ status: CacheStatus, origin: ResponseOrigin, miss: CacheMiss? = nil) {
    self.init(origin: origin, miss: miss) { isCollapsed in
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

  func value(for rules: DecodedRules) -> (any Sendable)? { entry.decoded?.value(rules) }

  /// Keeps a decoded value. The size of the body is used as an estimate of the memory that the value takes.
  func keep(_ value: any Sendable, for rules: DecodedRules) {
    entry.decoded?.keep(value, rules, cost: entry.body.count)
  }

  func refuse() { store.remove(.variant(entry.key, entry.head.variant)) }
}
