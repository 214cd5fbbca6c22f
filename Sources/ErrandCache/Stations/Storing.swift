package import ErrandCore
import ErrandJSON
import ErrandSupport

/// Asks the server about what is stored, takes its 304, stores what comes, and removes what a success makes worthless:
/// once for each exchange.
package struct Storing: SelectiveStation {
  private let cache: ResponseCache?

  package init(cache: ResponseCache?) { self.cache = cache }

  /// Where the call has looked for a stored answer, or changes something.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    cache != nil && !context.plan.isStamping && (context.note is CacheTrip || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let cache else { return try await next(request) }
    guard let trip = context.note as? CacheTrip else { return try await changing(request, context, cache, next) }
    return try await visiting(trip, request, context, cache, next)
  }

  // What follows stands apart, so that a call that waits below holds no room for what it does not do.

  /// A call without the cache that changes something makes what is stored for its URL worthless, too.
  @inline(never)
  private func changing(
    _ request: HTTPRequest, _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> HTTPResponse {
    let response = try await next(request)
    let policy = context.cache?.policy(for: request) ?? .none
    let urls = CacheQuestion(request, policy: policy).invalidations(by: response.head)
    await Invalidation(cache: cache, context: context, request: request).remove(urls) { selection, store in
      cache.remove(selection, from: store)
    }
    return response
  }

  @inline(never)
  private func visiting(
    _ trip: CacheTrip, _ request: HTTPRequest, _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> HTTPResponse {
    // An exchange that is shared may outlive the call that looked up, and what that one has noted.
    cache.generations.withLock { $0.note(of: trip.generation) }
    defer { cache.generations.withLock { $0.giveBack(trip.generation) } }
    // Where all have left before this note, a removal may have come between.
    try context.call.check()
    let visit = StoreVisit(cache: cache, context: context, trip: trip, request: request)
    let (answered, times) = try await ask(
      request, trip.asked?.how.fields ?? trip.question.fieldsToAdd, context, cache, next)
    if answered.status == 304, trip.asked != nil {
      if let response = visit.confirmed(by: answered, times) { return response }
      // It is about something else: the caller, who asked no such question, gets a whole answer.
      let (whole, times) = try await ask(request, trip.question.fieldsToAdd, context, cache, next)
      return try await visit.take(whole, times)
    }
    return try await visit.take(answered, times)
  }

  private func ask(
    _ request: HTTPRequest, _ fields: [HTTPField], _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> (HTTPResponse, StoreVisit.Times) {
    var request = request
    for field in fields { request.fields.append(field) }
    let asked = context.moment(cache.wallClock())
    let response = try await next(request)
    let received = context.moment(cache.wallClock())
    return (response, StoreVisit.Times(sent: Self.sent(context.record.begun, asked, received), received: received.wall))
  }

  /// When the request went out that brought the answer: waits and earlier attempts are no part of the answer's age.
  ///
  /// How long ago that was is a distance of the monotonic clock. Where nobody noted it: when the server was to be
  /// asked.
  private static func sent(_ begun: MonotonicInstant?, _ asked: CacheMoment, _ received: CacheMoment) -> WallTime {
    guard let begun, begun >= asked.monotonic else { return asked.wall }
    let distance = begun.duration(to: received.monotonic).clampedNanoseconds / 1_000_000
    return received.wall.advanced(byMilliseconds: -distance)
  }
}

/// Removes from every store what the success of an unsafe method makes worthless.
struct Invalidation {
  let cache: ResponseCache
  let context: CallContext
  let request: HTTPRequest

  /// Has everything removed that is stored for the URLs, whatever the method, the model and the folder.
  /// From a store that cannot be reached it is removed before anything is looked for in it.
  func remove(_ urls: [HTTPURL], _ remove: (CacheSelection, any CacheStore) -> Void) async {
    guard !urls.isEmpty else { return }
    // What was stored for every account is as worthless as what was stored for this one.
    let partitions = Set([context.partition(of: request), context.commonPartition])
    let leftOut = context.plan.cacheKey.leftOut
    let removals = urls.flatMap { url in
      partitions.map { RemovalDebts.Removal.target(url, leftOut: leftOut, $0) }
    }
    for opened in cache.opened {
      guard let salt = await cache.salt(of: opened, call: context.call, patience: Caching.saltPatience) else {
        opened.owe(removals)
        continue
      }
      for removal in removals { remove(removal.selection(salt: salt), opened.store) }
    }
  }
}
