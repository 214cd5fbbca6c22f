public import ErrandCore
import ErrandSupport
public import Foundation

/// Keeps answers and serves them: what requests declare with ``ErrandCore/CachePolicy`` is carried out here.
///
/// ```swift
/// configuration.cache = .disk(at: cachesFolder.appending(path: "api"), limit: 200 << 20)
/// ```
///
/// Several clients may share one. It never fails a call: a store that is broken, full or gone costs hits.
public final class ResponseCache: AnswerCache {
  private let stores: CacheFolders
  let generations = Locked(Generations())
  let refreshes = RefreshTable()
  let keys = KeyMemo()
  private let counters = Locked(CacheStatistics())
  /// The present on the wall clock.
  let wallClock: @Sendable () -> WallTime

  init(stores: CacheFolders, wallClock: @escaping @Sendable () -> WallTime = { .now }) {
    self.stores = stores
    self.wallClock = wallClock
  }

  /// Makes a cache over a store: one that comes with the library, or one of your own.
  public convenience init(store: any CacheStore) {
    self.init(stores: CacheFolders(store: store))
  }

  /// Makes a cache in a folder on a disk below a memory.
  ///
  /// Caches of one process that use the same folder share the disk; each has a memory of its own.
  /// - Parameters:
  ///   - folder: Where to keep it; made where it is missing, private to the user. Several processes may share it.
  ///   - limit: How many bytes everything in a folder may take.
  ///   - memory: How many bytes are kept in memory above each folder.
  ///   - entryLimit: How many bytes one entry may take on the disk; nil for 5 % of the limit.
  ///   - sealing: Seals bodies on the disk; nil writes them as they are.
  ///   - filters: Redirect requests to folders of their own, in order.
  ///   - folders: Where they may lead to. What an earlier run of the program has left in a folder is reached by
  ///     removing, a logout and looking in, though no request has led there yet, if the folder is named here.
  public convenience init(
    folder: URL, limit: Int = 100 << 20, memory: Int = 16 << 20, entryLimit: Int? = nil, sealing: BodySealing? = nil,
    filters: [CacheFolderFilter] = [], folders: [URL] = []
  ) {
    self.init(
      stores: CacheFolders(folder: folder, filters: filters, known: folders) { folder in
        TieredStore(
          memory: MemoryStore(limit: memory),
          base: SQLiteStore(folder: folder, limit: limit, entryLimit: entryLimit, sealing: sealing))
      })
  }

  /// Makes a cache with a clock of its own, for tests.
  package convenience init(store: any CacheStore, wallClock: @escaping @Sendable () -> WallTime) {
    self.init(stores: CacheFolders(store: store), wallClock: wallClock)
  }

  /// The station ``Caching``.
  package var lookUp: any Interceptor { Caching(cache: self) }

  /// The station ``Storing``.
  package var storing: any Interceptor { Storing(cache: self) }

  /// The store for a request.
  func store(for request: any APIRequest) -> OpenedStore { stores.store(for: request) }

  /// Every store that was opened.
  var opened: [OpenedStore] { stores.opened }

  /// The salt of a store, once all is removed that had to wait for it; nil as in
  /// ``CacheStore/salt(call:patience:)``.
  func salt(of opened: OpenedStore, call: CallState, patience: Duration?) async -> Digest? {
    guard let salt = await opened.store.salt(call: call, patience: patience) else { return nil }
    opened.pay(salt: salt) { remove($0, from: opened.store) }
    return salt
  }

  // MARK: - Removing

  /// Removes everything.
  public func removeAll() { remove(.all) }

  /// Removes everything from a host.
  public func removeAll(host: String) { remove(.host(host.lowercased())) }

  /// Removes everything that calls with a tag stored.
  public func removeAll(tag: String) { remove(.tag(tag)) }

  /// Removes everything that was received before a moment.
  public func removeAll(olderThan moment: Date) {
    remove(.olderThan(WallTime(moment)))
  }

  /// Removes everything of an account, as the credential provider names it. Exchanges under way store nothing for it.
  ///
  /// From a store that cannot be reached it is removed before anything is looked for in it. Waits for all stores
  /// together no longer than 250 ms; ``removals(patience:)`` says whether it is done by then, and whether it outlives
  /// the process.
  public func removeAll(account: String) async {
    let removal = RemovalDebts.Removal.account(account)
    let end = CallState().timers.now.advanced(by: Caching.saltPatience)
    await withTaskGroup(of: Void.self) { group in
      for opened in stores.opened {
        group.addTask { await self.remove(removal, from: opened, until: end) }
      }
    }
  }

