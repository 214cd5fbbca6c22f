import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 22: HEAD.
struct Rule22HeadTests {
  static let changed = "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT"

  @Test func `HEAD is served from stored GET`() throws {
    let head = Scene.stored("Cache-Control: max-age=60")
    #expect(Scene.word(try Scene.rules(.head).decide(among: [head], at: Scene.at(1)).decision) == "fresh")
  }

  @Test func `GET is not served from stored HEAD`() throws {
    let response = Scene.response(200, "Cache-Control: max-age=60", length: 0)
    guard case .store(let head) = try Scene.rules(.head).storing(response),
      case .store(let other) = try Scene.rules().storing(response)
    else {
      Issue.record("not stored")
      return
    }
    #expect(Scene.word(try Scene.rules().decide(among: [head], at: Scene.at(1)).decision) == "fetch missing")
    #expect(Scene.word(try Scene.rules(.head).decide(among: [head], at: Scene.at(1)).decision) == "fresh")
    #expect(try Scene.rules().choice(among: [head, other]) == 1)
    #expect(head.variant != other.variant)
  }

  @Test(arguments: [
    (#"ETag: "x""#, #"ETag: "x""#, "renewed"), (#"ETag: "x""#, #"ETag: "y""#, "outdated"),
    (changed, changed, "renewed"),
    (changed, "Last-Modified: \(Scene.date)", "outdated"), (#"ETag: "x""#, "", "unrelated"), ("", "", "unrelated"),
    (#"ETag: "x" | Content-Length: 2"#, #"ETag: "x" | Content-Length: 2"#, "renewed"),
    (#"ETag: "x" | Content-Length: 2"#, #"ETag: "x" | Content-Length: 3"#, "outdated"),
    ("Content-Length: 2", "Content-Length: 3", "outdated"), ("Content-Length: 2", "Content-Length: 2", "unrelated"),
    ("ETag: \"\u{e1}\"", "ETag: \"a\u{301}\"", "outdated"),
    ("", #"ETag: "x""#, "outdated"), (#"ETag: "x""#, #"ETag: "x" | Cache-Control: no-store"#, "last"),
  ])
  func `HEAD response freshens or outdates`(stored: String, response: String, word: String) throws {
    let head = Scene.stored("Cache-Control: max-age=5 | \(stored)")
    let renewal = try Scene.rules(.head).freshening(of: head, byHead: Scene.response(200, response, came: 50))
    #expect(Scene.word(renewal) == word)
    if word == "renewed" { #expect(renewal.head?.responseTime == Scene.at(50).wall) }
  }

  @Test func `only successful HEAD freshens`() throws {
    let head = Scene.stored(#"ETag: "x""#)
    let (yes, no) = (#"ETag: "x""#, #"ETag: "y""#)
    #expect(try Scene.word(Scene.rules(.head).freshening(of: head, byHead: Scene.response(404, no))) == "unrelated")
    #expect(try Scene.word(Scene.rules(.get).freshening(of: head, byHead: Scene.response(200, yes))) == "unrelated")
    let own = Scene.stored(#"ETag: "x""#, method: .head)
    #expect(try Scene.word(Scene.rules(.head).freshening(of: own, byHead: Scene.response(200, yes))) == "unrelated")
  }
}
