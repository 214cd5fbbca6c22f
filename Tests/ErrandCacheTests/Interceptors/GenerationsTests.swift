import Testing

@testable import ErrandCache

struct GenerationsTests {
  private func digest(_ word: UInt64) -> Digest { Digest(words: (word, word, word, word)) }

  private func key(_ word: UInt64, account: UInt64 = 0) -> CacheKey {
    CacheKey(entry: digest(word), anyAccount: digest(word), target: digest(word + 100), account: digest(account))
  }

  private func label(host: String = "h", tag: String? = nil) -> CacheEntryLabel {
    CacheEntryLabel(method: "GET", url: "http://h/", host: host, tag: tag)
  }

  private let received = WallTime(milliseconds: 5)

  @Test func `removal affects earlier exchanges only`() {
    var generations = Generations()
    let early = generations.register()
    generations.advance(.key(key(1)))
    let late = generations.register()
    #expect(!generations.admits(early, key: key(1), label: label(), received: received))
    #expect(generations.admits(early, key: key(2), label: label(), received: received))
    #expect(generations.admits(late, key: key(1), label: label(), received: received))
  }

  @Test(arguments: [
    (CacheSelection.all, true), (.host("h"), true), (.host("other"), false), (.tag("t"), true), (.tag("u"), false),
    (.olderThan(WallTime(milliseconds: 5)), false), (.olderThan(WallTime(milliseconds: 6)), true),
  ])
  func `selections cover matching entries`(_ selection: CacheSelection, _ covers: Bool) {
    #expect(selection.covers(key(1), label(host: "h", tag: "t"), received: received) == covers)
  }

  @Test(arguments: [("a", "https://h", false), ("b", "https://h", true), ("a", "http://h", true), ("tag", "t", true)])
  func `removal by group concerns its members`(_ name: String, _ origin: String, _ isAdmitted: Bool) {
    var generations = Generations()
    let early = generations.register()
    generations.advance(.group(CacheGroup(origin: origin, name: name)))
    let late = generations.register()
    let groups = [CacheGroup(origin: "https://h", name: "c"), CacheGroup(origin: "https://h", name: "a")]
    for (generation, expected) in [(early, isAdmitted), (late, true)] {
      let label = label(tag: "tag")
      #expect(
        generations.admits(generation, key: key(1), label: label, received: received, groups: groups) == expected)
    }
  }

  @Test func `removal by age ends now`() {
    let now = { WallTime(milliseconds: 5) }
    let (early, late) = (WallTime(milliseconds: 3), WallTime(milliseconds: .max))
    #expect(CacheSelection.olderThan(early).happening(at: now) == .olderThan(early))
    #expect(CacheSelection.olderThan(late).happening(at: now) == .olderThan(now()))
    #expect(CacheSelection.host("h").happening(at: now) == .host("h"))
  }

  @Test func `account and target selections cover entries`() {
    #expect(CacheSelection.account(digest(7)).covers(key(1, account: 7), label(), received: received))
    #expect(!CacheSelection.account(digest(8)).covers(key(1, account: 7), label(), received: received))
    #expect(CacheSelection.target(digest(101)).covers(key(1), label(), received: received))
    #expect(!CacheSelection.target(digest(102)).covers(key(1), label(), received: received))
  }

  @Test func `removal without exchanges is forgotten`() {
    var generations = Generations()
    generations.advance(.all)
    #expect(generations.remembered == 0)
    let registered = generations.register()
    generations.advance(.all)
    generations.advance(.host("h"))
    #expect(generations.remembered == 2)
    generations.unregister(registered)
    #expect(generations.remembered == 0)
    generations.unregister(registered)
    #expect(generations.remembered == 0)
  }

  @Test func `countless removals count as one`() {
    var generations = Generations()
    let early = generations.register()
    for index in 0..<Generations.mostRemovals { generations.advance(.tag("\(index)")) }
    #expect(generations.remembered == Generations.mostRemovals)
    #expect(generations.admits(early, key: key(1), label: label(), received: received))
    var own = [Generations.Pending(key: key(1), label: label(), generation: early)]
    generations.advance(.tag("one more"), keeping: &own, received: received)
    #expect(generations.remembered == 1)
    #expect(!generations.admits(early, key: key(1), label: label(), received: received))
    for generation in [own[0].generation, generations.register()] {
      #expect(generations.admits(generation, key: key(1), label: label(), received: received))
    }
  }

  @Test func `exchange registered twice must return twice`() {
    var generations = Generations()
    let registered = generations.register()
    generations.register(with: registered)
    generations.unregister(registered)
    generations.advance(.all)
    #expect(!generations.admits(registered, key: key(1), label: label(), received: received))
    let late = generations.register()
    generations.unregister(registered)
    generations.register(with: registered)
    generations.advance(.host("h"))
    generations.unregister(late)
    #expect(generations.remembered == 1, "the earlier exchange is still in progress")
    generations.unregister(registered)
    #expect(generations.remembered == 0)
  }

  @Test func `oldest exchange keeps removals remembered`() {
    var generations = Generations()
    let first = generations.register()
    generations.advance(.all)
    let second = generations.register()
    generations.unregister(second)
    #expect(!generations.admits(first, key: key(1), label: label(), received: received))
    generations.unregister(first)
    #expect(generations.remembered == 0)
  }
}
