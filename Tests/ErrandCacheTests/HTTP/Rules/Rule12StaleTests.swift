import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 12 to 14: responses that are validated before each use, and stale responses that are served.
struct Rule12StaleTests {
  @Test(arguments: [
    ("Cache-Control: no-cache, max-age=60", "", "validate"),
    (#"Cache-Control: no-cache="Set-Cookie", max-age=60"#, "", "validate"),
    ("Cache-Control: no-cache", "Cache-Control: max-stale", "validate"),
    ("Cache-Control: max-age=60", "Cache-Control: no-cache", "validate"),
  ])
  func `rule 12: no-cache validates each time`(fields: String, request: String, word: String) throws {
    #expect(try Scene.verdict(fields, after: 0, request) == word)
    #expect(try Scene.word(Scene.rules().storing(Scene.response(200, fields))) == "store")
  }

  @Test(arguments: [
    ("Cache-Control: max-age=5", "", "validate"), ("Cache-Control: max-age=5", "Cache-Control: max-stale", "max-stale"),
    ("Cache-Control: max-age=5", "Cache-Control: max-stale=5", "max-stale"),
    ("Cache-Control: max-age=5", "Cache-Control: max-stale=4", "validate"),
    ("Cache-Control: max-age=5, must-revalidate", "Cache-Control: max-stale", "validate"),
    ("Cache-Control: max-age=60, must-revalidate", "", "fresh"),
    ("Cache-Control: max-age=5, must-revalidate, stale-while-revalidate=60", "", "validate"),
    ("Cache-Control: max-age=5, no-cache, stale-while-revalidate=60", "", "validate"), ("", "", "validate"),
    (#"Cache-Control: max-age=60, x="open"#, "", "validate"),
    (#"Cache-Control: max-age=60, x="open, must-revalidate"#, "Cache-Control: max-stale", "validate"),
  ])
  func `rule 13: stale response is not served`(fields: String, request: String, word: String) throws {
    #expect(try Scene.verdict(fields, after: 10, request) == word)
  }

  @Test(
    arguments: [
      ("stale-while-revalidate=5", 9, "", "stale-while-revalidate"),
      ("stale-while-revalidate=5", 10, "", "stale-while-revalidate"),
      ("stale-while-revalidate=5", 10.1, "", "validate"), ("stale-while-revalidate=x", 9, "", "validate"),
      ("stale-while-revalidate=5", 4, "", "fresh"), (#"stale-while-revalidate=60, x="open"#, 4, "", "validate"),
      ("stale-while-revalidate=5", 9, "Cache-Control: no-cache", "validate"),
      ("stale-while-revalidate=5", 9, "Cache-Control: max-age=7", "validate"),
      ("stale-while-revalidate=5", 9, "Cache-Control: min-fresh=1", "validate"),
    ] as [(String, Double, String, String)])
  func `rule 14: stale while revalidate`(directive: String, age: Double, request: String, word: String) throws {
    #expect(try Scene.verdict("Cache-Control: max-age=5, \(directive)", after: age, request) == word)
    let head = Scene.stored("Cache-Control: max-age=5, \(directive)")
    guard case .serve(let serving) = try Scene.rules(.get, request).decide(head, at: Scene.at(age)) else { return }
    #expect(serving.refreshes == (word == "stale-while-revalidate"))
  }

  /// The directives of the response and of the request, the failure, the age at the failure, and whether the response
  /// is served.
  @Test(
    arguments: [
      ("stale-if-error=60", "", .noResponse, 30, true), ("stale-if-error=60", "", .noResponse, 65, true),
      ("stale-if-error=60", "", .noResponse, 65.1, false), ("stale-if-error=60", "", .status(500), 30, true),
      ("stale-if-error=60", "", .status(502), 30, true), ("stale-if-error=60", "", .status(503), 30, true),
      ("stale-if-error=60", "", .status(504), 30, true), ("stale-if-error=60", "", .status(501), 30, false),
      ("stale-if-error=60", "", .status(404), 30, false), ("stale-if-error=60", "", .status(429), 30, false),
      ("", "", .noResponse, 30, false), ("", "Cache-Control: stale-if-error=60", .noResponse, 30, true),
      ("stale-if-error=60", "Cache-Control: stale-if-error=5", .noResponse, 30, false),
      ("stale-if-error=60, must-revalidate", "", .noResponse, 30, false),
      ("stale-if-error=60, no-cache", "", .noResponse, 30, false),
      ("stale-if-error=60", "Cache-Control: no-cache", .noResponse, 30, false),
      ("stale-if-error=x", "", .noResponse, 30, false), (#"stale-if-error=60, x="open"#, "", .noResponse, 30, false),
      (#"x="open"#, "Cache-Control: stale-if-error=60", .noResponse, 30, false),
    ] as [(String, String, CacheFailure, Double, Bool)])
  func `rule 14: stale if error`(
    directive: String, request: String, failure: CacheFailure, age: Double, isServed: Bool
  ) throws {
    let head = Scene.stored("Cache-Control: max-age=5, \(directive)")
    let rules = try Scene.rules(.get, request)
    guard case .validate(let validation) = rules.decide(head, at: Scene.at(10)) else {
      Issue.record("not validated")
      return
    }
    let serving = rules.mayServe(head, after: failure, by: validation.allowance, at: Scene.at(age))
    #expect((serving != nil) == isServed)
    #expect(serving.map(\.reason) != .fresh)
    #expect(serving?.head.fields["Age"] == (isServed ? "\(Int(age))" : nil))
  }

  @Test func `declared lifetime is not extended`() throws {
    let policy = CachePolicy.lifetime(.seconds(5))
    let head = Scene.stored("Cache-Control: stale-if-error=60, stale-while-revalidate=60", policy: policy)
    guard case .validate(let validation) = try Scene.rules(policy: policy).decide(head, at: Scene.at(10)) else {
      Issue.record("not validated")
      return
    }
    #expect(validation.allowance == .none)
  }
}
