package import ErrandCore
import ErrandJSON
import ErrandSupport

/// Sends the request, with the fields that validate a stored response if there is one. Then stores the new response or
/// updates the stored one, and removes the entries that a success invalidates. Runs once for each exchange.
package struct Storing: SelectiveInterceptor {
  private let cache: ResponseCache?

  package init(cache: ResponseCache?) { self.cache = cache }

  /// Applies to calls with a ``CacheLookupResult``, and to unsafe methods.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    cache != nil && !context.plan.isStamping && (context.note is CacheLookupResult || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let cache else { return try await next(request) }
    guard let trip = context.note as? CacheLookupResult else {
      return try await changing(request, context, cache, next)
    }
    return try await visiting(trip, request, context, cache, next)
  }

  // The functions below are not inlined, so that their locals do not grow the async frame of a call that waits for the
  // server.

  /// An unsafe request invalidates the stored responses for its URL even if the call does not use the cache.
  @inline(never)  // frame size
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

  @inline(never)  // frame size
  private func visiting(
    _ trip: CacheLookupResult, _ request: HTTPRequest, _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> HTTPResponse {
    // A shared exchange may run longer than the call that did the lookup. So it registers the generation of the lookup
    // itself.
    cache.generations.withLock { $0.note(of: trip.generation) }
    defer { cache.generations.withLock { $0.giveBack(trip.generation) } }
    // If all calls have left the exchange before this registration, a removal in between may not have been remembered.
    try context.call.check()
    let visit = StoreUpdate(cache: cache, context: context, trip: trip, request: request)
    let (answered, times) = try await ask(
      request, trip.asked?.how.fields ?? trip.question.fieldsToAdd, context, cache, next)
    if answered.status == 304, trip.asked != nil {
      if let response = visit.confirmed(by: answered, times) { return response }
      // The 304 refers to another response. The request is sent again without the conditional fields that the cache
      // added, so that the caller receives a complete response.
      let (whole, times) = try await ask(request, trip.question.fieldsToAdd, context, cache, next)
      return try await visit.take(whole, times)
    }
    return try await visit.take(answered, times)
  }

  private func ask(
    _ request: HTTPRequest, _ fields: [HTTPField], _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> (HTTPResponse, StoreUpdate.Times) {
    var request = request
    for field in fields { request.fields.append(field) }
    let asked = context.moment(cache.wallClock())
    let response = try await next(request)
    let received = context.moment(cache.wallClock())
    return (
      response, StoreUpdate.Times(sent: Self.sent(context.record.begun, asked, received), received: received.wall)
    )
  }

  /// The time at which the request was sent that received the response. Waiting times and earlier attempts are left
  /// out, because they do not count for the age of the response.
  ///
  /// The time since the request was sent is measured on the monotonic clock. If the start was not recorded, the time
  /// before the exchange is used.
  private static func sent(_ begun: MonotonicInstant?, _ asked: CacheMoment, _ received: CacheMoment) -> WallTime {
    guard let begun, begun >= asked.monotonic else { return asked.wall }
    let distance = begun.duration(to: received.monotonic).clampedNanoseconds / 1_000_000
    return received.wall.advanced(byMilliseconds: -distance)
  }
}

/// Removes the entries that become invalid by the success of an unsafe method, from every store.
struct Invalidation {
  let cache: ResponseCache
  let context: CallContext
  let request: HTTPRequest

  /// Removes all entries for the URLs: for every method, cache model and folder. If a store cannot be reached, its
  /// entries are removed before the next lookup in it.
  func remove(_ urls: [HTTPURL], _ remove: (CacheSelection, any CacheStore) -> Void) async {
    guard !urls.isEmpty else { return }
    // Also remove the responses that were stored for all accounts.
    let partitions = Set([context.partition(of: request), context.commonPartition])
    let leftOut = context.plan.cacheKey.leftOut
    let removals = urls.flatMap { url in
      partitions.map { PendingRemovals.Removal.target(url, leftOut: leftOut, $0) }
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
