import ErrandSupport
import ErrandCore
import ErrandJSON
import Foundation

/// What is done with the answer of one exchange.
struct StoreVisit {
  /// When the request went out and the answer was there, on the wall clock.
  struct Times {
    let sent: WallTime
    let received: WallTime
  }

  let cache: ResponseCache
  let context: CallContext
  let trip: CacheTrip
  let request: HTTPRequest

  // MARK: - 304

  /// The stored answer, if a 304 is about it.
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

  // MARK: - Any other answer

  /// Stores the answer, removes what it makes worthless, and passes it on.
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

  private func store(_ response: HTTPResponse, _ answer: ReceivedAnswer, _ generation: UInt64) -> Bool {
    guard context.cache?.alias == nil else { return false }
    // The failure that a stored answer stands in for does not take its place.
    if let entry = trip.asked?.entry, Self.isFault(response.status), !Self.isFault(entry.head.answer.status) {
      return false
    }
    switch trip.question.storing(answer, tag: context.info.tag) {
    case .store(let head):
      return put(CacheEntry(key: trip.key, head: head, body: response.body), in: trip.store, generation)
    case .storeForGet(let head):
      return put(CacheEntry(key: keyForGet, head: head, body: response.body), in: trip.store, generation)
    case .refuse:
      // What the server no longer stands by is not kept beside what it says now.
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
      // Asked under the lock, so that no other response of this cache takes the room in between.
      isTaken = store.takes(entry)
      store.put(entry, handing: &$0)
    }
    let isStored = isCurrent && isTaken
    if isStored { cache.count { $0.stored += 1 } }
    return isStored
  }

  /// Under the lock that a removal takes: what is removed meanwhile is never stored after. What leaves the memory dies
  /// behind it.
  @discardableResult
  private func whileCurrent(
    _ generation: UInt64, _ key: CacheKey, _ label: CacheEntryLabel, _ body: (inout [MemoryShelf.Item]) -> Void
  ) -> Bool {
    let gone: [MemoryShelf.Item]? = cache.generations.withLock { generations in
      guard generations.admits(generation, key: key, label: label) else { return nil }
      var gone: [MemoryShelf.Item] = []
      body(&gone)
      return gone
    }
    return gone != nil
  }

  /// Returns the generation to store the answer in: what is stored of it, for GET or under another request, is a
  /// result of this exchange and outlives what this exchange makes worthless.
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

  /// An answer to HEAD says something about what GET stored.
  private func freshen(byHead answer: ReceivedAnswer) {
    guard request.method == .head, let entry = trip.asked?.entry else { return }
    apply(trip.question.freshening(of: entry.head, byHead: answer), to: entry)
  }

  private func received(_ response: HTTPResponse, _ times: Times) -> ReceivedAnswer {
    var answer = ReceivedAnswer(
      head: response.head, bodyLength: response.body.count,
      isAccepted: isFollowed(response) || context.plan.statusRule.accepts(response.status), requestTime: times.sent,
      responseTime: times.received, received: context.call.timers.now)
    answer.stamped = stamped(response)
    return answer
  }

  private func isFollowed(_ response: HTTPResponse) -> Bool {
    RedirectDecision.isFollowed(response, to: request, policy: context.plan.redirects)
  }

  /// The fields that `Vary` names and that an interceptor below has changed. What tells accounts apart is not looked at.
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

  /// Another request that the answer is stored under, and where.
  private struct Alias {
    let store: any CacheStore
    let key: CacheKey
    let question: CacheQuestion
  }

  /// Nil for a redirect that is followed: only what the call delivers is the other request's answer.
  private func alias(for response: HTTPResponse) async -> Alias? {
    guard let alias = context.cache?.alias, let model = alias.policy.model, !isFollowed(response) else { return nil }
    // The jar may hold others' cookies by now, so what was got with cookies has no place under another request.
    if trip.cookies != nil || context.cookies(for: alias.request) != nil { return nil }
    let opened = cache.store(for: alias.given)
    let salt = await cache.salt(of: opened, call: context.call, patience: Caching.saltPatience)
    guard let salt else { return nil }
    let shown = asShown(alias.request)
    let owner = context.owner(of: shown, cookies: nil)
    // What an account was given is not stored for every account.
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

  /// It is the answer to whoever shows what this request shows.
  private func asShown(_ other: HTTPRequest) -> HTTPRequest {
    var other = other
    other.fields.removeAll(where: \.isSecret)
    for field in request.fields.all where field.isSecret { other.fields.append(field) }
    return other
  }

  private func store(
    _ response: HTTPResponse, _ answer: ReceivedAnswer, _ generation: UInt64, under alias: Alias?
  ) -> Bool {
    guard let alias, case .store(let head) = alias.question.storing(answer, tag: context.info.tag) else { return false }
    return put(CacheEntry(key: alias.key, head: head, body: response.body), in: alias.store, generation)
  }

  // MARK: - The shape

  /// Under a declared lifetime nothing is kept that fails the shape; a large body is checked elsewhere. Where an
  /// interceptor of the app may turn the body, nobody can say here.
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
  /// The reason of a miss, where it was one.
  var miss: CacheMiss? {
    switch self {
    case .miss(let miss): miss
    case .bypass(.disabled): .disabled
    case .changed, .bypass: nil
    }
  }
}
