package import ErrandCore
import ErrandSupport
import Foundation

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
    let opened = cache.store(for: context.info.request)
    let patience = Self.patience(for: plan.mode, isFollowed: plan.isFollowed).map { max($0, Self.saltPatience) }
    guard let salt = await cache.salt(of: opened, call: context.call, patience: patience) else {
      return try await storeless(request, plan, opened, context, next)
    }
    let cookies = context.cookies(for: request)
    let owner = context.owner(of: request, cookies: cookies)
    let (recipe, key) = cache.keys.key(
      for: context.keyed(request, owner: owner, cookies: cookies), policy.model ?? .lifetime,
      context.keyRule(context.plan.cacheKey, for: request, owner: owner),
      context.partition(of: request, owner: owner), transport: context.plan.access.transportIdentity, salt: salt)
    let rules = CacheRules(
      request, policy: policy, mode: plan.mode, appVersion: plan.appVersion, salt: recipe.salt)
    let generation = cache.generations.withLock { $0.register() }
    defer { cache.generations.withLock { $0.unregister(generation) } }
    let lookupResult = CacheLookupResult(
      store: opened.store, recipe: recipe, key: key, rules: rules, generation: generation, cookies: cookies,
      namesAccount: owner != nil, wallClock: cache.wallClock)
    cache.count { $0.requests += 1 }
    return try await LookUp(cache: cache, context: context, next: next, request: request).run(lookupResult)
  }

  /// Handles a call that does not use the cache. The request is passed on if the call may contact the server.
  private func passing(_ request: HTTPRequest, _ plan: CachePlan, _ next: Next) async throws -> HTTPResponse {
    if plan.mode.usesOnlyCache { throw APIError.cacheMiss(.disabled) }
    return try await next(Self.forwarded(request, plan))
  }

  /// Handles a call whose store is unavailable. The request is passed on if the call may contact the server.
  private func storeless(
    _ request: HTTPRequest, _ plan: CachePlan, _ opened: OpenedStore, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    try context.call.check()
    let miss = CacheMiss.unavailable
    if plan.mode.usesOnlyCache { throw APIError.cacheMiss(miss) }
    let forward = CacheForward(miss, of: opened.store)
    guard CacheControl(request: request.fields).onlyIfCached else {
      context.note(.cache(.notServed(miss, reason: forward.reason)))
      let status = CacheStatus.forwarded(forward, status: nil, stored: false, collapsed: false)
      context.record.cached(CacheReport(status, origin: .network, miss: miss))
      return try await next(Self.forwarded(request, plan))
    }
    context.record.cached(CacheReport(.refused(forward), origin: .local, miss: miss))
    return HTTPResponse(head: CacheDecision.gatewayTimeout, url: request.url, from: .local)
  }

  /// The request to send without a cache lookup. ``Storing`` adds no fields to it.
  private static func forwarded(_ request: HTTPRequest, _ plan: CachePlan) -> HTTPRequest {
    var request = request
    for field in plan.mode.fieldsToAdd(to: request.fields) { request.fields.append(field) }
    return request
  }

  /// The longest time that a call waits for a store; nil for no limit. The time has no limit if the call may read only
  /// from the cache, or if the call needs a stored response in case the server fails. If `isFollowed` is true, the call
  /// contacts the server after the lookup, so the time is always limited.
  static func patience(for mode: CacheReadMode, isFollowed: Bool) -> Duration? {
    !isFollowed && (mode.usesOnlyCache || mode == .networkElseCached) ? nil : patience
  }
}

/// The result of the interceptor ``Caching`` for one request in the pipeline. The interceptor ``Storing`` uses this
/// result. The type is a class, so that passing it on copies only a reference.
final class CacheLookupResult: LookupResult {
  let store: any CacheStore
  let recipe: CacheKeyRecipe
  let key: CacheKey
  let rules: CacheRules
  /// The generation at the time of the lookup: a number that each removal increments (see ``Generations``).
  let generation: UInt64
  /// The cookies from the cookie jar that are part of the cache key.
  let cookies: String?
  /// Whether the cache key contains the account.
  let namesAccount: Bool
  private let wallClock: @Sendable () -> WallTime
  /// The stored response to validate, and the way to validate it; nil if no stored response is validated.
  let validating: (entry: CacheEntry, how: CacheValidation)?
  /// The reason why the request is sent to the server.
  let forward: CacheForward
  /// The stored response to serve if the server fails, and the longest staleness with which it may be served. Nil if the
  /// failure is delivered.
  let fallback: (entry: CacheEntry, allowance: StaleAllowance)?

  init(
    store: any CacheStore, recipe: CacheKeyRecipe, key: CacheKey, rules: CacheRules, generation: UInt64,
    cookies: String?, namesAccount: Bool, wallClock: @escaping @Sendable () -> WallTime,
    validating: (entry: CacheEntry, how: CacheValidation)? = nil, forward: CacheForward = .miss(.missing),
    fallback: CacheEntry? = nil
  ) {
    self.store = store
    self.recipe = recipe
    self.key = key
    self.rules = rules
    self.generation = generation
    self.cookies = cookies
    self.namesAccount = namesAccount
    self.wallClock = wallClock
    self.validating = validating
    self.forward = forward
    let entry = validating?.entry ?? fallback
    let allowance = validating?.how.allowance ?? fallback.map { rules.allowance(for: $0.head) } ?? .none
    self.fallback = allowance == .none ? nil : entry.map { ($0, allowance) }
  }

