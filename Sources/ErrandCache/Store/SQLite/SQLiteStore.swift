public import ErrandCore
import ErrandSupport
public import Foundation

/// Stores cache entries on a disk, in a folder that is used for nothing else.
///
/// Heads and bodies of up to 64 KiB are stored in a SQLite index. Larger bodies are stored in files next to the index.
/// Head and body are always written and read together, so after a crash either the old or the new entry exists. Several
/// processes may share a folder. On iOS the folder must not be in the container of an app group: an open store has a
/// file lock, and iOS ends an app (0xdead10cc) that is suspended with a lock there.
///
/// One thread per store does all disk access; it is started at the first use. Neither calls nor the threads of Swift
/// concurrency wait for the disk, with one exception: a call waits for its own lookup. A cancellation or the deadline
/// ends this wait immediately.
///
/// Entries are written in the background. Before an entry is written, only its own process finds it, and it is lost if
/// the process ends; ``flush()`` waits for the writes. Damaged entries are removed. An index that is broken, of another
/// program or of another version is deleted and created again. If the disk is full or read-only, nothing is stored. In
/// all these cases responses have to be loaded from the server, but no call fails. The folder and its files are private
/// to the user.
public final class SQLiteStore: CacheStore, UseRecording, OutageReporting {
  private let settings: StoreSettings
  private let mailbox: StoreMailbox
  private let leastPatience: Duration
  private let knownSalt = Locked<Digest?>(nil)

  /// Makes a store. The folder is opened at the first use.
  /// - Parameters:
  ///   - folder: The folder of the store. It is created if it does not exist. All processes that share it must use this
  ///     library.
  ///   - limit: The maximum size of everything in the folder including the index, in bytes; at least one MiB. The
  ///     actual size may be up to 10 % larger. The log of the index usually takes at most an eighth of the limit and at
  ///     most 4 MiB. While several processes use the folder, the log may be about twice as long.
  ///   - entryLimit: The maximum size of one entry in bytes, at most half of the limit; nil for 5 % of the limit.
  ///     Larger entries are not stored.
  ///   - sealing: Encrypts the bodies; nil writes them unchanged. A store with encryption does not use unencrypted
  ///     entries, and a store without encryption does not use encrypted entries.
  public convenience init(folder: URL, limit: Int = 100 << 20, entryLimit: Int? = nil, sealing: BodySealing? = nil) {
    self.init(folder: folder, limit: limit, entryLimit: entryLimit, sealing: sealing, leastPatience: .zero)
  }

  /// Makes a store for which calls wait at least for `leastPatience`, also if their `patience` is shorter.
  package init(
    folder: URL, limit: Int, entryLimit: Int? = nil, sealing: BodySealing? = nil, leastPatience: Duration
  ) {
    settings = StoreSettings(folder: folder, limit: limit, entryLimit: entryLimit, sealing: sealing)
    mailbox = StoreMailbox(settings)
    self.leastPatience = leastPatience
  }

  deinit { mailbox.close() }

  /// The reason why the folder is rejected, in sentences that name the folder and the cure; nil if the folder is
  /// accepted.
  ///
  /// A folder is rejected if it belongs to another user, if the path leads through a link of another user, or if other
  /// users may write to it. It is also rejected if other users could replace it: if a folder above it belongs to
  /// another user (except root), or if others may write to such a folder. This includes the group of the folder, as
  /// with `StrictModes` of OpenSSH. A folder with the sticky bit, such as `/tmp`, is accepted. A store neither reads
  /// nor writes in a rejected folder.
  ///
  /// This property checks the folder when it is read, on the caller's thread. It may report a folder of the current
  /// user to which other users may write. But the first use of the store makes such a folder private.
  public var refusal: String? { settings.folder.fault?.sentence(settings.folder.path) }

