import ErrandCache
import StoreSamples
import Testing

@testable import ErrandRedis

/// The recorded removals.
@Suite struct RedisDebtsTests {
  private var debts = RedisDebts()

  private mutating func selections() -> [CacheSelection] {
    debts.pay().compactMap { if case .remove(let selection) = $0 { selection } else { nil } }
  }

  @Test mutating func `equal removals are recorded once`() {
    for _ in 0..<3 { debts.add(.remove(.tag("x"))) }
    #expect(!debts.isEmpty)
    #expect(selections() == [.tag("x")])
    #expect(debts.isEmpty)
  }

  @Test mutating func `remove all replaces other removals`() {
    debts.add(.remove(.tag("x")))
    debts.add(.put(Sample.entry("/a")))
    debts.add(.remove(.all))
    debts.add(.remove(.tag("y")))
    debts.add(.put(Sample.entry("/b")))
    #expect(selections() == [.all])
  }

  @Test mutating func `too many removals become all`() {
    for index in 0...RedisDebts.most { debts.add(.remove(.tag("\(index)"))) }
    #expect(selections() == [.all])
  }

  @Test mutating func `too many replaced entries are dropped`() {
    for index in 0...RedisDebts.most + 10 { debts.add(.put(Sample.entry("/\(index)"))) }
    #expect(selections().count == RedisDebts.most)
  }

  @Test mutating func `only memory-only renewals remove`() {
    debts.add(.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1), head: Sample.head()))
    #expect(debts.isEmpty)
    let head = Sample.head(isMemoryOnly: true)
    debts.add(.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1), head: head))
    #expect(selections() == [.variant(Sample.key("/a"), head.variant)])
  }

  @Test mutating func `replaced entries are no requested removals`() {
    debts.add(.put(Sample.entry("/a")))
    #expect(!debts.hasRemovals)
    for write in [RedisWrite.remove(.tag("x")), .sweep(RedisIndex(tag: "x")), .purge(cursor: "17")] {
      debts = RedisDebts()
      debts.add(write)
      #expect(debts.hasRemovals)
    }
  }

  @Test mutating func `interrupted cleanup restarts`() {
    debts.add(.sweep(RedisIndex(tag: "x")))
    debts.add(.purge(cursor: "17"))
    debts.add(.touch([:]))
    let owed = debts.pay()
    #expect(owed.count == 2)
    guard case .purge(let cursor, _)? = owed.last else {
      Issue.record("no purge")
      return
    }
    #expect(cursor == "0")
  }
}
