import ErrandCache
import ErrandCore
import Foundation

/// One change of the stored entries. A change may take several commands. Each further command depends on the reply to
/// the previous command.
enum RedisWrite: Sendable {
  case put(CacheEntry)
  case renew(CacheKey, stored: WallTime, head: CacheEntryHead)
  case remove(CacheSelection)
  /// Deletes all entries under a key, because a newer one is not stored: see `CacheStore.put`. No caller has requested
  /// this removal, so it is dropped if Redis has lost its data.
  case displace(CacheKey)
  /// Deletes the responses of a removed index. An index is a set of responses.
  case sweep(RedisIndex, round: Int = 0)
  /// Deletes invalid entries, one page of a scan at a time.
  case purge(cursor: String, round: Int = 0)
  case touch([RedisUse: WallTime])
  /// Deletes a damaged response if Redis still stores it with this encoded head.
  case drop(RedisUse, head: Data)

  /// The number of bytes that the change adds to the size of the pending entries.
  var cost: Int { if case .put(let entry) = self { entry.body.count + 1_024 } else { 0 } }

  func call(_ layout: RedisLayout) -> RedisCall {
    switch self {
    case .put(let entry): Self.put(entry, layout)
    case .renew(let key, let stored, let head): Self.renew(key, stored, head, layout)
    case .remove(let selection): Self.remove(selection, layout)
    case .displace(let key): Self.remove(.key(key), layout)
    case .sweep(let index, _): layout.call(.sweep, [index.name])
    case .purge(let cursor, _): layout.call(.purge, [cursor, layout.pattern("*")])
    case .touch(let uses):
      layout.call(.touch, uses.flatMap { [$0.key.entry, $0.key.variant, String($0.value.milliseconds)] })
    case .drop(let use, let head):
      layout.call(.drop, [Data(use.entry.utf8), Data(use.variant.utf8), head])
    }
  }

  /// The next command of the change after a reply of Redis; nil if the change is complete.
  func next(after reply: RedisReply) -> RedisWrite? {
    switch self {
    case .put(let entry):
      // If the entry could not be stored, the older entries under its key must be removed.
      return reply.isError ? .displace(entry.key) : nil
    case .remove(let selection):
      if reply.salt != nil { return Self.removal(selection) }
      return reply.number == 1 ? Self.cleaning(selection) : nil
    case .sweep(let index, let round):
      guard (reply.number ?? 0) > 0, round < RedisWalk.mostRounds else { return nil }
      return .sweep(index, round: round + 1)
    case .purge(let old, let round):
      // If the scan ends early, the remaining keys do no harm: they are invalid and expire.
      guard let cursor = reply.text, cursor != "0", cursor != old, round < RedisWalk.mostRounds else { return nil }
      return .purge(cursor: cursor, round: round + 1)
    case .displace, .renew, .touch, .drop: return nil
    }
  }

  /// Whether the reply means that Redis rejects a removal. In this case, no entry may be read until Redis accepts the
  /// removal.
  func isRefused(by reply: RedisReply) -> Bool {
    switch self {
    case .remove, .displace: reply.number == nil && reply.salt == nil
    case .put, .renew, .sweep, .purge, .touch, .drop: false
    }
  }

  /// The removal to send if the salt in Redis has changed: Redis has lost its data, and other servers have stored
  /// entries under a new salt. A digest under the old salt does not identify an entry any more, so all entries are
  /// removed instead.
  static func removal(_ selection: CacheSelection) -> RedisWrite? {
    switch selection {
    case .all, .olderThan, .host, .tag, .groups: .remove(selection)
    case .key, .target, .account: .remove(.all)
    case .variant: nil
    }
  }

  /// The change to send instead of this one if the salt in Redis has changed while this change waited; nil if it no
  /// longer has an effect.
  var afterSaltChange: RedisWrite? { if case .remove(let selection) = self { Self.removal(selection) } else { self } }

  var removesAll: Bool { if case .remove(.all) = self { true } else { false } }

  private static func cleaning(_ selection: CacheSelection) -> RedisWrite? {
    switch selection {
    case .all, .olderThan: .purge(cursor: "0")
    case .key, .variant: nil
    case .target, .account, .host, .tag, .groups: index(selection).map { .sweep($0) }
    }
  }

  private static func index(_ selection: CacheSelection) -> RedisIndex? {
    switch selection {
    case .target(let digest): RedisIndex(.target, digest)
    case .account(let digest): RedisIndex(.account, digest)
    case .host(let host): RedisIndex(host: host)
    case .tag(let tag): RedisIndex(tag: tag)
    // `RedisStore` writes one removal for each group.
    case .groups(let groups): groups.first.map { RedisIndex(group: $0) }
    case .all, .olderThan, .key, .variant: nil
    }
  }

  private static func put(_ entry: CacheEntry, _ layout: RedisLayout) -> RedisCall {
    let time = String(entry.head.responseTime.milliseconds)
    let texts = [
      entry.key.entry.hex, entry.head.variant.hex, time, String(layout.span),
      RedisLayout.names(entry.key, entry.head),
    ]
    let head = CacheEntryRecord(key: entry.key, head: entry.head, storedBody: Data()).encoded()
    return layout.call(
      .put,
      texts.map { Data($0.utf8) } + [
        head, BodyChecksum(entry.body).encoded, entry.body, Data(String(RedisLayout.mostVariants).utf8),
      ])
  }

  private static func renew(
    _ key: CacheKey, _ stored: WallTime, _ head: CacheEntryHead, _ layout: RedisLayout
  ) -> RedisCall {
    let texts = [
      key.entry.hex, head.variant.hex, String(head.responseTime.milliseconds), String(layout.span),
      RedisLayout.names(key, head),
    ]
    let record = CacheEntryRecord(key: key, head: head, storedBody: Data()).encoded()
    return layout.call(
      .renew, texts.map { Data($0.utf8) } + [record, Data(String(stored.milliseconds).utf8)])
  }

