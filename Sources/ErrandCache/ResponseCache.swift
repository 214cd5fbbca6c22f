public import ErrandCore
import ErrandSupport
public import Foundation

/// Stores responses and serves them to later requests, according to the ``ErrandCore/CachePolicy`` of each request.
///
/// ```swift
/// configuration.cache.store = .disk(at: cachesFolder.appending(path: "api"), limit: 200 << 20)
/// ```
///
/// Several clients may share one cache. A cache never fails a call: if a store is broken, full or unavailable, more
/// responses have to be loaded from the server.
public final class ResponseCache: ClientCache {
  private let stores: CacheFolders
  let generations = Locked(Generations())
  let refreshes = RefreshTable()
  let keys = KeyMemo()
  let searches = Locked(SearchTable())
  private let counters = Locked(CacheStatistics())
  package let wallClock: @Sendable () -> WallTime

  init(stores: CacheFolders, wallClock: @escaping @Sendable () -> WallTime = { .now }) {
    self.stores = stores
    self.wallClock = wallClock
  }

  /// Makes a cache that keeps its responses in a store: one of the library's stores, or a custom one.
  /// - Parameters:
  ///   - store: The store.
  ///   - wallClock: Returns the current time, by which ages, lifetimes and dates of responses are judged. Tests pass a
  ///     function of their own; see also ``ErrandCore/ClientConfiguration/timers``, because a lifetime ends by the
  ///     clock that runs faster.
  public convenience init(store: any CacheStore, wallClock: @escaping @Sendable () -> WallTime = { .now }) {
    self.init(stores: CacheFolders(store: store), wallClock: wallClock)
  }

  /// Makes a cache that stores responses in a disk folder, with a memory cache in front of the folder.
  ///
  /// Caches of one process that use the same folder share the store on disk; each has a separate memory cache.
  /// - Parameters:
  ///   - folder: The folder of the cache. It is created if it does not exist, and is private to the user. Several
  ///     processes may share it.
  ///   - limit: The maximum size of everything in one folder, in bytes.
  ///   - memory: The maximum size of the memory cache in front of each folder, in bytes.
  ///   - entryLimit: The maximum size of one entry on disk, in bytes; nil for 5 % of the limit.
  ///   - sealing: Encrypts response bodies on disk; nil writes them unchanged.
  ///   - filters: Choose other folders for certain requests. The filters are applied in order.
  ///   - folders: All folders that the filters may return. Without this list, a folder is opened only when a request
  ///     uses it, and a removal, a logout or a list of entries does not see entries that an earlier run of the program
  ///     stored there.
  ///   - wallClock: Returns the current time, by which ages, lifetimes and dates of responses are judged.
  public convenience init(
    folder: URL, limit: Int = 100 << 20, memory: Int = 16 << 20, entryLimit: Int? = nil, sealing: BodySealing? = nil,
    filters: [CacheFolderFilter] = [], folders: [URL] = [], wallClock: @escaping @Sendable () -> WallTime = { .now }
  ) {
    let stores = CacheFolders(folder: folder, filters: filters, known: folders) { folder in
      TieredStore(
        memory: MemoryStore(limit: memory),
        base: SQLiteStore(folder: folder, limit: limit, entryLimit: entryLimit, sealing: sealing))
    }
    self.init(stores: stores, wallClock: wallClock)
  }

  package var lookUp: any Interceptor { Caching(cache: self) }

  package var storing: any Interceptor { Storing(cache: self) }

  /// The store that the folder filters choose for a request.
  func store(for request: any APIRequest) -> OpenedStore { stores.store(for: request) }

  var opened: [OpenedStore] { stores.opened }

  /// The salt of a store: random bytes that are part of every digest. Before the salt is returned, removals that waited
  /// for the salt are applied. Nil if the call was stopped, if the time `patience` ended, or if the store can store
  /// nothing now.
  func salt(of opened: OpenedStore, call: CallState, patience: Duration?) async -> Digest? {
    guard let salt = await opened.store.salt(call: call, patience: patience) else { return nil }
    opened.applyPendingRemovals(salt: salt) { remove($0, from: opened.store) }
    return salt
  }

