import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 6 and 7: the lifetime that the server sets.
struct Rule06LifetimeTests {
  static let later = Scene.date(60)

  @Test(arguments: [
    ("Cache-Control: max-age=60", 59, "fresh"), ("Cache-Control: max-age=60", 60, "validate"),
    ("Cache-Control: max-age=60 | Expires: \(Scene.date(5))", 59, "fresh"),
    ("Cache-Control: max-age=5 | Expires: \(later)", 10, "validate"),
    ("Cache-Control: max-age=60 | Expires: 0", 10, "fresh"),
    ("Cache-Control: max-age=60 | Cache-Control: max-age=5", 10, "validate"),
    ("Cache-Control: MAX-age=60", 10, "fresh"), ("Cache-Control: max-age=60, no-cache", 10, "validate"),
    ("Cache-Control: max-age=x | Expires: \(later)", 1, "validate"),
    ("Cache-Control: max-age=-60", 1, "validate"), ("Cache-Control: max-age=60.0", 1, "validate"),
    ("Cache-Control: max-age='60'", 1, "validate"), (#"Cache-Control: max-age=60, x="y"#, 1, "validate"),
    ("Cache-Control: max-age=99999999999", 2_147_483_000, "fresh"),
    ("Cache-Control: max-age=99999999999", 2_147_483_648, "validate"),
  ])
  func `rule 6: max-age overrides Expires`(fields: String, age: Double, word: String) throws {
    #expect(try Scene.verdict(fields, after: age) == word)
  }

  @Test(arguments: [
    ("Expires: \(later)", 59, "fresh"), ("Expires: \(later)", 60, "validate"),
    ("Expires: Sunday, 06-Nov-94 08:50:37 GMT", 59, "fresh"), ("Expires: Sun Nov  6 08:50:37 1994", 59, "fresh"),
    ("Expires: 0", 0, "validate"), ("Expires: -1", 0, "validate"), ("Expires:", 0, "validate"),
    ("Expires: Sun, 06 Nov 1994 08:50:37 UTC", 0, "validate"), ("Expires: Sun, 06 Nov 1994 8:50:37 GMT", 0, "validate"),
    ("Expires: \(later) | Expires: \(later)", 0, "validate"), ("Expires: \(Scene.date(-60))", 0, "validate"),
    ("Expires: 0 | Last-Modified: \(Scene.date(-1_000_000))", 0, "validate"),
    ("Expires: \(later) | Date: \(Scene.date(-30))", 59, "fresh"),
    ("Expires: \(later) | Date: \(Scene.date(-30))", 60, "validate"),
  ])
  func `rule 7: Expires must be one date`(fields: String, age: Double, word: String) throws {
    #expect(try Scene.verdict(fields, after: age) == word)
  }
}
