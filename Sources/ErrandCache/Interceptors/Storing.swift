package import ErrandCore
import ErrandJSON
import ErrandSupport

/// Sends the request, with the fields that validate a stored response if there is one. Then stores the new response or
/// updates the stored response, and removes the entries that a successful response invalidates. This interceptor runs
/// once for each exchange.
package struct Storing: SelectiveInterceptor {
  let cache: ResponseCache

  /// Applies to calls with a ``CacheLookupResult``, and to requests with unsafe methods, such as POST.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    !context.plan.isPreparing && (context.lookup is CacheLookupResult || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let lookupResult = context.lookup as? CacheLookupResult else {
      return try await changing(request, context, next)
    }
    return try await updating(lookupResult, request, context, next)
  }

  // The functions below are not inlined, so that their locals do not grow the async frame of a call that waits for the
  // server.

  /// Removes the stored responses that an unsafe request, such as POST, invalidates, even if the call does not use the
  /// cache.
  @inline(never)  // frame size
  private func changing(_ request: HTTPRequest, _ context: CallContext, _ next: Next) async throws -> HTTPResponse {
    let response = try await next(request)
    let policy = context.cache?.policy(for: request) ?? .none
    let removed = Invalidation.Removed(CacheRules(request, policy: policy), response, to: request, context)
    await Invalidation(cache: cache, context: context, request: request).remove(removed) { selection, store in
      cache.remove(selection, from: store)
    }
    return response
  }

  @inline(never)  // frame size
  private func updating(
    _ lookupResult: CacheLookupResult, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    // A shared exchange may run longer than the call that did the lookup. So the exchange also registers the generation
    // of the lookup (see ``Generations``).
    cache.generations.withLock { $0.register(with: lookupResult.generation) }
    defer { cache.generations.withLock { $0.unregister(lookupResult.generation) } }
    // All calls that share the exchange may have ended before this registration, and `generations` may have forgotten a
    // removal. `check` then throws, so that nothing is stored.
    try context.call.check()
    let update = StoreUpdate(cache: cache, context: context, lookupResult: lookupResult, request: request)
    let (received, times) = try await send(
      request, lookupResult.validating?.how.fields ?? lookupResult.rules.fieldsToAdd, context, next)
    if received.status == 304, lookupResult.validating != nil {
      if let response = update.confirmed(by: received, times) { return response }
      // The 304 response does not refer to the stored response. The request is sent again without the conditional
      // fields that the cache added, so that the caller receives a complete response.
      let (whole, times) = try await send(request, lookupResult.rules.fieldsToAdd, context, next)
      return try await update.take(whole, times)
    }
    return try await update.take(received, times)
  }

  private func send(
    _ request: HTTPRequest, _ fields: [HTTPField], _ context: CallContext, _ next: Next
  ) async throws -> (HTTPResponse, StoreUpdate.Times) {
    var request = request
    for field in fields { request.fields.append(field) }
    let started = context.moment(cache.wallClock())
    let response = try await next(request)
    let received = context.moment(cache.wallClock())
    return (
      response, StoreUpdate.Times(sent: Self.sent(context.record.begun, started, received), received: received.wall)
    )
  }

  /// The time at which the request for the received response was sent. Waiting times and earlier attempts are left out,
  /// because they do not count for the age of the response.
  ///
  /// The time since the start of the exchange is measured on the monotonic clock. If the start of the exchange was not
  /// recorded, the result is the time `started`, before the request was passed on.
  private static func sent(_ begun: MonotonicInstant?, _ started: CacheMoment, _ received: CacheMoment) -> WallTime {
    guard let begun, begun >= started.monotonic else { return started.wall }
    let distance = begun.duration(to: received.monotonic).clampedNanoseconds / 1_000_000
    return received.wall.advanced(byMilliseconds: -distance)
  }
}

/// Removes, from every store, the entries that become invalid because a request with an unsafe method succeeded.
struct Invalidation {
  let cache: ResponseCache
  let context: CallContext
  let request: HTTPRequest

  /// What a response makes invalid.
  struct Removed {
    let urls: [HTTPURL]
    let groups: [CacheGroup]

    init(_ rules: CacheRules, _ response: HTTPResponse, to request: HTTPRequest, _ context: CallContext) {
      let sending = context.plan.sending
      urls = rules.invalidations(by: response.head) { sending.homeURL(named: $0, in: response, to: request) }
      groups = rules.groupInvalidations(by: response.head)
    }

    var isEmpty: Bool { urls.isEmpty && groups.isEmpty }
  }

  /// Removes all entries for the URLs and in the groups: for every method, cache model and folder. If a store cannot be
  /// reached, its entries are removed before the next lookup in this store.
  func remove(_ removed: Removed, _ remove: (CacheSelection, any CacheStore) -> Void) async {
    if removed.isEmpty { return }
    // A removal by group contains no digest. So a store whose salt is not known yet keeps it itself, as one by tag. All
    // groups are one removal, because a store may have to read all of its entries for it.
    for opened in cache.opened {
      let groups = Set(removed.groups + opened.groupsOfEquivalents(of: removed.urls))
      if !groups.isEmpty { remove(.groups(groups), opened.store) }
    }
    await self.remove(removed.urls, remove)
  }

  private func remove(_ urls: [HTTPURL], _ remove: (CacheSelection, any CacheStore) -> Void) async {
    guard !urls.isEmpty else { return }
    // Also remove the responses that were stored for all accounts.
    let partitions = Set([context.partition(of: request).withoutSecrets, context.commonPartition])
    let leftOut = Set(context.plan.cacheKey.leftOut.map { ByteText($0) })
    let removals = urls.flatMap { url in
      partitions.map { PendingRemovals.Removal.target(url, leftOut: leftOut, $0) }
    }
    for opened in cache.opened {
      guard let salt = await cache.salt(of: opened, call: context.call, patience: Caching.saltPatience) else {
        opened.record(removals)
        continue
      }
      for removal in removals { remove(removal.selection(salt: salt), opened.store) }
    }
  }
}

extension OpenedStore {
  /// The groups of the responses that may be served for URLs equivalent to these. Empty if the store serves none, see
  /// ``CacheLookupResult/servesEquivalentURLs``.
  func groupsOfEquivalents(of urls: [HTTPURL]) -> [CacheGroup] {
    store is MemoryStore ? urls.map { CacheGroup.equivalents(of: $0) } : []
  }
}
