import ErrandCache
import StoreSamples
import Testing

@testable import ErrandRedis

/// The recorded removals.
struct RedisPendingRemovalsTests {
  private var pending = RedisPendingRemovals()

  private mutating func selections() -> [CacheSelection] {
    pending.takeAll().compactMap { write -> CacheSelection? in
      switch write {
      case .remove(let selection): selection
      case .displace(let key): .key(key)
      default: nil
      }
    }
  }

  @Test mutating func `equal removals are recorded once`() {
    for _ in 0..<3 { pending.add(.remove(.tag("x"))) }
    #expect(!pending.isEmpty)
    #expect(selections() == [.tag("x")])
    #expect(pending.isEmpty)
  }

  @Test mutating func `remove all replaces other removals`() {
    pending.add(.remove(.tag("x")))
    pending.add(.put(Sample.entry("/a")))
    pending.add(.remove(.all))
    pending.add(.remove(.tag("y")))
    pending.add(.put(Sample.entry("/b")))
    #expect(selections() == [.all])
  }

  @Test mutating func `equal texts with different bytes are separate`() {
    for tag in ["ad\u{e1}", "ada\u{301}"] { pending.add(.remove(.tag(tag))) }
    #expect(selections().count == 2)
  }

  @Test mutating func `many removals stay separate`() {
    for index in 0..<20_000 { pending.add(.remove(.tag("\(index)"))) }
    #expect(Set(selections()) == Set((0..<20_000).map { .tag("\($0)") }))
  }

  @Test mutating func `removals beyond the memory limit become all`() {
    pending = RedisPendingRemovals(mostBytes: 64 << 10)
    let long = String(repeating: "x", count: 32 << 10)
    for number in [1, 1, 1, 2] { pending.add(.remove(.tag(long + "\(number)"))) }
    #expect(selections() == [.all])
  }

  @Test mutating func `too many replaced entries are dropped`() {
    for index in 0...RedisPendingRemovals.most + 10 { pending.add(.put(Sample.entry("/\(index)"))) }
    #expect(selections().count == RedisPendingRemovals.most)
  }

  @Test mutating func `new salt keeps removals without digests`() {
    let kept: [CacheSelection] = [.tag("x"), .host("h.example"), .olderThan(WallTime(milliseconds: 1))]
    for selection in kept + [.variant(Sample.key("/a"), Sample.digest("variant"))] { pending.add(.remove(selection)) }
    pending.add(.put(Sample.entry("/b")))
    pending.saltChanged()
    #expect(Set(selections()) == Set(kept))
  }

  @Test(arguments: [
    CacheSelection.key(Sample.key("/a")), .target(Sample.digest("target")), .account(Sample.digest("account")),
  ])
  mutating func `new salt turns digests into all`(selection: CacheSelection) {
    pending.add(.remove(.tag("x")))
    pending.add(.remove(selection))
    pending.saltChanged()
    #expect(selections() == [.all])
  }

  @Test mutating func `only memory-only renewals remove`() {
    pending.add(.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1), head: Sample.head()))
    #expect(pending.isEmpty)
    let head = Sample.head(isMemoryOnly: true)
    pending.add(.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1), head: head))
    #expect(selections() == [.key(Sample.key("/a"))])
  }

  /// Redis has lost its data, and other servers have stored entries since, which must stay.
  @Test mutating func `new salt drops entries that were not kept`() {
    for write in [RedisWrite.displace(Sample.key("/a")), .put(Sample.entry("/b"))] { pending.add(write) }
    #expect(!pending.hasRemovals)
    for write in pending.takeAll() {
      guard case .displace? = write.afterSaltChange else {
        Issue.record("\(write) removes more than its key")
        continue
      }
      pending.add(write)
    }
    pending.saltChanged()
    #expect(pending.isEmpty)
  }

  @Test mutating func `replaced entries are no requested removals`() {
    pending.add(.put(Sample.entry("/a")))
    #expect(!pending.hasRemovals)
    for write in [RedisWrite.remove(.tag("x")), .sweep(RedisIndex(tag: "x")), .purge(cursor: "17")] {
      pending = RedisPendingRemovals()
      pending.add(write)
      #expect(pending.hasRemovals)
    }
  }

  @Test mutating func `interrupted cleanup restarts`() {
    pending.add(.sweep(RedisIndex(tag: "x")))
    pending.add(.purge(cursor: "17"))
    pending.add(.touch([:]))
    let taken = pending.takeAll()
    #expect(taken.count == 2)
    guard case .purge(let cursor, _)? = taken.last else {
      Issue.record("no purge")
      return
    }
    #expect(cursor == "0")
  }
}