  private func remove(_ removal: RemovalDebts.Removal, from opened: OpenedStore, until end: MonotonicInstant) async {
    let call = CallState()
    if let salt = await salt(of: opened, call: call, patience: Self.patience(call, until: end)) {
      remove(removal.selection(salt: salt), from: opened.store)
      _ = await opened.store.removals(call: call, patience: Self.patience(call, until: end))
    } else {
      opened.owe([removal])
      // A store that hangs is told as soon as it answers, also where nobody looks into it any more. One that gives up,
      // as Redis does, is told at the next look into it or question how far removals have come.
      Task { @concurrent in _ = await self.salt(of: opened, call: CallState(), patience: nil) }
    }
  }

  private static func patience(_ call: CallState, until end: MonotonicInstant) -> Duration {
    max(.zero, call.timers.now.duration(to: end))
  }

  /// How far all that was removed has come, in the store that is furthest behind.
  ///
  /// Worth a look after a logout: ``RemovalState/pending`` means that a store can neither remove nor write down that it
  /// must, and that what was removed is found again if the process ends now. A store that could not be reached is asked
  /// again.
  /// - Parameter patience: How long to wait for all stores together.
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
    if opened.isOwing { _ = await salt(of: opened, call: call, patience: Self.patience(call, until: end)) }
    let state = await opened.store.removals(call: call, patience: Self.patience(call, until: end))
    return opened.isOwing ? .pending : state
  }

  /// Removes from every store that was opened. What is under way is not stored, and background refreshes of it end.
  public func remove(_ selection: CacheSelection) {
    for opened in stores.opened { remove(selection, from: opened.store) }
  }

  func remove(_ selection: CacheSelection, from store: any CacheStore) {
    generations.withLock { $0.advance(selection) }
    refreshes.cancel(selection)
    store.remove(selection)
  }

  /// Removes on behalf of an exchange whose own answer outlives it; returns the generation in which that one counts.
  func remove(
    _ selection: CacheSelection, from store: any CacheStore, by noted: UInt64, keeping key: CacheKey,
    _ label: CacheEntryLabel
  ) -> UInt64 {
    let generation = generations.withLock { $0.advance(selection, from: noted, keeping: key, label) }
    store.remove(selection)
    return generation
  }

  // MARK: - Looking in

  /// The entries of every store that was opened, most recently used first.
  public func entries() async -> [CacheListing] {
    var listings: [CacheListing] = []
    for opened in stores.opened { listings += await opened.store.list() }
    return listings.sorted { $0.lastUse > $1.lastUse }
  }

  /// How much is kept in every store that was opened.
  public func size() async -> CacheSize {
    var total = CacheSize(entries: 0, bytes: 0, limit: nil)
    for opened in stores.opened {
      let size = await opened.store.size()
      total.entries += size.entries
      total.bytes += size.bytes
      if let limit = size.limit { total.limit = (total.limit ?? 0) + limit }
    }
    return total
  }

  /// Why folders of this cache are refused: for each one sentences that name it and the cure, as in
  /// ``SQLiteStore/refusal``. Their responses are kept in memory alone. Worth a line in the log of a program that
  /// starts.
  public var refusals: [String] {
    stores.opened.compactMap { opened in
      ((opened.store as? TieredStore)?.base ?? opened.store) as? SQLiteStore
    }.compactMap(\.refusal)
  }

  /// What the cache did since it was made.
  public var statistics: CacheStatistics { counters.withLock { $0 } }

  func count(_ change: (inout CacheStatistics) -> Void) { counters.withLock { change(&$0) } }

  /// Returns when no background refresh is under way: for a process that is about to end.
  package func refreshesEnded() async { await refreshes.idle() }

  /// Cancels the background refreshes that are under way.
  package func cancelRefreshes() { refreshes.cancel(.all) }

  /// Returns when everything is on the disk that is to be there.
  public func flush() async {
    for opened in stores.opened { await opened.store.flush() }
  }
}

/// What a cache did since it was made.
public struct CacheStatistics: Sendable, Hashable {
  /// Requests that looked something up or would have stored.
  public var requests = 0
  /// Answers served fresh.
  public var freshHits = 0
  /// Answers served though they had expired or their age did not count.
  public var staleHits = 0
  /// Answers that the server confirmed.
  public var revalidated = 0
  /// Answers that came from the server.
  public var network = 0
  /// Entries written.
  public var stored = 0
  /// Bytes of bodies that did not have to be sent.
  public var bytesSaved: Int64 = 0

  /// Makes empty statistics.
  public init() {}

  /// Answers whose body came from the cache.
  public var hits: Int { freshHits + staleHits + revalidated }
}