  private static func remove(_ selection: CacheSelection, _ layout: RedisLayout) -> RedisCall {
    switch selection {
    case .all: layout.call(.clear)
    case .key(let key): layout.call(.forget, [key.entry.hex])
    case .variant(let key, let variant): layout.call(.drop, [key.entry.hex, variant.hex])
    case .olderThan(let time): layout.call(.older, [String(time.milliseconds)])
    case .target, .account, .host, .tag, .groups: layout.call(.removeIndex, index(selection).map { [$0.name] } ?? [])
    }
  }
}

/// Identifies a stored response that a lookup has returned, by two digests in hexadecimal digits.
struct RedisUse: Sendable, Hashable {
  let entry: String
  let variant: String
}

/// The removals that Redis must apply as soon as Redis is available again.
///
/// A removal that a caller requested is never dropped: if they take more than 64 MiB, all entries are removed
/// instead. Another kind of removal concerns the entries under a key whose newest version could not be written. Such a
/// removal is dropped if there are more than ``most`` of them.
struct RedisPendingRemovals: Sendable {
  static let most = 4_096

  /// The maximum size of the requested removals in bytes.
  private let mostBytes: Int
  private var requested: Set<CacheSelection> = []
  private var requestedBytes = 0
  private var replaced: Set<CacheKey> = []
  private var sweeps: Set<RedisIndex> = []
  private var purges = false

  /// - Parameter mostBytes: The maximum size of the requested removals in bytes. The default is enough for about
  ///   200,000 of them.
  init(mostBytes: Int = 64 << 20) { self.mostBytes = mostBytes }

  var isEmpty: Bool { requested.isEmpty && replaced.isEmpty && sweeps.isEmpty && !purges }

  /// Whether a removal that a caller requested has not been completed in Redis.
  var hasRemovals: Bool { !requested.isEmpty || !sweeps.isEmpty || purges }

  /// Records what Redis must remove later, because a change cannot be sent now. For a new entry, these are the older
  /// entries under its key.
  mutating func add(_ write: RedisWrite) {
    switch write {
    case .put(let entry): addReplaced(entry.key)
    case .displace(let key): addReplaced(key)
    case .renew(let key, _, let head): if head.isMemoryOnly { addReplaced(key) }
    case .remove(let selection): add(selection)
    case .sweep(let index, _): if sweeps.count < Self.most { sweeps.insert(index) }
    case .purge: purges = true
    case .touch, .drop: break
    }
  }

  /// Called when the salt has changed. If a removal contains a digest under the old salt, all entries are removed
  /// instead. Replaced entries cannot be found under the new salt, so their removals are dropped.
  mutating func saltChanged() {
    replaced = []
    let selections = requested
    (requested, requestedBytes) = ([], 0)
    for selection in selections {
      if case .remove(let valid)? = RedisWrite.removal(selection) { add(valid) }
    }
  }

  private mutating func addReplaced(_ key: CacheKey) {
    guard replaced.count < Self.most, !requested.contains(.all) else { return }
    replaced.insert(key)
  }

  private mutating func add(_ selection: CacheSelection) {
    guard !requested.contains(.all), requested.insert(selection).inserted else { return }
    requestedBytes += selection.cost
    guard selection == .all || requestedBytes > mostBytes else { return }
    requested = [.all]
    replaced = []
  }

  /// Returns the commands for all recorded removals, and deletes the records.
  mutating func takeAll() -> [RedisWrite] {
    defer { self = RedisPendingRemovals(mostBytes: mostBytes) }
    return requested.map { .remove($0) } + replaced.map { .displace($0) } + sweeps.map { .sweep($0) }
      + (purges ? [.purge(cursor: "0")] : [])
  }
}

/// Decides whether a scan of all keys of a database continues. Redis ends a scan with the cursor 0. The limits of this
/// type end a scan if Redis never returns 0.
struct RedisWalk: Sendable {
  /// The maximum duration of a scan of all keys.
  static let mostTime = Duration.seconds(60)
  /// The maximum size of all pages, in bytes. The entries of all pages are in memory at once.
  static let mostBytes = 128 << 20
  /// The number of pages that a scan may always read, even if Redis reports that the database has few keys.
  static let leastRounds = 1_000
  /// The maximum number of pages that a scan may read.
  static let mostRounds = 1_000_000

  private let end: MonotonicInstant
  private var rounds = 0
  private var keys = 0
  private var bytes = 0
  /// The cursor of the last page whose number was a power of two. If Redis returns this cursor again, Redis repeats its
  /// cursors, and the scan ends.
  private var mark = "0"
  private var nextMark = 1

  init(now: MonotonicInstant) { end = now.advanced(by: Self.mostTime) }

  /// Whether the scan continues with the page at `cursor`.
  /// - Parameters:
  ///   - keys: The number of keys in the database, as Redis reports it; nil if the reply contains no number.
  ///   - bytes: The size of the last page.
  mutating func continues(to cursor: String, keys: Int64?, bytes: Int, now: MonotonicInstant) -> Bool {
    rounds += 1
    self.bytes &+= bytes
    self.keys = max(self.keys, Int(clamping: keys ?? 0))
    // A page covers at least a hundred slots of Redis' hash table. A table that has shrunk has at most ten slots per
    // key, so there are fewer pages than keys.
    let most = min(Self.mostRounds, max(Self.leastRounds, self.keys))
    guard cursor != "0", cursor != mark, rounds < most, self.bytes < Self.mostBytes, now < end else { return false }
    if rounds == nextMark { (mark, nextMark) = (cursor, nextMark * 2) }
    return true
  }
}
