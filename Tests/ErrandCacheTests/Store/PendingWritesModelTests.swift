import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// Compares pending writes with a simple list of entries.
struct PendingWritesModelTests {
  @Test(arguments: [
    CacheSelection.olderThan(WallTime(milliseconds: 5)), .tag("new"),
    .group(CacheGroup(origin: "https://api.example.com", name: "new")),
  ])
  func `earlier removal spares a later renewal`(_ selection: CacheSelection) {
    let key = Sample.key("/a")
    let (old, new) = (Sample.head(time: 9), Sample.head(time: 1, tag: "new", groups: "\"new\""))
    var writes = PendingWrites(limit: 1 << 20)
    writes.put(CacheEntry(key: key, head: old, body: Data()))
    writes.remove(selection)
    writes.renew(key, stored: old.responseTime, head: new)
    #expect(writes.view(key).entries.map(\.head) == [new])
    var disk = Model()
    while !writes.isEmpty {
      let batch = writes.take(most: 10, frames: 1_000)
      for done in batch { disk.apply(done.write) }
      writes.finish(batch)
    }
    #expect(disk.entries.map(\.head) == [new] && writes.bytes == 0)
  }

  /// Compares with a simple list of all changes: both must find the same entries, whatever has been taken and finished.
  @Test(arguments: 0..<20, [PendingChanges.mostBroad, 0])
  func `random changes agree with a model`(_ seed: Int, _ mostBroad: Int) {
    var random = SeededNumbers(seed: UInt64(seed))
    var writes = PendingWrites(limit: 1 << 30, changes: PendingChanges(mostBroad: mostBroad))
    var disk = Model()
    var model = Model()
    var batch: [PendingWrites.Numbered] = []
    for step in 0..<500 {
      let path = "/\(Int.random(in: 0..<5, using: &random))"
      let head = Sample.head(
        variant: Bool.random(using: &random) ? "x" : "", time: Int64(Int.random(in: 0..<3, using: &random)),
        host: "h\(path.dropFirst())", groups: Bool.random(using: &random) ? "\"g\"" : nil)
      let write: PendingWrites.Write? =
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: .put(Sample.entry(path, body: "\(step)", head: head))
        // Renewals are dropped while removals are collected.
        case 4 where mostBroad > 0: .renew(Sample.key(path), stored: WallTime(milliseconds: 1), head: head)
        case 5:
          .remove(
            [
              .group(CacheGroup(origin: "https://\(head.label.host)", name: "g")),
              .key(Sample.key(path)), .host(head.label.host), .variant(Sample.key(path), head.variant), .all,
              .olderThan(head.responseTime), .account(Sample.key(path).account),
            ][Int.random(in: 0..<7, using: &random)])
        default: nil
        }
      if let write {
        model.apply(write)
        switch write {
        case .put(let entry): writes.put(entry)
        case .renew(let key, let stored, let head): writes.renew(key, stored: stored, head: head)
        case .remove(let selection): writes.remove(selection)
        case .displace, .removeMany, .barrier: break
        }
      } else if batch.isEmpty {
        batch = writes.take(most: Int.random(in: 1..<5, using: &random), frames: 1_000)
      } else {
        for done in batch { disk.apply(done.write) }
        writes.finish(batch)
        batch = []
      }
      #expect(seen(writes, disk) == model.seen, "step \(step)")
    }
  }

  private func seen(_ writes: PendingWrites, _ disk: Model) -> Set<String> {
    var seen: Set<String> = []
    for path in 0..<5 {
      let key = Sample.key("/\(path)")
      let view = writes.view(key)
      for entry in view.entries { seen.insert(Model.text(entry)) }
      for entry in disk.entries where entry.key == key {
        guard let head = view.head(key, entry.head) else { continue }
        seen.insert(Model.text(CacheEntry(key: key, head: head, body: entry.body)))
      }
    }
    return seen
  }

  private struct Model {
    var entries: [CacheEntry] = []
    var seen: Set<String> { Set(entries.map(Self.text)) }

    static func text(_ entry: CacheEntry) -> String {
      "\(entry.head.label.host) \(entry.head.vary) \(entry.head.responseTime) \(String(decoding: entry.body, as: UTF8.self))"
    }

    mutating func apply(_ write: PendingWrites.Write) {
      switch write {
      case .put(let entry):
        entries.removeAll { $0.key == entry.key && $0.head.variant == entry.head.variant }
        entries.append(entry)
      case .renew(let key, let stored, let head):
        for index in entries.indices
        where entries[index].key == key && entries[index].head.variant == head.variant
          && entries[index].head.responseTime == stored
        {
          entries[index].head = head
        }
      case .remove(let selection): entries.removeAll { selection.picks($0.key, $0.head) }
      case .displace(let key, let variant):
        entries.removeAll { CacheSelection.displaced(key, variant).picks($0.key, $0.head) }
      case .removeMany(let removals): entries.removeAll { removals.purges.picks($0.key, $0.head) }
      case .barrier: break
      }
    }
  }
}