  // MARK: - Removing

  /// Removes all entries.
  public func removeAll() { remove(.all) }

  /// Removes all entries whose responses were sent by a host, on all ports. Upper case does not matter, a name may have
  /// letters beyond ASCII, and an IPv6 address may be in brackets.
  public func removeAll(host: String) { remove(.entries(ofHost: host)) }

  /// Removes all entries that calls with this tag stored.
  public func removeAll(tag: String) { remove(.tag(tag)) }

  /// Removes all entries that were received before a point in time. Responses that arrive after this call are stored,
  /// even if the point in time is in the future.
  public func removeAll(olderThan moment: Date) {
    remove(.olderThan(WallTime(moment)))
  }

  /// Removes all entries of an account, by the name that the credential provider uses. Exchanges in progress do not
  /// store responses for the account.
  ///
  /// If a store cannot be reached, its entries are removed before the next lookup in this store. The call waits at most
  /// 250 ms for all stores together. ``removals(patience:)`` reports whether the removal is complete, and whether the
  /// removal will be completed even if the process ends.
  public func removeAll(account: String) async {
    let removal = PendingRemovals.Removal.account(ByteText(account))
    let end = CallState().timers.now.advanced(by: Caching.saltPatience)
    await withTaskGroup(of: Void.self) { group in
      for opened in stores.opened {
        group.addTask { await self.remove(removal, from: opened, until: end) }
      }
    }
  }

  private func remove(_ removal: PendingRemovals.Removal, from opened: OpenedStore, until end: MonotonicInstant) async {
    let call = CallState()
    if let salt = await salt(of: opened, call: call, patience: Self.patience(call, until: end)) {
      remove(removal.selection(salt: salt), from: opened.store)
      _ = await opened.store.removals(call: call, patience: Self.patience(call, until: end))
    } else {
      opened.record([removal])
      // A store that does not respond receives the removal as soon as it responds, even if no lookup follows. A store
      // that reports a failure, such as Redis, receives it at the next lookup or call of `removals(patience:)`.
      Task { @concurrent in _ = await self.salt(of: opened, call: CallState(), patience: nil) }
    }
  }

  private static func patience(_ call: CallState, until end: MonotonicInstant) -> Duration {
    max(.zero, call.timers.now.duration(to: end))
  }

  /// The state of all requested removals. If the stores have different states, the result is the least complete state.
  ///
  /// Check the state after a logout. ``RemovalState/pending`` means that a store can neither remove the entries nor
  /// record the removal, so the entries can be found again if the process ends now. A store that could not be reached
  /// before is tried again.
  /// - Parameter patience: The time to wait for all stores together.
  public func removals(patience: Duration = .milliseconds(250)) async -> RemovalState {
    let end = CallState().timers.now.advanced(by: patience)
    return await withTaskGroup(of: RemovalState.self) { group in
      for opened in stores.opened {
        group.addTask { await self.removals(of: opened, until: end) }
      }
      return await group.reduce(.done) { max($0, $1) }
    }
  }

  private func removals(of opened: OpenedStore, until end: MonotonicInstant) async -> RemovalState {
    let call = CallState()
    if opened.hasPendingRemovals { _ = await salt(of: opened, call: call, patience: Self.patience(call, until: end)) }
    let state = await opened.store.removals(call: call, patience: Self.patience(call, until: end))
    return opened.hasPendingRemovals ? .pending : state
  }

  /// Removes the selected entries from every open store, and cancels their background refreshes. Exchanges in progress
  /// do not store responses that the selection includes.
  public func remove(_ selection: CacheSelection) {
    for opened in stores.opened { remove(selection, from: opened.store) }
    if selection == .all { searches.withLock { $0 = SearchTable() } }
  }

  func remove(_ selection: CacheSelection, from store: any CacheStore) {
    let happening = selection.happening(at: wallClock)
    generations.withLock { $0.advance(happening) }
    take(selection, from: store)
  }

