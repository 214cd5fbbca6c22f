import ErrandSupport
package import ErrandCore

/// Looks for a stored answer: serves it and turns back here, or lets the request go on with a note for ``Storing``.
package struct Caching: SelectiveStation {
  private let cache: ResponseCache?

  /// How long an ordinary call waits for a store that is busy.
  private static let patience = Duration.milliseconds(50)
  /// How long it waits for the first sign of a store, which may have to be made or reached.
  static let saltPatience = Duration.milliseconds(250)

  package init(cache: ResponseCache?) { self.cache = cache }

  /// Where somebody says something about the cache.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    context.cache != nil && !context.plan.isStamping
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let plan = context.cache else { return try await next(request) }
    let policy = plan.policy(for: request)
    guard let cache, request.isComparable, plan.mode != .withoutCache, policy.model != nil || plan.alias != nil else {
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
    let question = CacheQuestion(
      request, policy: policy, mode: plan.mode, appVersion: plan.appVersion, salt: recipe.salt)
    let generation = cache.generations.withLock { $0.note() }
    defer { cache.generations.withLock { $0.giveBack(generation) } }
    let trip = CacheTrip(
      store: opened.store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      namesAccount: owner != nil)
    cache.count { $0.requests += 1 }
    return try await LookUp(cache: cache, context: context, next: next, request: request).run(trip)
  }

  /// A call that has no use for the cache.
  private func passing(_ request: HTTPRequest, _ plan: CachePlan, _ next: Next) async throws -> HTTPResponse {
    if plan.mode.asksNobody { throw APIError.cacheMiss(.disabled) }
    return try await next(request)
  }

  /// A call whose store is out of reach.
  private func storeless(
    _ request: HTTPRequest, _ plan: CachePlan, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    try context.call.check()
    let miss = CacheMiss.unavailable
    if plan.mode.asksNobody { throw APIError.cacheMiss(miss) }
    guard CacheControl(request: request.fields).onlyIfCached else {
      let status = CacheStatus.forwarded(.miss(miss), status: nil, stored: false, collapsed: false)
      context.record.cached(CacheReport(status, origin: .network, miss: miss))
      return try await next(request)
    }
    context.record.cached(CacheReport(.refused(miss), origin: .local, miss: miss))
    return HTTPResponse(head: CacheDecision.gatewayTimeout, url: request.url, from: .local)
  }

  /// How long a call waits for a store; nil for its whole life, where nobody else is asked.
  static func patience(for mode: CacheReadMode, isFollowed: Bool) -> Duration? {
    !isFollowed && (mode.asksNobody || mode == .networkElseCached) ? nil : patience
  }
}
