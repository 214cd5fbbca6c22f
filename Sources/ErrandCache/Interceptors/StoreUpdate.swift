import ErrandSupport
import ErrandCore
import ErrandJSON
import Foundation

/// Updates the cache with the response of one exchange.
struct StoreUpdate {
  /// The times at which the request was sent and the response was received, on the wall clock.
  struct Times {
    let sent: WallTime
    let received: WallTime
  }

  let cache: ResponseCache
  let context: CallContext
  let trip: CacheLookupResult
  let request: HTTPRequest

  // MARK: - 304

  /// Returns the stored response to serve if the 304 refers to it, and nil if it does not. Updates the stored response.
  func confirmed(by response: HTTPResponse, _ times: Times) -> HTTPResponse? {
    guard let entry = trip.asked?.entry else { return nil }
    let renewal = trip.question.renewal(of: entry.head, by: received(response, times))
    if !response.isUnowned { apply(renewal, to: entry) }
    guard let head = renewal.head else { return nil }
    let now = context.moment(times.received)
    let left = trip.question.freshness(of: head, at: now).secondsLeft
    let hasBody = request.method != .head
    cache.count {
      $0.revalidated += 1
      if hasBody { $0.bytesSaved += Int64(entry.body.count) }
    }
    context.record.cached(CacheReport(.validated(secondsLeft: left), origin: .revalidated))
    return HTTPResponse(
      head: CacheQuestion.served(head, at: now), body: hasBody ? entry.body : Data(), url: request.url,
      metrics: response.metrics
    ).coming(from: .revalidated, hit: hasBody ? CacheHit(entry, trip.store) : nil)
  }

  private func apply(_ renewal: CacheRenewal, to entry: CacheEntry) {
    switch renewal {
    case .renewed(let head):
      whileCurrent(trip.generation, trip.key, head.label) {
        trip.store.renew(trip.key, stored: entry.head.responseTime, head: head, handing: &$0)
      }
    case .last, .outdated: trip.store.remove(.variant(trip.key, entry.head.variant))
    case .unstored, .unrelated: break
    }
  }

  // MARK: - Any other response

  /// Stores the response, removes the entries that it invalidates, and returns it.
  func take(_ response: HTTPResponse, _ times: Times) async throws -> HTTPResponse {
    let answer = received(response, times)
    let keeps = await keepsShape(response)
    let alias = await alias(for: response)
    let generation = await invalidate(by: response, keeping: alias)
    if !response.isUnowned { freshen(byHead: answer) }
    let isStored =
      keeps && !response.isUnowned
      && (store(response, answer, generation) || store(response, answer, generation, under: alias))
    cache.count { $0.network += 1 }
    context.record.cached(
      CacheReport(
        .forwarded(forward(response), status: response.status, stored: isStored, collapsed: false), origin: .network,
        miss: trip.forward.miss))
    return response
  }

  private func forward(_ response: HTTPResponse) -> CacheForward {
    trip.asked == nil ? trip.forward : .changed
  }

  private func store(_ response: HTTPResponse, _ answer: ReceivedResponse, _ generation: UInt64) -> Bool {
    guard context.cache?.alias == nil else { return false }
    // Keep the stored response if the new one is a server error: the stored response may be served instead of the
    // error.
    if let entry = trip.asked?.entry, Self.isFault(response.status), !Self.isFault(entry.head.answer.status) {
      return false
    }
    switch trip.question.storing(answer, tag: context.info.tag) {
    case .store(let head):
      return put(CacheEntry(key: trip.key, head: head, body: response.body), in: trip.store, generation)
    case .storeForGet(let head):
      return put(CacheEntry(key: keyForGet, head: head, body: response.body), in: trip.store, generation)
    case .refuse:
      // The stored response is outdated. It is removed even though the new response is not stored.
      if trip.question.isOutdated(by: response.head) {
        if let entry = trip.asked?.entry {
          trip.store.remove(.variant(trip.key, entry.head.variant))
        } else if trip.question.mode == .ignoringCache {
          trip.store.remove(.key(trip.key))
        }
      }
      return false
    }
  }

  private static func isFault(_ status: Int) -> Bool { CacheFailure.status(status).isServersFault }

  private var keyForGet: CacheKey {
    let owner = trip.namesAccount ? context.account : nil
    return trip.recipe.keyForGet(insteadOf: context.keyed(request, owner: owner, cookies: trip.cookies))
  }

  private func put(_ entry: CacheEntry, in store: any CacheStore, _ generation: UInt64) -> Bool {
    var isTaken = false
    let isCurrent = whileCurrent(generation, entry.key, entry.head.label) {
      // Check this under the lock, so that no other response of this cache takes the space in between.
      isTaken = store.takes(entry)
      store.put(entry, handing: &$0)
    }
    let isStored = isCurrent && isTaken
    if isStored { cache.count { $0.stored += 1 } }
    return isStored
  }

  /// Runs the body under the lock that removals also take. So an entry is never stored after its removal. Items that
  /// are evicted from memory are released after the lock has been released.
  @discardableResult
  private func whileCurrent(
    _ generation: UInt64, _ key: CacheKey, _ label: CacheEntryLabel, _ body: (inout [MemoryEntries.Item]) -> Void
  ) -> Bool {
    let gone: [MemoryEntries.Item]? = cache.generations.withLock { generations in
      guard generations.admits(generation, key: key, label: label) else { return nil }
      var gone: [MemoryEntries.Item] = []
      body(&gone)
      return gone
    }
    return gone != nil
  }

