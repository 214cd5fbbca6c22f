import ErrandSupport
package import ErrandCore

/// Looks for a stored response. If a stored response can be served, the next interceptor is not called. Otherwise the
/// request is passed on, with a ``CacheLookupResult`` for the interceptor ``Storing``.
package struct Caching: SelectiveInterceptor {
  private let cache: ResponseCache?

  /// The time that a call waits for a busy store before the request is sent to the server.
  private static let patience = Duration.milliseconds(50)
  /// The time that a call waits for the salt (random bytes) of a store. It is longer than ``patience``, because the
  /// store may have to be created or connected first.
  static let saltPatience = Duration.milliseconds(250)

  package init(cache: ResponseCache?) { self.cache = cache }

  /// Applies to calls for which the client, the request or the call configures a cache.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    context.cache != nil && !context.plan.isPreparing
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let plan = context.cache else { return try await next(request) }
    let policy = plan.policy(for: request)
    guard let cache, request.isComparable, plan.mode != .withoutCache, policy.model != nil || !plan.aliases.isEmpty
    else {
      return try await passing(request, plan, next)
    }
    let opened = cache.store(for: plan.request)
    let patience = Self.patience(for: plan.mode, isFollowed: plan.isFollowed).map { max($0, Self.saltPatience) }
    guard let salt = await cache.salt(of: opened, call: context.call, patience: patience) else {
      return try await storeless(request, plan, context, next)
    }
    let cookies = context.cookies(for: request)
    let owner = context.owner(of: request, cookies: cookies)
    let (recipe, key) = cache.keys.key(
      for: context.keyed(request, owner: owner, cookies: cookies), policy.model ?? .lifetime, plan.key,
      context.partition(of: request, owner: owner), transport: context.plan.transportIdentity, salt: salt)
    let rules = CacheRules(
      request, policy: policy, mode: plan.mode, appVersion: plan.appVersion, salt: recipe.salt)
    let generation = cache.generations.withLock { $0.register() }
    defer { cache.generations.withLock { $0.unregister(generation) } }
    let lookupResult = CacheLookupResult(
      store: opened.store, recipe: recipe, key: key, rules: rules, generation: generation, cookies: cookies,
      namesAccount: owner != nil)
    cache.count { $0.requests += 1 }
    return try await LookUp(cache: cache, context: context, next: next, request: request).run(lookupResult)
  }

  /// Handles a call that does not use the cache. The request is passed on if the call may contact the server.
  private func passing(_ request: HTTPRequest, _ plan: CachePlan, _ next: Next) async throws -> HTTPResponse {
    if plan.mode.usesOnlyCache { throw APIError.cacheMiss(.disabled) }
    return try await next(request)
  }

  /// Handles a call whose store is unavailable. The request is passed on if the call may contact the server.
  private func storeless(
    _ request: HTTPRequest, _ plan: CachePlan, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    try context.call.check()
    let miss = CacheMiss.unavailable
    if plan.mode.usesOnlyCache { throw APIError.cacheMiss(miss) }
    guard CacheControl(request: request.fields).onlyIfCached else {
      let status = CacheStatus.forwarded(.miss(miss), status: nil, stored: false, collapsed: false)
      context.record.cached(CacheReport(status, origin: .network, miss: miss))
      return try await next(request)
    }
    context.record.cached(CacheReport(.refused(miss), origin: .local, miss: miss))
    return HTTPResponse(head: CacheDecision.gatewayTimeout, url: request.url, from: .local)
  }

  /// The longest time that a call waits for a store; nil for no limit. The time has no limit if the call may read only
  /// from the cache, or if the call needs a stored response in case the server fails. If `isFollowed` is true, the call
  /// contacts the server after the lookup, so the time is always limited.
  static func patience(for mode: CacheReadMode, isFollowed: Bool) -> Duration? {
    !isFollowed && (mode.usesOnlyCache || mode == .networkElseCached) ? nil : patience
  }
}
