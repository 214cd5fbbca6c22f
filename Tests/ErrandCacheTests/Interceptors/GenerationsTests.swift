import Testing

@testable import ErrandCache

@Suite struct GenerationsTests {
  private func digest(_ word: UInt64) -> Digest { Digest(words: (word, word, word, word)) }

  private func key(_ word: UInt64, account: UInt64 = 0) -> CacheKey {
    CacheKey(entry: digest(word), anyAccount: digest(word), target: digest(word + 100), account: digest(account))
  }

  private func label(host: String = "h", tag: String? = nil) -> CacheEntryLabel {
    CacheEntryLabel(method: "GET", url: "http://h/", host: host, tag: tag)
  }

  @Test func `removal affects earlier exchanges only`() {
    var generations = Generations()
    let early = generations.note()
    generations.advance(.key(key(1)))
    let late = generations.note()
    #expect(!generations.admits(early, key: key(1), label: label()))
    #expect(generations.admits(early, key: key(2), label: label()))
    #expect(generations.admits(late, key: key(1), label: label()))
  }

  @Test(arguments: [
    (CacheSelection.all, true), (.host("h"), true), (.host("other"), false), (.tag("t"), true), (.tag("u"), false),
    (.olderThan(WallTime(milliseconds: .max)), false),
  ])
  func `selections cover matching entries`(_ selection: CacheSelection, _ covers: Bool) {
    #expect(selection.covers(key(1), label(host: "h", tag: "t")) == covers)
  }

  @Test func `account and target selections cover entries`() {
    #expect(CacheSelection.account(digest(7)).covers(key(1, account: 7), label()))
    #expect(!CacheSelection.account(digest(8)).covers(key(1, account: 7), label()))
    #expect(CacheSelection.target(digest(101)).covers(key(1), label()))
    #expect(!CacheSelection.target(digest(102)).covers(key(1), label()))
  }

  @Test func `removal without exchanges is forgotten`() {
    var generations = Generations()
    generations.advance(.all)
    #expect(generations.remembered == 0)
    let noted = generations.note()
    generations.advance(.all)
    generations.advance(.host("h"))
    #expect(generations.remembered == 2)
    generations.giveBack(noted)
    #expect(generations.remembered == 0)
    generations.giveBack(noted)
    #expect(generations.remembered == 0)
  }

  @Test func `exchange noted twice must return twice`() {
    var generations = Generations()
    let noted = generations.note()
    generations.note(of: noted)
    generations.giveBack(noted)
    generations.advance(.all)
    #expect(!generations.admits(noted, key: key(1), label: label()))
    let late = generations.note()
    generations.giveBack(noted)
    generations.note(of: noted)
    generations.advance(.host("h"))
    generations.giveBack(late)
    #expect(generations.remembered == 1, "the earlier exchange is still in progress")
    generations.giveBack(noted)
    #expect(generations.remembered == 0)
  }

  @Test func `oldest exchange keeps removals remembered`() {
    var generations = Generations()
    let first = generations.note()
    generations.advance(.all)
    let second = generations.note()
    generations.giveBack(second)
    #expect(!generations.admits(first, key: key(1), label: label()))
    generations.giveBack(first)
    #expect(generations.remembered == 0)
  }
}
