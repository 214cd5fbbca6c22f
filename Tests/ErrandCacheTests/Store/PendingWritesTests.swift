import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

struct PendingWritesTests {
  private func words(_ batch: [PendingWrites.Numbered]) -> [String] {
    batch.map {
      switch $0.write {
      case .put(let entry): "put \(String(decoding: entry.body, as: UTF8.self))"
      case .renew: "renew"
      case .remove(let selection): selection == .all ? "remove all" : "remove"
      case .displace: "displace"
      case .removeMany: "remove many"
      case .barrier: "barrier"
      }
    }
  }

  @Test func `superseded writes are dropped`() {
    var writes = PendingWrites(limit: 1 << 20)
    writes.put(Sample.entry("/a", body: "1"))
    writes.put(Sample.entry("/a", body: "2"))
    writes.put(Sample.entry("/b", body: "3"))
    writes.remove(.key(Sample.key("/b")))
    #expect(words(writes.take(most: 10, frames: 1_000)) == ["put 2", "remove"])
    #expect(writes.isEmpty)
  }

  @Test func `overflow does not remove everything`() {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<2_000 {
      writes.renew(Sample.key("/\(index)"), stored: WallTime(milliseconds: 0), head: Sample.head(time: 1))
    }
    writes.put(Sample.entry("/large", body: String(repeating: "x", count: 2 << 20)))
    #expect(Set(words(writes.take(most: 5_000, frames: 100_000))) == ["renew", "displace"])
    var full = PendingWrites(limit: 10_000)
    for index in 0..<2_000 { full.put(Sample.entry("/\(index)", body: String(repeating: "x", count: 500))) }
    #expect(!words(full.take(most: 5_000, frames: 100_000)).contains("remove all"))
  }

  @Test func `overflow drops only the new writes`() {
    var writes = PendingWrites(limit: 10_000)
    for index in 0..<20_000 { writes.put(Sample.entry("/\(index)", head: Sample.head(time: 2_000))) }
    writes.remove(.target(Sample.key("/other").target))
    let old = Sample.head(time: 1_000)
    #expect(writes.view(Sample.key("/19999")).head(Sample.key("/19999"), old) == nil)
    #expect(writes.view(Sample.key("/19999")).entries.isEmpty)
    #expect(writes.view(Sample.key("/other")).head(Sample.key("/other"), old) == nil)
    #expect(writes.view(Sample.key("/safe")).head(Sample.key("/safe"), old) == old)
    #expect(writes.removals.selections == [.target(Sample.key("/other").target)])
    while case let batch = writes.take(most: 64, frames: 10_000), !batch.isEmpty {
      #expect(!words(batch).contains("remove all"))
      writes.finish(batch)
    }
    #expect(writes.bytes == 0 && writes.removalState == .done)
    #expect(writes.view(Sample.key("/19999")).head(Sample.key("/19999"), old) == old)
  }

  @Test func `repeated drops are queued once`() {
    var writes = PendingWrites(limit: 0)
    for _ in 0..<100_000 { writes.put(Sample.entry("/a")) }
    let first = writes.take(most: 5_000, frames: 100_000)
    #expect(words(first) == ["displace"])
    // A newer version may follow one that is being written, so the next drop counts again.
    writes.put(Sample.entry("/a"))
    #expect(words(writes.take(most: 5_000, frames: 100_000)) == ["displace"])
  }

  @Test func `many target removals stay separate`() {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<10_000 { writes.remove(.target(Sample.key("/\(index)").target)) }
    #expect(!writes.removals.selections.contains(.all) && writes.removals.selections.count == 10_000)
  }

  /// Takes and finishes all writes. Returns their descriptions, and the removals that were collected.
  private func drain(_ writes: inout PendingWrites) -> (words: Set<String>, many: [CompactRemovals]) {
    var (all, many): (Set<String>, [CompactRemovals]) = ([], [])
    while case let batch = writes.take(most: 64, frames: 10_000), !batch.isEmpty {
      all.formUnion(words(batch))
      many += batch.compactMap(\.write.many)
      writes.finish(batch)
    }
    return (all, many)
  }

