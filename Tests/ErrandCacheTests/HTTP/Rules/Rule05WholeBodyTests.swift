import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 5: an incomplete body is never stored as a complete one.
struct Rule05WholeBodyTests {
  @Test(arguments: [
    ("", 2, true, "store"), ("", 2, false, "incomplete"), ("Content-Length: 2", 2, true, "store"),
    ("Content-Length: 3", 2, true, "incomplete"), ("Content-Length: 1", 2, true, "incomplete"),
    ("Content-Length: 2", 2, false, "incomplete"), ("Content-Length: 2 | Content-Length: 3", 2, true, "incomplete"),
    ("Content-Length: x", 2, true, "incomplete"), ("Content-Length: 3 | Content-Encoding: gzip", 2, true, "store"),
    ("Content-Length: 3 | Content-Encoding: gzip", 2, false, "incomplete"),
  ])
  func `the length must be the announced one`(fields: String, length: Int, isComplete: Bool, word: String) throws {
    for policy in [CachePolicy.http, .lifetime(.seconds(60))] {
      let response = Scene.response(200, fields, length: length, isComplete: isComplete)
      #expect(try Scene.word(Scene.rules(policy: policy).storing(response)) == word)
    }
  }

  @Test func `HEAD may announce a length`() throws {
    #expect(try Scene.word(Scene.rules(.head).storing(Scene.response(200, "Content-Length: 9", length: 0))) == "store")
  }
}
