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
  let lookupResult: CacheLookupResult
  let request: HTTPRequest

  // MARK: - 304

  /// Handles a 304 response. If the 304 response refers to the stored response, updates the stored response and returns
  /// it. Otherwise returns nil.
  func confirmed(by response: HTTPResponse, _ times: Times) -> HTTPResponse? {
    guard let entry = lookupResult.validating?.entry else { return nil }
    let renewal = lookupResult.rules.renewal(of: entry.head, by: received(response, times))
    if !response.mustNotBeStored { apply(renewal, to: entry) }
    guard let head = renewal.head else { return nil }
    let now = context.moment(times.received)
    let freshness = lookupResult.rules.freshness(of: head, at: now)
    let left = freshness.secondsLeft
    let hasBody = request.method != .head
    cache.count {
      $0.revalidated += 1
      if hasBody { $0.bytesSaved += Int64(entry.body.count) }
    }
    context.record.cached(
      CacheReport(.validated(lookupResult.forward, secondsLeft: left), origin: .revalidated, fields: head.answer.fields)
    )
    context.note(.cache(.revalidated(freshFor: freshness.timeLeft)))
    return HTTPResponse(
      head: CacheRules.served(head, at: now), body: hasBody ? entry.body : Data(), url: request.url,
      metrics: response.metrics
    ).coming(from: .revalidated, hit: hasBody ? CacheHit(entry, lookupResult.store) : nil)
  }

  private func apply(_ renewal: CacheRenewal, to entry: CacheEntry) {
    switch renewal {
    case .renewed(let head):
      whileCurrent(lookupResult.generation, lookupResult.key, head, received: entry.head.responseTime) {
        lookupResult.store.renew(lookupResult.key, stored: entry.head.responseTime, head: head, handing: &$0)
      }
      remember(head)
    case .last, .outdated: removeStored()
    case .unstored, .unrelated: break
    }
  }

  // MARK: - Any other response

  /// Stores the response, removes the entries that the response invalidates, and returns the response.
  func take(_ response: HTTPResponse, _ times: Times) async throws -> HTTPResponse {
    let received = received(response, times)
    let keeps = await keepsShape(response)
    let aliases = await aliases(for: response)
    let entries = await invalidate(by: response, keeping: aliases, received: times.received)
    forgetEquivalentURLs()
    if !response.mustNotBeStored { await freshen(byHead: received) }
    if !keeps { context.note(.cache(.notStored(reason: "the body does not have the JSON shape of the request"))) }
    if response.mustNotBeStored {
      context.note(.cache(.notStored(reason: "the response may belong to another account or rejects its credential")))
    }
    let isStored = keeps && !response.mustNotBeStored && store(response, received, entries, under: aliases)
    cache.count { $0.network += 1 }
    context.record.cached(
      CacheReport(
        .forwarded(forward, status: response.status, stored: isStored, collapsed: false), origin: .network,
        miss: lookupResult.forward.miss, fields: response.fields))
    return response
  }

  /// The reason why the request was sent. A stored response without a validator could not be validated.
  private var forward: CacheForward {
    lookupResult.validating?.how.isConditional == true ? .changed(lookupResult.forward) : lookupResult.forward
  }

  /// Stores the response under its own key and under the keys of the other requests. Returns whether any entry was
  /// stored.
  /// - Parameter entries: The result of ``invalidate(by:keeping:received:)``.
  private func store(
    _ response: HTTPResponse, _ received: ReceivedResponse, _ entries: [Generations.Pending], under aliases: [Alias]
  ) -> Bool {
    var isStored = store(response, received, entries[0].generation)
    for (alias, entry) in zip(aliases, entries.dropFirst()) {
      isStored = store(response, received, entry.generation, under: alias) || isStored
    }
    return isStored
  }

  private func store(_ response: HTTPResponse, _ received: ReceivedResponse, _ generation: UInt64) -> Bool {
    guard context.cache?.storesOwn != false else { return false }
    // Keep the stored response if the new response is a server error, because the cache may serve the stored response
    // instead of the error.
    if let entry = lookupResult.validating?.entry ?? lookupResult.fallback?.entry, Self.isFault(response.status),
      !Self.isFault(entry.head.answer.status)
    {
      context.note(.cache(.notStored(reason: "the server failed, and the stored response may be served instead")))
      return false
    }
    switch lookupResult.rules.storing(received, tag: context.info.tag) {
    case .store(let head):
      let entry = CacheEntry(key: lookupResult.key, head: head, body: response.body)
      let isStored = put(entry, in: lookupResult.store, generation)
      if isStored { remember(head) }
      return isStored
    case .storeForGet(let head):
      return put(CacheEntry(key: keyForGet, head: head, body: response.body), in: lookupResult.store, generation)
    case .refuse(let refusal):
      context.note(.cache(.notStored(reason: refusal.clause)))
      // The stored response is removed if the new response shows that it is outdated, even though the new response is
      // not stored.
      let mayBeStored = lookupResult.validating != nil || lookupResult.forward.isBypass && refusal != .disabled
      if mayBeStored, lookupResult.rules.isOutdated(by: response.head) { removeStored() }
      return false
    }
  }

  /// Removes the stored response, which is outdated, and all other variants under its key. If `Vary` has changed, an
  /// older variant also matches the request, and would be found next.
  private func removeStored() { lookupResult.store.remove(.key(lookupResult.key)) }

  /// Makes a stored response known to lookups for equivalent URLs, if it declares `No-Vary-Search`.
  private func remember(_ head: CacheEntryHead) {
    guard lookupResult.servesEquivalentURLs, let variation = SearchVariation(head.answer.fields) else { return }
    let entry = lookupResult.digest(variation, request, context)
    cache.searches.withLock { $0.insert(lookupResult.rules.url, variation, entry: entry, key: lookupResult.key) }
  }

  /// Forgets the responses for equivalent URLs, because the response of this exchange is newer.
  private func forgetEquivalentURLs() {
    guard lookupResult.servesEquivalentURLs else { return }
    let rules = lookupResult.rules
    for variation in cache.searches.withLock({ $0.variations(of: rules.url) }) {
      let entry = lookupResult.digest(variation, request, context)
      cache.searches.withLock { $0.forget(rules.url, variation, entry: entry) }
    }
  }

  private static func isFault(_ status: Int) -> Bool { CacheFailure.status(status).isServersFault }

  private var keyForGet: CacheKey {
    let owner = lookupResult.namesAccount ? context.account : nil
    return lookupResult.recipe.keyForGet(insteadOf: context.keyed(request, owner: owner, cookies: lookupResult.cookies))
  }

  private func put(_ entry: CacheEntry, in store: any CacheStore, _ generation: UInt64) -> Bool {
    var isTaken = false
    let isCurrent = whileCurrent(generation, entry.key, entry.head, received: entry.head.responseTime) {
      // `takes` and `put` are called under one lock. So this cache stores no other response between the two calls.
      isTaken = store.takes(entry)
      store.put(entry, handing: &$0)
    }
    let isStored = isCurrent && isTaken
    if isStored { cache.count { $0.stored += 1 } }
    noteStored(entry, isCurrent: isCurrent, isTaken: isTaken)
    return isStored
  }

  private func noteStored(_ entry: CacheEntry, isCurrent: Bool, isTaken: Bool) {
    guard context.record.flight != nil else { return }
    if isCurrent, isTaken {
      let freshness = lookupResult.rules.freshness(of: entry.head, at: context.moment(entry.head.responseTime))
      context.note(.cache(.stored(freshFor: freshness.timeLeft)))
    } else {
      let reason = isCurrent ? "the store does not take the response" : "stored responses were removed in the meantime"
      context.note(.cache(.notStored(reason: reason)))
    }
  }

  /// Runs `body` under a lock if no removal since the lookup affects the entry. Returns whether `body` was run.
  /// Removals take the same lock, so an entry is never stored after its removal. Items that are evicted from memory are
  /// released after the lock has been released.
  @discardableResult
  private func whileCurrent(
    _ generation: UInt64, _ key: CacheKey, _ head: CacheEntryHead, received: WallTime,
    _ body: (inout [MemoryEntries.Item]) -> Void
  ) -> Bool {
    let gone: [MemoryEntries.Item]? = cache.generations.withLock { generations in
      let isAdmitted = generations.admits(
        generation, key: key, label: head.label, received: received, groups: head.memberships)
      guard isAdmitted else { return nil }
      var gone: [MemoryEntries.Item] = []
      body(&gone)
      return gone
    }
    return gone != nil
  }

  /// Removes the entries that the response invalidates, except the entries that this exchange is about to store.
  /// Returns the latter with the generations with which they are stored (see ``Generations``): first its own entry,
  /// which belongs to a GET request, then the entries of the other requests.
  private func invalidate(
    by response: HTTPResponse, keeping aliases: [Alias], received: WallTime
  ) async -> [Generations.Pending] {
    let removed = Invalidation.Removed(lookupResult.rules, response, to: request, context)
    // Without a removal, only the generation is used, and computing the other key would take time.
    let targets =
      [(removed.isEmpty ? lookupResult.key : keyForGet, request.url)] + aliases.map { ($0.key, $0.rules.url) }
    var entries = targets.map { key, url in
      let label = CacheEntryLabel(method: "", url: "", host: url.host, tag: context.info.tag)
      let groups = removed.isEmpty ? [] : CacheGroup.memberships(response.fields, of: url)
      return Generations.Pending(key: key, label: label, groups: groups, generation: lookupResult.generation)
    }
    if removed.isEmpty { return entries }
    await Invalidation(cache: cache, context: context, request: request).remove(removed) { selection, store in
      cache.remove(selection, from: store, keeping: &entries, received: received)
    }
    return entries
  }

  /// Updates a stored response to GET with the fields of a response to HEAD.
  private func freshen(byHead received: ReceivedResponse) async {
    guard request.method == .head, received.head.status == 200, let entry = await storedForGet(received) else { return }
    apply(lookupResult.rules.freshening(of: entry.head, byHead: received), to: entry)
  }

  /// The newest stored response to GET that could be served for this request to HEAD. If the lookup has not selected it,
  /// because the call does not read stored responses or a response to HEAD is newer, it is looked up now. A response that
  /// was stored after this request was sent is newer than the response to HEAD, and is not returned.
  private func storedForGet(_ received: ReceivedResponse) async -> CacheEntry? {
    let (rules, validated) = (lookupResult.rules, lookupResult.validating?.entry)
    if let validated, validated.head.isForGet { return validated }
    guard validated != nil || lookupResult.forward.isBypass else { return nil }
    let found = await lookupResult.store.find(
      lookupResult.key,
      choosing: { heads in
        heads.firstIndex {
          $0.isForGet && $0.responseTime <= received.requestTime && rules.choice(among: [$0]) != nil
        }
      },
      call: context.call, patience: Caching.patience(for: rules.mode, isFollowed: true))
    if case .found(let entry) = found { return entry }
    return nil
  }

  private func received(_ response: HTTPResponse, _ times: Times) -> ReceivedResponse {
    var received = ReceivedResponse(
      head: response.head, bodyLength: response.body.count,
      isAccepted: isFollowed(response) || context.plan.rules.status.accepts(response.status), requestTime: times.sent,
      responseTime: times.received, received: context.call.timers.now)
    received.changedFields = changedFields(response)
    return received
  }

  private func isFollowed(_ response: HTTPResponse) -> Bool {
    RedirectDecision.isFollowed(response, to: request, policy: context.plan.sending.redirects)
  }

  /// The names of fields in `Vary` whose values an interceptor between the cache and the server changed. The fields for
  /// credentials and cookies are not compared.
  private func changedFields(_ response: HTTPResponse) -> Set<String> {
    guard response.fields.contains("Vary"), let sent = context.record.sent?.fields else { return [] }
    let names = response.fields.values(of: "Vary").flatMap(FieldList.members).map { HTTPFieldName(String($0)) }
    let added = Set(lookupResult.rules.fieldsToAdd.map(\.name))
    let changed = names.filter { name in
      !added.contains(name) && name != .authorization && name != .cookie
        && !sent.values(of: name).haveSameBytes(as: lookupResult.rules.fields.values(of: name))
    }
    return Set(changed.map { $0.rawValue.lowercased() })
  }

  // MARK: - Under another request

  /// The store, the key and the cache rules of another request for which the response is stored.
  private struct Alias {
    let store: any CacheStore
    let key: CacheKey
    let rules: CacheRules

    /// Whether the sent request has the other request's values of the fields that `Vary` names, so that the other
    /// request would receive the same response. Credentials and cookies are not compared: the key contains those of
    /// the sent request.
    func hasSameFields(as sent: HTTPFields, varying: [VaryingField]) -> Bool {
      let compared = varying.filter { !["authorization", "cookie"].contains($0.name) }
      return Varying.matches(compared, sent, salt: rules.salt)
    }
  }

  /// The other requests of the cache plan for which the response may be stored. Empty for a redirect that is followed,
  /// because only the final response is stored.
  private func aliases(for response: HTTPResponse) async -> [Alias] {
    guard let planned = context.cache?.aliases, !planned.isEmpty, !isFollowed(response) else { return [] }
    var aliases: [Alias] = []
    for alias in planned {
      if let alias = await self.alias(alias) { aliases.append(alias) }
    }
    return aliases
  }

  /// The store, the key and the cache rules of another request. Nil if the response must not be stored for it.
  private func alias(_ alias: CacheAlias) async -> Alias? {
    guard let model = alias.policy.model else { return nil }
    // The cookies in the jar may already belong to another user. So a response to a request with cookies is stored only
    // for the sent request, never for another request.
    if lookupResult.cookies != nil || context.cookies(for: alias.request) != nil { return nil }
    let opened = cache.store(for: alias.given)
    let salt = await cache.salt(of: opened, call: context.call, patience: Caching.saltPatience)
    guard let salt else { return nil }
    let shown = asShown(alias.request)
    let owner = context.owner(of: shown, cookies: nil)
    // A response for one account must not be stored for all accounts.
    if owner == nil, lookupResult.namesAccount { return nil }
    let rule = context.keyRule(alias.key, for: shown, owner: owner)
    let recipe = CacheKeyRecipe(
      model: model, fields: rule.headers, leftOut: Array(rule.leftOut),
      partition: context.partition(of: shown, owner: owner), salt: salt.bytes,
      transport: context.plan.access.transportIdentity)
    let rules = CacheRules(
      alias.request, policy: alias.policy, appVersion: lookupResult.rules.appVersion, salt: recipe.salt)
    let key = recipe.key(for: context.keyed(shown, owner: owner, cookies: nil))
    return Alias(store: opened.store, key: key, rules: rules)
  }

  /// Returns `other` with the secret fields of the sent request. The response belongs to the user whose secrets were
  /// sent.
  private func asShown(_ other: HTTPRequest) -> HTTPRequest {
    var other = other
    other.fields.removeAll(where: \.isSecret)
    for field in request.fields.all where field.isSecret { other.fields.append(field) }
    return other
  }

  private func store(
    _ response: HTTPResponse, _ received: ReceivedResponse, _ generation: UInt64, under alias: Alias
  ) -> Bool {
    guard case .store(let head) = alias.rules.storing(received, tag: context.info.tag),
      alias.hasSameFields(as: lookupResult.rules.fields, varying: head.vary)
    else { return false }
    let generation = barringOlder(than: head, generation, under: alias)
    return put(CacheEntry(key: alias.key, head: head, body: response.body), in: alias.store, generation)
  }

  /// After a request that changes something, prevents exchanges of the other request that began before from replacing
  /// the new response. Returns the generation with which the new response is stored.
  private func barringOlder(than head: CacheEntryHead, _ generation: UInt64, under alias: Alias) -> UInt64 {
    guard !request.method.isSafe, lookupResult.rules.followsHTTPRules else { return generation }
    var entries = [
      Generations.Pending(key: alias.key, label: head.label, groups: head.memberships, generation: generation)
    ]
    cache.remove(.key(alias.key), from: alias.store, keeping: &entries, received: head.responseTime)
    return entries[0].generation
  }

  // MARK: - The shape

  /// Whether the response has the JSON shape that the request expects. If not, the response is not stored. The check is
  /// skipped if the cache policy is only the rules of HTTP, or if an interceptor of the app may still change the body.
  /// A large body is checked on the global executor.
  private func keepsShape(_ response: HTTPResponse) async -> Bool {
    guard lookupResult.rules.policy.model != .http, (200...299).contains(response.status),
      let shape = context.plan.rules.shape,
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

extension CacheEntryHead {
  /// Whether the response is one to GET, which has a body, and not one to HEAD.
  fileprivate var isForGet: Bool { label.method != HTTPMethod.head.rawValue }
}

extension CacheForward {
  /// Whether the request was sent without reading stored responses.
  fileprivate var isBypass: Bool { if case .bypass = self { true } else { false } }

  /// The reason of a cache miss; nil if the request was sent to the server for another reason than a miss.
  var miss: CacheMiss? {
    switch self {
    case .miss(let miss): miss
    case .unavailable: .unavailable
    case .bypass(.disabled): .disabled
    case .changed(let reason): reason.miss
    case .requested, .bypass: nil
    }
  }
}