  @Test(arguments: [true, false]) func `countless removals stay precise`(_ byTarget: Bool) throws {
    var writes = PendingWrites(limit: 1 << 20)
    let old = Sample.head()
    for index in 0..<70_000 {
      let key = Sample.key("/\(index)")
      writes.remove(byTarget ? .target(key.target) : .variant(key, old.variant))
    }
    for path in ["/0", "/69999"] { #expect(writes.view(Sample.key(path)).head(Sample.key(path), old) == nil) }
    #expect(writes.view(Sample.key("/safe")).head(Sample.key("/safe"), old) == old)
    let other = Sample.head(variant: "other")
    #expect((writes.view(Sample.key("/69999")).head(Sample.key("/69999"), other) == nil) == byTarget)
    #expect(writes.removalState == .pending && !writes.hasJournaledRemoval)
    // The journal has no space for all of them.
    #expect(writes.removals.selections.last == .all)
    writes.recordJournaled(writes.removals)
    #expect(writes.removalState == .noted && writes.hasJournaledRemoval)
    writes.remove(.key(Sample.key("/70000")))
    #expect(writes.removalState == .pending)
    let (words, many) = drain(&writes)
    #expect(words == ["remove", "remove many"] && many.count == 1)
    #expect(try #require(many.first?.variants(Sample.key("/69999"))).contains(old.variant.index))
    #expect(many.first?.variants(Sample.key("/70000")) == .all)
    #expect(writes.removalState == .done && !writes.hasJournaledRemoval)
    #expect(writes.view(Sample.key("/69999")).head(Sample.key("/69999"), old) == old)
  }

  @Test func `countless dropped entries displace only their keys`() {
    var writes = PendingWrites(limit: 0)
    let old = Sample.head()
    for index in 0..<100_000 { writes.put(Sample.entry("/\(index)", head: Sample.head(time: 2_000))) }
    #expect(writes.view(Sample.key("/99999")).head(Sample.key("/99999"), old) == nil)
    #expect(writes.view(Sample.key("/safe")).head(Sample.key("/safe"), old) == old)
    // No caller has requested the removal of these entries, so nothing must be recorded in the journal.
    #expect(writes.removalState == .done && writes.removals.selections.isEmpty)
    #expect(drain(&writes).words == ["displace", "remove many"])
  }

  /// A server may have changed `Vary`, so an older variant may match the same requests.
  @Test func `dropped entry displaces older variants`() {
    let newest = Sample.entry("/a", body: String(repeating: "x", count: 2 << 20), head: Sample.head(time: 2_000))
    let (stored, waiting) = (Sample.head(variant: "stored"), Sample.head(variant: "waiting"))
    var writes = PendingWrites(limit: 1 << 20)
    writes.put(Sample.entry("/a", head: waiting))
    writes.put(newest)
    #expect(writes.view(Sample.key("/a")).entries.isEmpty && writes.bytes == 0)
    #expect(writes.view(Sample.key("/a")).head(Sample.key("/a"), stored) == nil)
    #expect(writes.view(Sample.key("/safe")).head(Sample.key("/safe"), stored) == stored)
    #expect(writes.removalState == .done)
    #expect(words(writes.take(most: 10, frames: 1_000)) == ["displace"])
  }

  @Test func `dropped entries leave removals precise`() {
    var writes = PendingWrites(limit: 0)
    for index in 0..<20_000 { writes.put(Sample.entry("/\(index)")) }
    for index in 0..<10_000 { writes.remove(.key(Sample.key("/removed/\(index)"))) }
    #expect(!writes.removals.selections.contains(.all) && writes.removals.selections.count == 10_000)
  }

  @Test func `removal of many precedes later entries`() {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<PendingChanges.mostKeyed { writes.remove(.key(Sample.key("/\(index)"))) }
    let key = Sample.key("/a")
    writes.put(Sample.entry("/a", body: "1"))
    writes.remove(.key(key))
    writes.put(Sample.entry("/a", body: "2"))
    #expect(writes.view(key).entries.map { String(decoding: $0.body, as: UTF8.self) } == ["2"])
    while case let batch = writes.take(most: 64, frames: 1_000), words(batch) != ["remove many"] {
      writes.finish(batch)
    }
    // While the removal is carried out, all stored variants are hidden.
    #expect(writes.view(key).head(key, Sample.head(variant: "other")) == nil)
    #expect(words(writes.take(most: 64, frames: 1_000)) == ["put 2"])
  }

  @Test func `removing all replaces countless removals`() {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<20_000 { writes.remove(.key(Sample.key("/\(index)"))) }
    writes.remove(.all)
    #expect(writes.removals.selections == [.all])
    #expect(words(writes.take(most: 64, frames: 1_000)) == ["remove all"] && writes.isEmpty)
  }

  @Test func `removal state follows the journal`() {
    var writes = PendingWrites(limit: 1 << 20)
    #expect(writes.removalState == .done)
    writes.remove(.key(Sample.key("/a")))
    #expect(writes.removalState == .pending && !writes.hasUnjournaledPurge)
    writes.remove(.tag("feed"))
    #expect(writes.hasUnjournaledPurge && !writes.hasJournaledRemoval)
    writes.recordJournaled(writes.removals)
    #expect(writes.removalState == .noted && !writes.hasUnjournaledPurge && writes.hasJournaledRemoval)
    #expect(writes.removals.selections == [.key(Sample.key("/a")), .tag("feed")])
    let batch = writes.take(most: 10, frames: 1_000)
    writes.remove(.all)
    #expect(writes.removalState == .pending && writes.hasUnjournaledPurge && writes.hasJournaledRemoval)
    writes.finish(batch)
    #expect(writes.removalState == .pending && !writes.hasJournaledRemoval)
    writes.finish(writes.take(most: 10, frames: 1_000))
    #expect(writes.removalState == .done)
  }

  @Test func `removing all drops pending writes`() {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<10 {
      writes.put(Sample.entry("/\(index)"))
      writes.remove(.tag("\(index)"))
    }
    writes.remove(.all)
    #expect(writes.bytes == 0)
    #expect(words(writes.take(most: 10, frames: 1_000)) == ["remove all"])
  }

  private static let purges: [@Sendable (Int) -> CacheSelection] = [
    { .tag("tag \($0)") }, { .host("\($0).example.com") }, { .account(Sample.digest("account \($0)")) },
  ]

  private static func entry(_ number: Int) -> CacheEntry {
    let head = Sample.head(host: "\(number).example.com", tag: "tag \(number)")
    return Sample.entry("/\(number)", account: "\(number)", head: head)
  }

  @Test(arguments: 0..<3) func `countless purges stay precise`(_ kind: Int) throws {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<3_000 { writes.remove(Self.purges[kind](index)) }
    let isThere = { (writes: PendingWrites, number: Int) in
      let entry = Self.entry(number)
      return writes.view(entry.key).head(entry.key, entry.head) != nil
    }
    #expect([0, 2_999, 3_000].map { isThere(writes, $0) } == [false, false, true])
    #expect(writes.hasUnjournaledPurge && writes.removalState == .pending)
    #expect(Set(writes.removals.selections) == Set((0..<3_000).map(Self.purges[kind])))
    writes.recordJournaled(writes.removals)
    #expect(!writes.hasUnjournaledPurge && writes.removalState == .noted)
    let (words, many) = drain(&writes)
    #expect(words == ["remove", "remove many"] && many.count == 1)
    #expect(many.first?.selections.count == 3_000 - PendingChanges.mostBroad)
    #expect(writes.removalState == .done && isThere(writes, 2_999))
  }

  @Test func `removals beyond the memory limit become all`() {
    var writes = PendingWrites(limit: 1 << 20, changes: PendingChanges(mostBroad: 0, mostOverflow: 10_000))
    for index in 0..<10 { writes.remove(.tag("\(index)")) }
    #expect(!writes.removals.selections.contains(.all))
    for index in 0..<100 { writes.remove(.tag("\(index)")) }
    #expect(writes.removals.selections.first == .all)
    #expect(words(writes.take(most: 5_000, frames: 100_000)).first == "remove all")
  }

  @Test func `removed entry does not bring back the replaced one`() {
    var writes = PendingWrites(limit: 1 << 20)
    let (key, old) = (Sample.key("/a"), Sample.head())
    writes.put(Sample.entry("/a", body: "new", head: Sample.head(time: 2_000, tag: "feed")))
    writes.remove(.tag("feed"))
    #expect(writes.view(key).entries.isEmpty && writes.view(key).head(key, old) == nil)
  }

  @Test func `renewals wait for countless removals`() {
    var writes = PendingWrites(limit: 1 << 20, changes: PendingChanges(mostBroad: 0))
    let (key, old) = (Sample.key("/a"), Sample.head(tag: "old"))
    writes.remove(.tag("other"))
    // The renewal would be carried out after the removal of the tag that it adds.
    writes.renew(key, stored: old.responseTime, head: Sample.head(tag: "new"))
    writes.remove(.tag("new"))
    #expect(writes.view(key).head(key, old) == old)
    #expect(drain(&writes).words == ["remove many"])
  }

  @Test func `bytes are counted until written`() {
    var writes = PendingWrites(limit: 10_000)
    for index in 0..<20 { writes.put(Sample.entry("/\(index)", body: String(repeating: "x", count: 500))) }
    #expect(writes.bytes > 5_000 && writes.bytes <= 10_000)
    writes.renew(
      Sample.key("/0"), stored: WallTime(milliseconds: 1_000), head: Sample.head(eTag: "\"longer than it was\""))
    var batch = writes.take(most: 64, frames: 1_000)
    writes.renew(
      Sample.key("/1"), stored: WallTime(milliseconds: 1_000), head: Sample.head(eTag: "\"longer than it was\""))
    writes.remove(.key(Sample.key("/2")))
    writes.finish(batch)
    batch = writes.take(most: 64, frames: 1_000)
    #expect(words(batch).allSatisfy { !$0.hasPrefix("put") })
    writes.finish(batch)
    #expect(writes.bytes == 0)
    #expect(writes.entries(Sample.key("/1")).isEmpty)
    let other = Sample.key("/1", account: "another")
    #expect(!writes.holdsForOthers(other.anyAccount, than: [other.account]))
  }

  @Test func `barrier is taken alone`() {
    var writes = PendingWrites(limit: 1 << 20)
    writes.put(Sample.entry("/a"))
    writes.barrier { _ in }
    writes.put(Sample.entry("/b"))
    #expect(words(writes.take(most: 10, frames: 1_000)) == ["put body"])
    #expect(words(writes.take(most: 10, frames: 1_000)) == ["barrier"])
    #expect(words(writes.take(most: 10, frames: 1_000)) == ["put body"])
    #expect(writes.take(most: 10, frames: 1_000).isEmpty)
  }

  @Test func `batches respect the page limit`() {
    var writes = PendingWrites(limit: 1 << 20)
    for index in 0..<4 {
      writes.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Data(count: 40_960)))
    }
    #expect(writes.take(most: 64, frames: 40).count == 2)
    #expect(writes.take(most: 64, frames: 1).count == 1)
    #expect(writes.take(most: 64, frames: 40).count == 1)
  }

  @Test func `view applies changes in order`() {
    var writes = PendingWrites(limit: 1 << 20)
    let key = Sample.key("/a")
    let old = Sample.head(time: 1_000)
    let new = Sample.head(time: 2_000, tag: "new")
    #expect(writes.view(key).head(key, old) == old)
    writes.renew(key, stored: old.responseTime, head: new)
    #expect(writes.view(key).head(key, old) == new)
    #expect(writes.view(key).head(key, Sample.head(time: 5)) == Sample.head(time: 5))
    writes.remove(.tag("new"))
    #expect(writes.view(key).head(key, old) == nil)
    #expect(writes.view(key).head(key, Sample.head(time: 5)) == Sample.head(time: 5))
    writes.put(CacheEntry(key: key, head: new, body: Data()))
    #expect(writes.view(key).entries.map(\.head) == [new])
    #expect(writes.view(key).head(key, Sample.head(time: 5)) == nil)
  }

  @Test func `removed variants count as memory`() {
    let key = Sample.key("/a")
    var removals = CompactRemovals()
    for index in 0..<10 { #expect(removals.insert(.remove(.variant(key, Sample.digest("\(index)")))) == true) }
    let several = removals.cost
    #expect(removals.insert(.remove(.key(key))) == true)
    #expect(several == removals.cost + 240)
  }
}
