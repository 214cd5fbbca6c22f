import ErrandCore

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
  /// The stored response to validate, and the way to validate it; nil if no stored response is validated.
  let validating: (entry: CacheEntry, how: CacheValidation)?
  /// The reason why the request is sent to the server.
  let forward: CacheForward

  init(
    store: any CacheStore, recipe: CacheKeyRecipe, key: CacheKey, rules: CacheRules, generation: UInt64,
    cookies: String?, namesAccount: Bool, validating: (entry: CacheEntry, how: CacheValidation)? = nil,
    forward: CacheForward = .miss(.missing)
  ) {
    self.store = store
    self.recipe = recipe
    self.key = key
    self.rules = rules
    self.generation = generation
    self.cookies = cookies
    self.namesAccount = namesAccount
    self.validating = validating
    self.forward = forward
  }

  /// A copy of the lookup result, with the reason why the request is sent to the server and with the stored response to
  /// validate.
  func forwarding(_ forward: CacheForward, validating: (entry: CacheEntry, how: CacheValidation)? = nil)
    -> CacheLookupResult
  {
    CacheLookupResult(
      store: store, recipe: recipe, key: key, rules: rules, generation: generation, cookies: cookies,
      namesAccount: namesAccount, validating: validating, forward: forward)
  }

  /// A copy of the lookup result, for the background refresh of a stored response under the same key.
  func refreshing(_ entry: CacheEntry, by rules: CacheRules, _ generation: UInt64) -> CacheLookupResult {
    CacheLookupResult(
      store: store, recipe: recipe, key: key, rules: rules, generation: generation, cookies: cookies,
      namesAccount: namesAccount, validating: (entry, rules.validation(of: entry.head)), forward: .miss(.expired))
  }

  var hasFallbackResponse: Bool { validating.map { $0.how.allowance != .none } ?? false }

  var joinMark: JoinMark { JoinMark(generation: generation, store: recipe.salt) }
}

/// Functions that determine the owner of the stored responses of a call, the request for the cache key, and the time.
extension CallContext {
  /// The partition of a request, that is, the owner of its stored responses: the account. Without an account, the owner
  /// is determined by the secret fields and the identity of the transport.
  func partition(of request: HTTPRequest, owner: String?) -> CachePartition {
    var fields = request.fields
    if let own = plan.ownCredential, showsCredential(to: request.url.origin) {
      fields.append(HTTPField(.authorization, own, isSecret: true))
    }
    return .of(account: owner, fields: fields, transport: plan.transportIdentity)
  }

  /// The partition (the owner) of a request that carries the cookies that are now in the cookie jar.
  func partition(of request: HTTPRequest) -> CachePartition {
    partition(of: request, owner: owner(of: request, cookies: cookies(for: request)))
  }

  /// The partition (the owner) of responses that do not depend on the account.
  var commonPartition: CachePartition {
    .of(account: nil, fields: HTTPFields(), transport: plan.transportIdentity)
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
    showsCredential(to: origin) || plan.credential == .inherited && !allowsCredential(at: origin)
      ? plan.authorizationOverride : ""
  }

  /// Combines the given time on the wall clock with the current time on the monotonic clock.
  func moment(_ wall: WallTime) -> CacheMoment { CacheMoment(wall: wall, monotonic: call.timers.now) }
}