  /// Removes entries from a store, then cancels their background refreshes. A refresh that starts later does not find
  /// its entry and does nothing.
  private func take(_ selection: CacheSelection, from store: any CacheStore) {
    store.remove(selection)
    refreshes.cancel(selection)
  }

  /// Removes entries that became invalid because an exchange succeeded, for example a POST request. The response of the
  /// exchange itself must be kept. Sets the generations with which that response is stored (see ``Generations``).
  func remove(
    _ selection: CacheSelection, from store: any CacheStore, keeping entries: inout [Generations.Pending],
    received: WallTime
  ) {
    let pending = entries
    entries = generations.withLock { generations in
      var pending = pending
      generations.advance(selection, keeping: &pending, received: received)
      return pending
    }
    take(selection, from: store)
  }

  // MARK: - Looking in

  /// The entries of every open store, most recently used first.
  public func entries() async -> [CacheListing] {
    var listings: [CacheListing] = []
    for opened in stores.opened { listings += await opened.store.list() }
    return listings.sorted { $0.lastUse > $1.lastUse }
  }

  /// The size of all open stores together.
  public func size() async -> CacheSize {
    var total = CacheSize(entries: 0, bytes: 0, limit: nil)
    for opened in stores.opened {
      let size = await opened.store.size()
      total.entries += size.entries
      total.bytes += size.bytes
      // An app may set the largest number for no limit.
      if let limit = size.limit {
        total.limit = Int(clamping: Int64(total.limit ?? 0).saturatingSum(Int64(limit)))
      }
    }
    return total
  }

  /// The reasons why the cache rejects folders: for each rejected folder, sentences that name the folder and the cure,
  /// as in ``SQLiteStore/refusal``. Responses for a rejected folder are kept only in memory. Log these sentences when
  /// the program starts.
  public var refusals: [String] {
    stores.opened.compactMap { opened in
      ((opened.store as? TieredStore)?.base ?? opened.store) as? SQLiteStore
    }.compactMap(\.refusal)
  }

  /// Counters of what the cache has done since it was created.
  public var statistics: CacheStatistics { counters.withLock { $0 } }

  func count(_ change: (inout CacheStatistics) -> Void) { counters.withLock { change(&$0) } }

  package var isRefreshing: Bool { !refreshes.isEmpty }

  /// Waits until no background refresh is in progress. A process that is about to end calls this method.
  package func refreshesEnded() async { await refreshes.idle() }

  package func cancelRefreshes() { refreshes.cancel(.all) }

  /// Waits until every store has carried out its pending writes.
  public func flush() async {
    for opened in stores.opened { await opened.store.flush() }
  }

  /// Cancels the background refreshes, writes what is pending, and closes the stores with their threads, files and
  /// connections. Call this method before the process ends, or before a folder is moved or deleted. Calls that still
  /// use the cache may have to load their responses from the server, and start no background refreshes.
  public func close() async {
    await refreshes.close()
    for opened in stores.opened { await opened.store.close() }
    searches.withLock { $0 = SearchTable() }
  }
}

/// Counters of what a cache has done since it was created.
public struct CacheStatistics: Sendable, Hashable {
  /// The number of requests that looked up a response or were allowed to store one.
  public var requests = 0
  /// The number of stored responses served while they were fresh, without a request.
  public var freshHits = 0
  /// The number of stored responses served that were stale, or that replaced the response of a server that failed.
  public var staleHits = 0
  /// The number of stored responses that the server confirmed with status 304.
  public var revalidated = 0
  /// The number of responses received from the server.
  public var network = 0
  /// The number of entries that were written to a store.
  public var stored = 0
  /// The number of body bytes that were served from the cache instead of being transferred.
  public var bytesSaved: Int64 = 0

  /// Makes statistics in which all counters are zero.
  package init() {}

  /// The number of responses whose body came from the cache.
  public var hits: Int { freshHits + staleHits + revalidated }
}
