import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 8: the heuristic lifetime if no lifetime is set; and the declared lifetime.
struct Rule08HeuristicTests {
  /// Last modified 1,000 seconds before the response arrived.
  static let changed = "Last-Modified: \(Scene.date(-1_000))"

  @Test(arguments: [
    (200, changed, 99, "fresh"), (200, changed, 100, "validate"), (200, "", 0, "validate"),
    (200, "Last-Modified: yesterday", 0, "validate"), (200, "\(changed) | \(changed)", 0, "validate"),
    (200, "Last-Modified: \(Scene.date(1_000))", 0, "validate"), (302, changed, 1, "validate"),
    (201, changed, 1, "validate"), (403, changed, 1, "validate"), (500, changed, 1, "validate"),
    (302, "\(changed) | Cache-Control: public", 99, "fresh"),
    (200, "\(changed) | Cache-Control: max-age=5", 10, "validate"),
    (203, changed, 1, "fresh"), (204, changed, 1, "fresh"), (300, changed, 1, "fresh"), (301, changed, 1, "fresh"),
    (308, changed, 1, "fresh"), (404, changed, 1, "fresh"), (405, changed, 1, "fresh"), (410, changed, 1, "fresh"),
    (414, changed, 1, "fresh"), (501, changed, 1, "fresh"),
  ])
  func `heuristic lifetime uses Last-Modified`(status: Int, fields: String, age: Double, word: String) throws {
    let head = Scene.stored(fields, status: status)
    #expect(Scene.word(try Scene.rules().decide(head, at: Scene.at(age))) == word)
  }

  @Test(arguments: [
    ("Cache-Control: max-age=5", 59, "fresh"), ("Cache-Control: no-cache", 59, "fresh"),
    ("Expires: 0", 59, "fresh"), ("Age: 1000", 59, "fresh"), ("Date: \(Scene.date(-1_000))", 59, "fresh"),
    ("Cache-Control: max-age=9999", 60, "validate"), (changed, 60, "validate"),
    ("Cache-Control: max-age=1, stale-while-revalidate=99", 60, "validate"),
  ])
  func `declared lifetime overrides the server`(fields: String, age: Double, word: String) throws {
    #expect(try Scene.verdict(fields, after: age, policy: .lifetime(.seconds(60))) == word)
  }

  @Test(arguments: [
    ("", 59, "fresh"), ("", 60, "validate"), (changed, 59, "fresh"), ("Cache-Control: private", 59, "fresh"),
    ("Cache-Control: max-age=5", 10, "validate"), ("Cache-Control: max-age=99", 90, "fresh"),
    ("Cache-Control: no-cache", 1, "validate"), ("Expires: 0", 1, "validate"),
    ("Cache-Control: no-store, must-understand", 1, "validate"), (#"Cache-Control: x=""#, 1, "validate"),
  ])
  func `declared lifetime fills the gap`(fields: String, age: Double, word: String) throws {
    #expect(try Scene.verdict(fields, after: age, policy: .httpElse(.seconds(60))) == word)
  }

  @Test func `reading request's lifetime applies`() throws {
    let head = Scene.stored("", policy: .lifetime(.seconds(60)))
    let long = try Scene.rules(policy: .lifetime(.seconds(100)))
    let short = try Scene.rules(policy: .lifetime(.seconds(5)))
    #expect(Scene.word(long.decide(among: [head], at: Scene.at(90)).decision) == "fresh")
    #expect(Scene.word(short.decide(among: [head], at: Scene.at(10)).decision) == "validate")
  }
}