  /// The salt of the folder: 32 random bytes that are part of every digest. The store's thread reads the salt at the
  /// first use; afterwards the salt is returned immediately.
  ///
  /// If the salt cannot be read, for example because another process holds the lock for seconds, this process uses a
  /// temporary salt. The process then leaves the stored entries unchanged and stores nothing on disk. If the salt of a
  /// folder is lost, the entries of the folder are removed. The result is nil only if the call was stopped or the time
  /// `patience` ended.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    if let salt = knownSalt.withLock({ $0 }) { return salt }
    let salt = await run(call, patience) { $0.salt() }
    if let salt { knownSalt.withLock { $0 = salt } }
    return salt
  }

  /// Looks up an entry. If the entry is not written to the disk yet, `choosing` is called on the caller's thread,
  /// otherwise on the store's thread.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let waiting = mailbox.pending { $0.entries(key) }
    if !waiting.isEmpty, let index = choosing(waiting.map(\.head)), waiting.indices.contains(index) {
      return .found(waiting[index])
    }
    return await run(call, patience) { $0.find(key, choosing) } ?? .unavailable
  }

  var outageCause: String? { mailbox.outageCause.withLock { $0 } }

  /// Whether a response to a request is stored for another account than the given ones.
  public func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    if mailbox.pending({ $0.holdsForOthers(anyAccount, than: accounts) }) { return true }
    return await run(call, patience) { $0.holdsForOthers(anyAccount, than: accounts) } ?? false
  }

  /// Whether the entry may be stored on a disk, is not larger than the limit for one entry, and fits into the limit for
  /// pending writes.
  public func takes(_ entry: CacheEntry) -> Bool {
    !entry.head.isMemoryOnly && entry.head.estimatedCost + entry.body.count <= settings.entryLimit
      && mailbox.pending { $0.hasRoom(for: entry) }
  }

  /// Stores an entry, which is written in the background. In three cases the entry is not stored, and all entries under
  /// its key are removed: if it must not be written to a disk, if it is too large, or if the pending entries already
  /// take a quarter of the limit (at least 1 MiB, at most 16 MiB). Entries under other keys are not affected.
  public func put(_ entry: CacheEntry) {
    var entry = entry
    entry.head.received = nil
    entry.decoded = nil
    let waiting = entry
    mailbox.write { $0.put(waiting) }
  }

  /// Replaces the head (status, fields and cache data) of an entry whose body is still valid. The head is written in
  /// the background.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var head = head
    head.received = nil
    let renewed = head
    mailbox.write { $0.renew(key, stored: stored, head: renewed) }
  }

  /// Removes entries. Lookups of this process do not find the entries any more. The entries are removed from the disk
  /// in the background. A removal of all entries or of an account also erases their data from the free pages of the
  /// index.
  ///
  /// If entries cannot be removed immediately, because another process uses the store or the disk fails, the removal is
  /// recorded in the folder. The next process that opens the store applies the removal before it reads.
  /// ``removals(call:patience:)`` reports whether the removal is recorded, or whether the disk rejects the record as
  /// well.
  public func remove(_ selection: CacheSelection) {
    mailbox.remove(selection)
  }

  /// Records that the memory store in front of this store has served an entry. The time of the use is written to the
  /// disk later, together with other writes.
  package func recordUse(_ key: CacheKey, _ variant: Digest) { mailbox.recordUse(key, variant) }

  /// The entries, most recently used first.
  public func list() async -> [CacheListing] { await readableList() ?? [] }

  /// All entries, most recently used first; nil if the store cannot be read now.
  package func readableList() async -> [CacheListing]? {
    // Sort the entries here, not in the closure. The closure runs on the store's thread, where sorting would delay
    // lookups.
    await (afterWrites { $0.list() } ?? nil)?.sorted { $0.lastUse > $1.lastUse }
  }

  /// The number of entries, and the size of all files in the folder.
  public func size() async -> CacheSize {
    await afterWrites { $0.size() } ?? CacheSize(entries: 0, bytes: 0, limit: settings.limit)
  }

  /// Waits until all earlier puts and removals have been written to the disk.
  public func flush() async {
    _ = await afterWrites { _ in true }
  }

  /// The state of all earlier removals. Waits until the removals are complete or the time `patience` ends. If another
  /// process or the disk delays a removal, the removal is recorded in the folder during the wait. A removal that failed
  /// is tried again. But after a failure the folder is not tried again for a short time, which grows from 100 ms to 12.8
  /// s with each further failure.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    if mailbox.removalState == .done { return .done }
    let pendingResult = PendingResult<Bool>()
    _ = await pendingResult.value(call, until: call.timers.now.advanced(by: patience)) { [mailbox] in
      mailbox.barrier { worker in
        worker?.retryFailedRemovals()
        pendingResult.settle(true)
      }
    }
    return mailbox.removalState
  }

  /// Writes the pending entries, closes the files and ends the thread of the store. Afterwards every lookup is
  /// ``CacheLookup/unavailable``, nothing is stored, and a removal stays ``RemovalState/pending``. Closing the store
  /// again has no effect. The folder may be opened by another store, moved or deleted.
  public func close() async {
    mailbox.close()
    await mailbox.ended()
  }

  // MARK: -

  /// Runs `job` on the store's thread and returns its result. The wait ends early if the call is stopped or the time
  /// `patience` ends. The result is then nil.
  private func run<Value: Sendable>(
    _ call: CallState, _ patience: Duration?, _ job: @escaping @Sendable (StoreWorker) -> Value
  ) async -> Value? {
    let pendingResult = PendingResult<Value>()
    let moment = patience.map { call.timers.now.advanced(by: max($0, leastPatience)) }
    return await pendingResult.value(call, until: moment) { [mailbox] in
      mailbox.read { worker in
        if pendingResult.isOpen { pendingResult.settle(worker.map(job)) }
      }
    }
  }

  /// Runs `job` on the store's thread, after all earlier writes and removals.
  private func afterWrites<Value: Sendable>(_ job: @escaping @Sendable (StoreWorker) -> Value) async -> Value? {
    let pendingResult = PendingResult<Value>()
    return await pendingResult.value { mailbox.barrier { worker in pendingResult.settle(worker.map(job)) } }
  }
}
