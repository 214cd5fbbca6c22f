import ErrandCore

/// The result of the interceptor ``Caching`` for one request that passes the pipeline. The interceptor ``Storing`` uses
/// it. A class, so that passing it on is cheap.
final class CacheLookupResult: LookupNote {
  let store: any CacheStore
  let recipe: CacheKeyRecipe
  let key: CacheKey
  let question: CacheQuestion
  /// The generation at the time of the lookup: a number that each removal increments (see ``Generations``).
  let generation: UInt64
  /// The cookies from the jar that are part of the cache key.
  let cookies: String?
  /// Whether the cache key contains the account.
  let namesAccount: Bool
  /// The stored response to validate, and the way to validate it; nil if there is none.
  let asked: (entry: CacheEntry, how: CacheValidation)?
  /// The reason why the request is sent to the server.
  let forward: CacheForward

  init(
    store: any CacheStore, recipe: CacheKeyRecipe, key: CacheKey, question: CacheQuestion, generation: UInt64,
    cookies: String?, namesAccount: Bool, asked: (entry: CacheEntry, how: CacheValidation)? = nil,
    forward: CacheForward = .miss(.missing)
  ) {
    self.store = store
    self.recipe = recipe
    self.key = key
    self.question = question
    self.generation = generation
    self.cookies = cookies
    self.namesAccount = namesAccount
    self.asked = asked
    self.forward = forward
  }

  /// A copy with the reason why the request is sent to the server, and with the stored response to validate.
  func going(_ forward: CacheForward, asking asked: (entry: CacheEntry, how: CacheValidation)? = nil)
    -> CacheLookupResult
  {
    CacheLookupResult(
      store: store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      namesAccount: namesAccount, asked: asked, forward: forward)
  }

  /// A copy for the background refresh of a stored response under the same key.
  func refreshing(_ entry: CacheEntry, by question: CacheQuestion, _ generation: UInt64) -> CacheLookupResult {
    CacheLookupResult(
      store: store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      namesAccount: namesAccount, asked: (entry, question.validation(of: entry.head)), forward: .miss(.expired))
  }

  var hasStandIn: Bool { asked.map { $0.how.allowance != .none } ?? false }

  var joinMark: JoinMark { JoinMark(generation: generation, store: recipe.salt) }
}

/// Determines the owner of the stored responses of a call.
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

  /// The partition of a request that carries the cookies that are now in the jar.
  func partition(of request: HTTPRequest) -> CachePartition {
    partition(of: request, owner: owner(of: request, cookies: cookies(for: request)))
  }

  /// The partition of responses that do not depend on the account.
  var commonPartition: CachePartition {
    .of(account: nil, fields: HTTPFields(), transport: plan.transportIdentity)
  }

  /// The request from which the key is computed. It contains the cookies from the jar, and the credential that this
  /// call sends instead of the account's credential.
  func keyed(_ request: HTTPRequest, owner: String?, cookies: String?) -> HTTPRequest {
    let instead = owner == nil || request.fields.contains(.authorization) ? nil : instead(for: request.url.origin)
    if instead == nil, cookies == nil { return request }
    var request = request
    if let instead { request.fields.append(HTTPField(.authorization, instead, isSecret: true)) }
    if let cookies { request.fields.append(HTTPField(.cookie, cookies)) }
    return request
  }

  /// The value of `Authorization` that this call sends instead of the account's credential; empty if it sends none. Nil
  /// if the call sends the account's credential, or if the origin never receives that credential.
  private func instead(for origin: HTTPURL.Origin) -> String? {
    showsCredential(to: origin) || plan.credential == .inherited && !isAtHome(origin) ? plan.instead : ""
  }

  /// The current time on both clocks.
  func moment(_ wall: WallTime) -> CacheMoment { CacheMoment(wall: wall, monotonic: call.timers.now) }
}