  /// A copy of the lookup result, with the reason why the request is sent to the server, and with the stored response to
  /// validate. If the request is sent unchanged instead, `fallback` is the stored response for the case that the server
  /// fails.
  func forwarding(
    _ forward: CacheForward, validating: (entry: CacheEntry, how: CacheValidation)? = nil, fallback: CacheEntry? = nil
  ) -> CacheLookupResult {
    CacheLookupResult(
      store: store, recipe: recipe, key: key, rules: rules, generation: generation, cookies: cookies,
      namesAccount: namesAccount, wallClock: wallClock, validating: validating, forward: forward, fallback: fallback)
  }

  /// A copy of the lookup result, for the background refresh of a stored response under the same key.
  func refreshing(_ entry: CacheEntry, by rules: CacheRules, _ generation: UInt64) -> CacheLookupResult {
    CacheLookupResult(
      store: store, recipe: recipe, key: key, rules: rules, generation: generation, cookies: cookies,
      namesAccount: namesAccount, wallClock: wallClock, validating: (entry, rules.validation(of: entry.head)),
      forward: .miss(.expired))
  }

  func hasFallbackResponse(after status: Int?, in context: CallContext) -> Bool {
    if fallback == nil { return false }
    return served(after: status.map { CacheFailure.status($0) } ?? .noResponse, at: context.moment(wallClock())) != nil
  }

  var joinMark: JoinMark { JoinMark(generation: generation, store: recipe.salt) }
}

/// A stored response that replaces a failure.
struct StaleFallback {
  let entry: CacheEntry
  let serving: CacheServing
  /// The requested part of the body; nil if no part is requested, or if the caller already has the response.
  let slice: Range<Int>?

  /// Whether the caller already has the response, so that it receives status 304 without a body.
  var isKnown: Bool { serving.head.status == 304 }
}

extension CacheLookupResult {
  /// The stored response that is served if the server fails in the given way at the given moment. Nil if it is then too
  /// stale, if the failure does not permit it, or if the requested range is outside of its body.
  func served(after failure: CacheFailure, at now: CacheMoment) -> StaleFallback? {
    guard let (entry, allowance) = fallback,
      let serving = rules.mayServe(entry.head, after: failure, by: allowance, at: now)
    else { return nil }
    let whole = StaleFallback(entry: entry, serving: serving, slice: nil)
    guard let range = rules.range, !whole.isKnown else { return whole }
    return range.slice(of: entry.body.count).map { StaleFallback(entry: entry, serving: serving, slice: $0) }
  }
}

/// Functions that determine the owner of the stored responses of a call, the request for the cache key, and the time.
extension CallContext {
  /// The partition of a request, that is, the owner of its stored responses: the account. Without an account, the owner
  /// is determined by the secret fields and the identity of the transport.
  func partition(of request: HTTPRequest, owner: String?) -> CachePartition {
    var fields = request.fields
    if let own = plan.access.ownCredential, showsCredential(to: request.url.origin) {
      fields.append(HTTPField(.authorization, own, isSecret: true))
    }
    return .of(account: owner, fields: fields, transport: plan.access.transportIdentity)
  }

  /// The partition (the owner) of a request that carries the cookies that are now in the cookie jar.
  func partition(of request: HTTPRequest) -> CachePartition {
    partition(of: request, owner: owner(of: request, cookies: cookies(for: request)))
  }

  /// The partition (the owner) of responses that do not depend on the account.
  var commonPartition: CachePartition {
    .of(account: nil, fields: HTTPFields(), transport: plan.access.transportIdentity)
  }

  /// The digests of the accounts whose entries do not belong to another account: that of the key, that of the account
  /// which is logged in, and that of the responses which belong to no account. A cookie or a field may decide for which
  /// of them a response is stored.
  func ownAccounts(of key: CacheKey, salt: [UInt8]) -> [Digest] {
    let own = account.map { CachePartition.account($0).digest(salt: salt) }
    return [key.account, own, commonPartition.digest(salt: salt)].reduce(into: []) { list, digest in
      if let digest, !list.contains(digest) { list.append(digest) }
    }
  }

  /// The request from which the cache key is computed. It contains the cookies from the cookie jar, and the credential
  /// that this call sends instead of the account's credential.
  func keyed(_ request: HTTPRequest, owner: String?, cookies: String?) -> HTTPRequest {
    let authorization =
      owner == nil || request.fields.contains(.authorization) ? nil : authorizationOverride(for: request.url.origin)
    if authorization == nil, cookies == nil { return request }
    var request = request
    if let authorization { request.fields.append(HTTPField(.authorization, authorization, isSecret: true)) }
    if let cookies { request.fields.append(HTTPField(.cookie, cookies)) }
    return request
  }

  /// The value of `Authorization` that this call sends instead of the account's credential; empty if the call sends no
  /// credential. Nil if the call sends the account's credential, or if the origin never receives that credential.
  private func authorizationOverride(for origin: HTTPURL.Origin) -> String? {
    showsCredential(to: origin) || plan.access.credential == .inherited && !allowsCredential(at: origin)
      ? plan.access.authorizationOverride : ""
  }

  /// Combines the given time on the wall clock with the current time on the monotonic clock.
  func moment(_ wall: WallTime) -> CacheMoment { CacheMoment(wall: wall, monotonic: call.timers.now) }
}
