import ErrandSupport
import ErrandCache
import ErrandCore
import Foundation
import StoreSamples

/// A custom store as a user might write it: encoded entries in a dictionary.
final class DictionaryStore: CacheStore {
  private struct Kept: Sendable {
    let bytes: Data
    var lastUse: Int
  }

  private struct Contents: Sendable {
    var entries: [Digest: [Kept]] = [:]
    var uses = 0
  }

  private let contents = Locked(Contents())

  func salt(call: CallState, patience: Duration?) async -> Digest? { Sample.digest("salt") }

  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let entries = entries(key)
    guard !entries.isEmpty else { return .missing }
    let heads = entries.map(\.head)
    guard let index = choosing(heads), entries.indices.contains(index) else { return .refused(heads) }
    contents.withLock { contents in
      contents.uses += 1
      let variant = entries[index].head.variant
      let place = contents.entries[key.entry]?.firstIndex { CacheEntry(encoded: $0.bytes)?.head.variant == variant }
      if let place { contents.entries[key.entry]?[place].lastUse = contents.uses }
    }
    return .found(entries[index])
  }

  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    all.contains { $0.key.anyAccount == anyAccount && !accounts.contains($0.key.account) }
  }

  func put(_ entry: CacheEntry) {
    remove(.variant(entry.key, entry.head.variant))
    contents.withLock { contents in
      contents.uses += 1
      let kept = Kept(bytes: entry.encoded(), lastUse: contents.uses)
      contents.entries[entry.key.entry, default: []].append(kept)
    }
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    let old = entries(key).first { $0.head.variant == head.variant && $0.head.responseTime == stored }
    if let old { put(CacheEntry(key: key, head: head, body: old.body)) }
  }

  func remove(_ selection: CacheSelection) {
    contents.withLock { contents in
      contents.entries = contents.entries.mapValues { kept in
        kept.filter { kept in CacheEntry(encoded: kept.bytes).map { !selection.picks($0.key, $0.head) } ?? false }
      }
    }
  }

  func list() async -> [CacheListing] {
    let kept = contents.withLock { $0.entries.values.flatMap { $0 } }.sorted { $0.lastUse > $1.lastUse }
    return kept.compactMap { kept in
      CacheEntry(encoded: kept.bytes).map {
        CacheListing(
          head: $0.head, key: $0.key, bodyLength: $0.body.count, lastUse: WallTime(milliseconds: Int64(kept.lastUse)))
      }
    }
  }

  func size() async -> CacheSize {
    CacheSize(entries: all.count, bytes: all.reduce(0) { $0 + $1.body.count }, limit: nil)
  }

  func flush() async {}

  private var all: [CacheEntry] {
    contents.withLock { $0.entries.values.flatMap { $0 } }.compactMap { CacheEntry(encoded: $0.bytes) }
  }

  private func entries(_ key: CacheKey) -> [CacheEntry] {
    contents.withLock { $0.entries[key.entry] ?? [] }.compactMap { CacheEntry(encoded: $0.bytes) }
      .sorted { $0.head.responseTime > $1.head.responseTime }
  }
}
