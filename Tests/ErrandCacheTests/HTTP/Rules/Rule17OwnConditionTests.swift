import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 17: a condition of the caller and a fresh response.
struct Rule17OwnConditionTests {
  static let changed = "Last-Modified: \(Scene.date(-100))"

  @Test(arguments: [
    (#"ETag: "x""#, #"If-None-Match: "x""#, "304"), (#"ETag: "x""#, #"If-None-Match: W/"x""#, "304"),
    (#"ETag: W/"x""#, #"If-None-Match: "x""#, "304"), (#"ETag: "x""#, #"If-None-Match: "a,b", "x""#, "304"),
    (#"ETag: "x""#, #"If-None-Match: "a" | If-None-Match: "x""#, "304"), (#"ETag: "x""#, "If-None-Match: *", "304"),
    ("", "If-None-Match: *", "304"), (#"ETag: "x""#, #"If-None-Match: "y""#, "fresh"),
    (#"ETag: "x""#, #"If-None-Match: "X""#, "fresh"), (#"ETag: "x""#, "If-None-Match: x", "fresh"),
    (#"ETag: "x,y""#, #"If-None-Match: "x", "y""#, "fresh"), ("", #"If-None-Match: "x""#, "fresh"),
    (changed, "If-Modified-Since: \(Scene.date(-100))", "304"),
    (changed, "If-Modified-Since: \(Scene.date(-50))", "304"),
    (changed, "If-Modified-Since: \(Scene.date(-101))", "fresh"), (changed, "If-Modified-Since: 0", "fresh"),
    (changed, "If-Modified-Since: \(Scene.date) | If-Modified-Since: \(Scene.date)", "fresh"),
    ("", "If-Modified-Since: \(Scene.date(0))", "304"), ("", "If-Modified-Since: \(Scene.date(-1))", "fresh"),
    (#"ETag: "x" | \#(changed)"#, #"If-None-Match: "y" | If-Modified-Since: \#(Scene.date)"#, "fresh"),
    (#"ETag: "x" | \#(changed)"#, #"If-None-Match: "x" | If-Modified-Since: \#(Scene.date(-900))"#, "304"),
  ])
  func `matching condition gets a local 304`(stored: String, request: String, word: String) throws {
    #expect(try Scene.verdict("Cache-Control: max-age=60 | \(stored)", after: 1, request) == word)
  }

  @Test func `local 304 has required fields`() throws {
    let head = Scene.stored(
      "Cache-Control: max-age=60 | ETag: \"x\" | \(Self.changed) | Expires: 0 | Vary: X | Content-Location: /b | X-A: 1"
        + " | Content-Type: a/b | Content-Length: 2 | Age: 9")
    guard case .notModified(let serving) = try Scene.rules(.get, #"If-None-Match: "x""#).decide(head, at: Scene.at(1))
    else {
      Issue.record("no local 304")
      return
    }
    #expect(serving.head.status == 304 && serving.reason == .fresh)
    #expect(
      serving.head.fields.all.map { "\($0.name): \($0.value)" } == [
        "Cache-Control: max-age=60", "ETag: \"x\"", "Expires: 0", "Vary: X", "Content-Location: /b",
        "Date: \(Scene.date)", "Age: 10",
      ])
  }

  @Test func `only successes match conditions`() throws {
    let rules = try Scene.rules(.get, #"If-None-Match: "x""#)
    let missing = Scene.stored(#"Cache-Control: max-age=60 | ETag: "x""#, status: 404)
    #expect(Scene.word(rules.decide(missing, at: Scene.at(1))) == "fresh")
  }
}
