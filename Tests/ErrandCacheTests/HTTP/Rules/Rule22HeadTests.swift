import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 22: HEAD.
@Suite struct Rule22HeadTests {
  static let changed = "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT"

  @Test func `HEAD is served from stored GET`() throws {
    let head = Scene.stored("Cache-Control: max-age=60")
    #expect(Scene.word(try Scene.ask(.head).decide(among: [head], at: Scene.at(1)).decision) == "fresh")
  }

  @Test func `GET is not served from stored HEAD`() throws {
    let answer = Scene.answer(200, "Cache-Control: max-age=60", length: 0)
    guard case .store(let head) = try Scene.ask(.head).storing(answer),
      case .store(let other) = try Scene.ask().storing(answer)
    else {
      Issue.record("not stored")
      return
    }
    #expect(Scene.word(try Scene.ask().decide(among: [head], at: Scene.at(1)).decision) == "fetch missing")
    #expect(Scene.word(try Scene.ask(.head).decide(among: [head], at: Scene.at(1)).decision) == "fresh")
    #expect(try Scene.ask().choice(among: [head, other]) == 1)
    #expect(head.variant != other.variant)
  }

  @Test(arguments: [
    (#"ETag: "x""#, #"ETag: "x""#, "renewed"), (#"ETag: "x""#, #"ETag: "y""#, "outdated"),
    (changed, changed, "renewed"),
    (changed, "Last-Modified: \(Scene.date)", "outdated"), (#"ETag: "x""#, "", "unrelated"), ("", "", "unrelated"),
    (#"ETag: "x" | Content-Length: 2"#, #"ETag: "x" | Content-Length: 2"#, "renewed"),
    (#"ETag: "x" | Content-Length: 2"#, #"ETag: "x" | Content-Length: 3"#, "outdated"),
    ("Content-Length: 2", "Content-Length: 3", "outdated"), ("Content-Length: 2", "Content-Length: 2", "unrelated"),
    ("", #"ETag: "x""#, "outdated"), (#"ETag: "x""#, #"ETag: "x" | Cache-Control: no-store"#, "last"),
  ])
  func `HEAD response freshens or outdates`(stored: String, answer: String, word: String) throws {
    let head = Scene.stored("Cache-Control: max-age=5 | \(stored)")
    let renewal = try Scene.ask(.head).freshening(of: head, byHead: Scene.answer(200, answer, came: 50))
    #expect(Scene.word(renewal) == word)
    if word == "renewed" { #expect(renewal.head?.responseTime == Scene.at(50).wall) }
  }

  @Test func `only successful HEAD freshens`() throws {
    let head = Scene.stored(#"ETag: "x""#)
    let (yes, no) = (#"ETag: "x""#, #"ETag: "y""#)
    #expect(try Scene.word(Scene.ask(.head).freshening(of: head, byHead: Scene.answer(404, no))) == "unrelated")
    #expect(try Scene.word(Scene.ask(.get).freshening(of: head, byHead: Scene.answer(200, yes))) == "unrelated")
    let own = Scene.stored(#"ETag: "x""#, method: .head)
    #expect(try Scene.word(Scene.ask(.head).freshening(of: own, byHead: Scene.answer(200, yes))) == "unrelated")
  }
}
