import ErrandCache
import ErrandCore
import Foundation

/// One change of the stored entries. A change may take several commands. Each further command depends on the reply to
/// the previous command.
enum RedisWrite: Sendable {
  case put(CacheEntry)
  case renew(CacheKey, stored: WallTime, head: CacheEntryHead)
  case remove(CacheSelection)
  /// Deletes the stored, older version of an entry. The newer version was dropped, because too many entries were
  /// pending.
  case displace(CacheKey, variant: Digest)
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
    case .displace(let key, let variant): Self.remove(.variant(key, variant), layout)
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
      // If the entry could not be stored, the older entry that it should have replaced must be removed.
      return reply.isError ? .remove(.variant(entry.key, entry.head.variant)) : nil
    case .displace(let key, let variant): return reply.isError ? .remove(.variant(key, variant)) : nil
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
    case .renew, .touch, .drop: return nil
    }
  }

  /// Whether the reply means that Redis rejects a removal. In this case, no entry may be read until Redis accepts the
  /// removal.
  func isRefused(by reply: RedisReply) -> Bool {
    guard case .remove = self else { return false }
    return reply.number == nil && reply.salt == nil
  }

  /// The removal to send if the salt in Redis has changed: Redis has lost its data, and other servers have stored
  /// entries under a new salt. A digest under the old salt does not identify an entry any more, so all entries are
  /// removed instead.
  private static func removal(_ selection: CacheSelection) -> RedisWrite? {
    switch selection {
    case .all, .olderThan, .host, .tag: .remove(selection)
    case .key, .target, .account: .remove(.all)
    case .variant: nil
    }
  }

  private static func cleaning(_ selection: CacheSelection) -> RedisWrite? {
    switch selection {
    case .all, .olderThan: .purge(cursor: "0")
    case .key, .variant: nil
    case .target, .account, .host, .tag: index(selection).map { .sweep($0) }
    }
  }

  private static func index(_ selection: CacheSelection) -> RedisIndex? {
    switch selection {
    case .target(let digest): RedisIndex(.target, digest)
    case .account(let digest): RedisIndex(.account, digest)
    case .host(let host): RedisIndex(host: host)
    case .tag(let tag): RedisIndex(tag: tag)
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
    case .target, .account, .host, .tag: layout.call(.removeIndex, index(selection).map { [$0.name] } ?? [])
    }
  }
}

/// Identifies a stored response that a lookup has returned, by two digests in hexadecimal digits.
struct RedisUse: Sendable, Hashable {
  let entry: String
  let variant: String
}
