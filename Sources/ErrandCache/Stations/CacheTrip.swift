import ErrandCore

/// One way down as the cache sees it: what Caching found, for Storing to act on. An object, since every step has it.
final class CacheTrip: StationNote {
  let store: any CacheStore
  let recipe: CacheKeyRecipe
  let key: CacheKey
  let question: CacheQuestion
  /// The generation at look-up.
  let generation: UInt64
  /// The cookies of the jar that the key was made with.
  let cookies: String?
  /// Whether the key names the account.
  let namesAccount: Bool
  /// The stored answer that the server is asked about, and how.
  let asked: (entry: CacheEntry, how: CacheValidation)?
  /// Why the call went on.
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

  /// The same trip as it goes on to the server.
  func going(_ forward: CacheForward, asking asked: (entry: CacheEntry, how: CacheValidation)? = nil) -> CacheTrip {
    CacheTrip(
      store: store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      namesAccount: namesAccount, asked: asked, forward: forward)
  }

  /// A trip of its own for the same key, to ask about a stored answer in another request's words.
  func refreshing(_ entry: CacheEntry, by question: CacheQuestion, _ generation: UInt64) -> CacheTrip {
    CacheTrip(
      store: store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      namesAccount: namesAccount, asked: (entry, question.validation(of: entry.head)), forward: .miss(.expired))
  }

  var hasStandIn: Bool { asked.map { $0.how.allowance != .none } ?? false }

  var joinMark: JoinMark { JoinMark(generation: generation, store: recipe.salt) }
}

/// What is frozen about the account: whose responses they are.
extension CallContext {
  /// The account; without one the secret fields that are shown in its place, and the transport's identity.
  func partition(of request: HTTPRequest, owner: String?) -> CachePartition {
    var fields = request.fields
    if let own = plan.ownCredential, showsCredential(to: request.url.origin) {
      fields.append(HTTPField(.authorization, own, isSecret: true))
    }
    return .of(account: owner, fields: fields, transport: plan.transportIdentity)
  }

  /// The same with the cookies that the jar has now.
  func partition(of request: HTTPRequest) -> CachePartition {
    partition(of: request, owner: owner(of: request, cookies: cookies(for: request)))
  }

  /// The partition of what every account gets.
  var commonPartition: CachePartition {
    .of(account: nil, fields: HTTPFields(), transport: plan.transportIdentity)
  }

  /// A request as its key is made of it: with what this call shows in place of the account's credential, and the
  /// cookies of the jar.
  func keyed(_ request: HTTPRequest, owner: String?, cookies: String?) -> HTTPRequest {
    let instead = owner == nil || request.fields.contains(.authorization) ? nil : instead(for: request.url.origin)
    if instead == nil, cookies == nil { return request }
    var request = request
    if let instead { request.fields.append(HTTPField(.authorization, instead, isSecret: true)) }
    if let cookies { request.fields.append(HTTPField(.cookie, cookies)) }
    return request
  }

  /// What is shown in place of the account's credential, empty for nothing; nil where that one is shown, or never is.
  private func instead(for origin: HTTPURL.Origin) -> String? {
    showsCredential(to: origin) || plan.credential == .inherited && !isAtHome(origin) ? plan.instead : ""
  }

  /// The present on both clocks.
  func moment(_ wall: WallTime) -> CacheMoment { CacheMoment(wall: wall, monotonic: call.timers.now) }
}
