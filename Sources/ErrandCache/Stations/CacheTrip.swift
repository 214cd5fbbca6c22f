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
  /// The stored answer that the server is asked about, and how.
  let asked: (entry: CacheEntry, how: CacheValidation)?
  /// Why the call went on.
  let forward: CacheForward

  init(
    store: any CacheStore, recipe: CacheKeyRecipe, key: CacheKey, question: CacheQuestion, generation: UInt64,
    cookies: String?, asked: (entry: CacheEntry, how: CacheValidation)? = nil, forward: CacheForward = .miss(.missing)
  ) {
    self.store = store
    self.recipe = recipe
    self.key = key
    self.question = question
    self.generation = generation
    self.cookies = cookies
    self.asked = asked
    self.forward = forward
  }

  /// The same trip as it goes on to the server.
  func going(_ forward: CacheForward, asking asked: (entry: CacheEntry, how: CacheValidation)? = nil) -> CacheTrip {
    CacheTrip(
      store: store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      asked: asked, forward: forward)
  }

  /// A trip of its own for the same key, to ask about a stored answer in another request's words.
  func refreshing(_ entry: CacheEntry, by question: CacheQuestion, _ generation: UInt64) -> CacheTrip {
    CacheTrip(
      store: store, recipe: recipe, key: key, question: question, generation: generation, cookies: cookies,
      asked: (entry, question.validation(of: entry.head)), forward: .miss(.expired))
  }

  var hasStandIn: Bool { asked.map { $0.how.allowance != .none } ?? false }

  var joinMark: JoinMark { JoinMark(generation: generation, store: recipe.salt) }
}

/// What is frozen about the account: whose answers they are.
extension CallContext {
  /// The account; without one the credential that is shown in its place.
  func partition(of request: HTTPRequest) -> CachePartition {
    var fields = request.fields
    if let own = plan.ownCredential { fields.append(HTTPField(.authorization, own, isSecret: true)) }
    return .of(account: account, fields: fields)
  }

  /// A request as its key is made of it: with what this call shows in place of the account's credential, and the
  /// cookies of the jar.
  func keyed(_ request: HTTPRequest, with cookies: String?) -> HTTPRequest {
    let instead = account == nil || request.fields.contains(.authorization) ? nil : plan.instead
    if instead == nil, cookies == nil { return request }
    var request = request
    if let instead { request.fields.append(HTTPField(.authorization, instead, isSecret: true)) }
    if let cookies { request.fields.append(HTTPField(.cookie, cookies)) }
    return request
  }

  /// The present on both clocks.
  func moment(_ wall: WallTime) -> CacheMoment { CacheMoment(wall: wall, monotonic: call.timers.now) }
}
