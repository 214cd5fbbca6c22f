import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 2: which responses may be stored.
struct Rule02StoringTests {
  @Test(arguments: [
    (100, "Cache-Control: max-age=60", "status"), (103, "Cache-Control: public", "status"),
    (200, "", "store"), (203, "", "store"), (204, "", "store"), (300, "", "store"), (301, "", "store"),
    (308, "", "store"), (404, "", "store"), (405, "", "store"), (410, "", "store"), (414, "", "store"),
    (501, "", "store"), (201, "", "status"), (302, "", "status"), (307, "", "status"), (400, "", "status"),
    (403, "", "status"), (500, "", "status"), (503, "", "status"),
    (302, "Cache-Control: max-age=60", "store"), (500, "Cache-Control: max-age=60", "store"),
    (599, "Cache-Control: max-age=60", "store"), (302, "Expires: 0", "store"), (302, "Cache-Control: public", "store"),
    (302, "Cache-Control: private", "store"), (302, "Cache-Control: s-maxage=60", "status"),
    (304, "Cache-Control: max-age=60", "status"), (206, "Cache-Control: max-age=60", "partial"),
    (200, "Cache-Control: no-store", "no-store"), (200, "Cache-Control: max-age=60, no-store", "no-store"),
    (200, "Cache-Control: no-store | Expires: \(Scene.date(60))", "no-store"),
    (200, "Cache-Control: no-store, must-understand", "store"),
    (201, "Cache-Control: no-store, must-understand", "status"),
    (599, "Cache-Control: max-age=60, must-understand", "status"), (404, "Cache-Control: must-understand", "store"),
  ])
  func `permission and status decide`(status: Int, fields: String, word: String) throws {
    #expect(try Scene.word(Scene.rules().storing(Scene.response(status, fields))) == word)
  }

  @Test(arguments: [401, 407, 412, 428, 429, 431, 511]) func `some statuses are never stored`(status: Int) throws {
    let response = Scene.response(status, "Cache-Control: max-age=60, public")
    for policy in [CachePolicy.http, .httpElse(.seconds(9)), .lifetime(.seconds(9))] {
      #expect(try Scene.word(Scene.rules(policy: policy).storing(response)) == "status")
    }
  }

  @Test func `request can forbid storing`() throws {
    let response = Scene.response(200, "Cache-Control: max-age=60")
    #expect(try Scene.word(Scene.rules(.get, "Cache-Control: no-store").storing(response)) == "no-store")
    let declared = CachePolicy.lifetime(.seconds(9))
    #expect(
      try Scene.word(Scene.rules(.get, "Cache-Control: no-store", policy: declared).storing(response)) == "no-store")
    #expect(try Scene.word(Scene.rules(policy: .none).storing(response)) == "disabled")
    #expect(try Scene.word(Scene.rules(mode: .withoutCache).storing(response)) == "disabled")
    #expect(try Scene.word(Scene.rules(mode: .ignoringCache).storing(response)) == "store")
  }

  @Test(arguments: [
    (200, "", true, "store"), (200, "Cache-Control: no-store", true, "memory"), (500, "", true, "store"),
    (200, "Cache-Control: max-age=60", false, "status"), (404, "", false, "status"), (302, "", true, "store"),
    (206, "", true, "partial"), (304, "", true, "status"), (200, "Vary: *", true, "store"),
    (200, "Cache-Control: no-cache, private, must-revalidate", true, "store"),
  ])
  func `declared lifetime stores accepted responses`(status: Int, fields: String, isAccepted: Bool, word: String) throws
  {
    for method in [HTTPMethod.get, .post, .delete] {
      let rules = try Scene.rules(method, policy: .lifetime(.seconds(60)))
      #expect(Scene.word(rules.storing(Scene.response(status, fields, isAccepted: isAccepted))) == word)
    }
  }

  @Test(arguments: [
    (200, "", true, "store"), (404, "", false, "status"), (500, "", true, "store"),
    (404, "Cache-Control: max-age=60", false, "store"), (200, "Cache-Control: no-store", true, "no-store"),
    (500, "Cache-Control: no-cache", true, "status"), (200, "Expires: 0", false, "store"),
  ])
  func `server directives override lifetime`(status: Int, fields: String, isAccepted: Bool, word: String)
    throws
  {
    let rules = try Scene.rules(policy: .httpElse(.seconds(60)))
    #expect(Scene.word(rules.storing(Scene.response(status, fields, isAccepted: isAccepted))) == word)
    #expect(
      try Scene.word(Scene.rules(.post, policy: .httpElse(.seconds(60))).storing(Scene.response(200))) == "method")
  }
}