  /// Removes the entries that the response invalidates. Returns the generation with which the response is stored. A
  /// response that is stored for GET or for another request is a result of this exchange, so the removal does not
  /// affect it.
  private func invalidate(by response: HTTPResponse, keeping alias: Alias?) async -> UInt64 {
    let urls = trip.question.invalidations(by: response.head)
    if urls.isEmpty { return trip.generation }
    let key = alias?.key ?? keyForGet
    let label = CacheEntryLabel(
      method: "", url: "", host: (alias?.question.url ?? request.url).host, tag: context.info.tag)
    var generation = trip.generation
    await Invalidation(cache: cache, context: context, request: request).remove(urls) { selection, store in
      generation = cache.remove(selection, from: store, by: generation, keeping: key, label)
    }
    return generation
  }

  /// Updates a stored response to GET with the fields of a response to HEAD.
  private func freshen(byHead answer: ReceivedResponse) {
    guard request.method == .head, let entry = trip.asked?.entry else { return }
    apply(trip.question.freshening(of: entry.head, byHead: answer), to: entry)
  }

  private func received(_ response: HTTPResponse, _ times: Times) -> ReceivedResponse {
    var answer = ReceivedResponse(
      head: response.head, bodyLength: response.body.count,
      isAccepted: isFollowed(response) || context.plan.statusRule.accepts(response.status), requestTime: times.sent,
      responseTime: times.received, received: context.call.timers.now)
    answer.stamped = stamped(response)
    return answer
  }

  private func isFollowed(_ response: HTTPResponse) -> Bool {
    RedirectDecision.isFollowed(response, to: request, policy: context.plan.redirects)
  }

  /// The names of fields in `Vary` whose values an interceptor below the cache changed. The fields for credentials and
  /// cookies are not compared.
  private func stamped(_ response: HTTPResponse) -> Set<String> {
    guard response.fields.contains("Vary"), let sent = context.record.sent?.fields else { return [] }
    let names = response.fields.values(of: "Vary").flatMap(FieldList.members).map { HTTPFieldName(String($0)) }
    let added = Set(trip.question.fieldsToAdd.map(\.name))
    let changed = names.filter { name in
      !added.contains(name) && name != .authorization && name != .cookie
        && !sent.values(of: name).haveSameBytes(as: trip.question.fields.values(of: name))
    }
    return Set(changed.map { $0.rawValue.lowercased() })
  }

  // MARK: - Under another request

  /// Another request for which the response is also stored, with the store and the key of that request.
  private struct Alias {
    let store: any CacheStore
    let key: CacheKey
    let question: CacheQuestion
  }

  /// The other request for which the response is also stored. Nil for a redirect that is followed, because only the
  /// final response belongs to the other request.
  private func alias(for response: HTTPResponse) async -> Alias? {
    guard let alias = context.cache?.alias, let model = alias.policy.model, !isFollowed(response) else { return nil }
    // A response to a request with cookies is not stored: the cookies in the jar may already belong to another user.
    if trip.cookies != nil || context.cookies(for: alias.request) != nil { return nil }
    let opened = cache.store(for: alias.given)
    let salt = await cache.salt(of: opened, call: context.call, patience: Caching.saltPatience)
    guard let salt else { return nil }
    let shown = asShown(alias.request)
    let owner = context.owner(of: shown, cookies: nil)
    // A response for one account must not be stored for all accounts.
    if owner == nil, trip.namesAccount { return nil }
    let recipe = CacheKeyRecipe(
      model: model, fields: alias.key.headers, leftOut: Array(alias.key.leftOut),
      partition: context.partition(of: shown, owner: owner), salt: salt.bytes,
      transport: context.plan.transportIdentity)
    let question = CacheQuestion(
      alias.request, policy: alias.policy, appVersion: trip.question.appVersion, salt: recipe.salt)
    let key = recipe.key(for: context.keyed(shown, owner: owner, cookies: nil))
    return Alias(store: opened.store, key: key, question: question)
  }

  /// The other request with the secret fields of this request. The response belongs to the caller whose secrets were
  /// sent.
  private func asShown(_ other: HTTPRequest) -> HTTPRequest {
    var other = other
    other.fields.removeAll(where: \.isSecret)
    for field in request.fields.all where field.isSecret { other.fields.append(field) }
    return other
  }

  private func store(
    _ response: HTTPResponse, _ answer: ReceivedResponse, _ generation: UInt64, under alias: Alias?
  ) -> Bool {
    guard let alias, case .store(let head) = alias.question.storing(answer, tag: context.info.tag) else { return false }
    return put(CacheEntry(key: alias.key, head: head, body: response.body), in: alias.store, generation)
  }

  // MARK: - The shape

  /// Whether the response matches the expected JSON shape. Under a declared lifetime, other responses are not stored. A
  /// large body is checked on the global executor. The check is skipped if an interceptor of the app may still change
  /// the body.
  private func keepsShape(_ response: HTTPResponse) async -> Bool {
    guard trip.question.policy.model != .http, (200...299).contains(response.status), let shape = context.plan.shape,
      context.cache?.bodiesAreFinal == true
    else { return true }
    if response.body.count <= Validating.inlineLimit { return (try? shape.check(data: response.body)) != nil }
    return await Self.checkElsewhere(shape, response)
  }

  private static func checkElsewhere(_ shape: JSONShape, _ response: HTTPResponse) async -> Bool {
    await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
      (try? shape.check(data: response.body)) != nil
    }
  }
}

extension CacheForward {
  /// The reason of the miss; nil if the request was sent for another reason than a miss.
  var miss: CacheMiss? {
    switch self {
    case .miss(let miss): miss
    case .bypass(.disabled): .disabled
    case .changed, .bypass: nil
    }
  }
}
