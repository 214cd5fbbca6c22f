import ErrandCore

/// One way down as the cache sees it: what Caching found, for Storing to act on.
struct CacheTrip: StationNote {
  let store: any CacheStore
  let recipe: CacheKeyRecipe
  let key: CacheKey
  let question: CacheQuestion
  /// The generation at look-up.
  let generation: UInt64
  /// The stored answer that the server is asked about, and how.
  var asked: (entry: CacheEntry, how: CacheValidation)?
  /// Why the call went on.
  var forward = CacheForward.miss(.missing)

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

  /// A request as its key is made of it: with what this call shows in place of the account's credential.
  func keyed(_ request: HTTPRequest) -> HTTPRequest {
    guard account != nil, let instead = plan.instead, !request.fields.contains(.authorization) else { return request }
    var request = request
    request.fields.append(HTTPField(.authorization, instead, isSecret: true))
    return request
  }

  /// The present on both clocks.
  func moment(_ wall: WallTime) -> CacheMoment { CacheMoment(wall: wall, monotonic: call.timers.now) }
}
