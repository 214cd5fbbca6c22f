import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 18 and 19: directives of requests, the read modes of calls, and `immutable`.
struct Rule18AskingTests {
  @Test(
    arguments: [
      ("no-cache", 1, "validate"), ("max-age=10", 10, "fresh"), ("max-age=10", 10.1, "validate"),
      ("max-age=0", 0, "validate"), ("max-age=x", 0, "validate"), ("max-age=999", 59, "fresh"),
      ("max-age=999", 60, "validate"),
      ("min-fresh=10", 50, "fresh"), ("min-fresh=10", 51, "validate"), ("min-fresh=x", 0, "validate"),
      ("max-stale", 9_999, "max-stale"), ("max-stale=5", 65, "max-stale"), ("max-stale=5", 65.1, "validate"),
      ("max-stale=x", 61, "validate"), ("max-age=10, max-stale=5", 15, "max-stale"),
      ("max-age=10, max-stale=5", 15.1, "validate"), ("min-fresh=10, max-stale=5", 55.1, "validate"),
      ("only-if-cached", 59, "fresh"), ("only-if-cached", 60, "504"), ("only-if-cached, max-stale", 99, "max-stale"),
      ("only-if-cached, no-cache", 1, "504"), ("no-store", 1, "fresh"), ("x-unknown", 1, "fresh"),
    ] as [(String, Double, String)])
  func `rule 18: directives of the request`(directive: String, age: Double, word: String) throws {
    for (policy, stored) in [(CachePolicy.http, "Cache-Control: max-age=60"), (.lifetime(.seconds(60)), "")] {
      #expect(try Scene.verdict(stored, after: age, "Cache-Control: \(directive)", policy: policy) == word)
    }
  }

  @Test(arguments: [
    ("Pragma: no-cache", "validate"), ("Pragma: no-cache | Cache-Control: max-age=60", "fresh"), ("Pragma: x", "fresh"),
  ])
  func `rule 18: Pragma needs no Cache-Control`(request: String, word: String) throws {
    #expect(try Scene.verdict("Cache-Control: max-age=60", after: 1, request) == word)
  }

  @Test func `rule 18: only-if-cached never contacts the server`() throws {
    for request in ["", " | Range: bytes=0-1", " | If-Match: *"] {
      let rules = try Scene.rules(.get, "Cache-Control: only-if-cached\(request)")
      #expect(Scene.word(rules.decide(among: [], at: Scene.at(0)).decision) == "504")
    }
    for mode in [CacheReadMode.revalidating, .networkElseCached] {
      let rules = try Scene.rules(.get, "Cache-Control: only-if-cached", mode: mode)
      let head = Scene.stored("Cache-Control: max-age=60")
      #expect(Scene.word(rules.decide(among: [head], at: Scene.at(1)).decision) == "fresh")
    }
    #expect(CacheDecision.gatewayTimeout.status == 504)
  }

  @Test(
    arguments: [
      ("max-age=60, immutable", 59, "fresh"), ("max-age=60, immutable", 60, "validate"), ("max-age=60", 1, "validate"),
      ("max-age=60, immutable, no-cache", 1, "validate"),
    ] as [(String, Double, String)])
  func `rule 19: immutable is not validated`(directives: String, age: Double, word: String) throws {
    #expect(try Scene.verdict("Cache-Control: \(directives)", after: age, mode: .revalidating) == word)
  }

  /// The mode, then the decisions for: a fresh response, a stale one, none stored, no policy.
  @Test(arguments: [
    (CacheReadMode.asDeclared, "fresh", "validate", "fetch missing", "bypass disabled"),
    (.ignoringCache, "bypass ignored", "bypass ignored", "bypass ignored", "bypass disabled"),
    (.withoutCache, "bypass disabled", "bypass disabled", "bypass disabled", "bypass disabled"),
    (.revalidating, "validate", "validate", "fetch missing", "bypass disabled"),
    (.cachedElseLoad, "fresh", "any-age", "fetch missing", "bypass disabled"),
    (.cacheOnly, "fresh", "fail expired", "fail missing", "fail disabled"),
    (.cacheOnlyAtAnyAge, "fresh", "any-age", "fail missing", "fail disabled"),
    (.networkElseCached, "validate", "validate", "fetch missing", "bypass disabled"),
  ])
  func `every mode decides as documented`(mode: CacheReadMode, fresh: String, stale: String, none: String, off: String)
    throws
  {
    for (policy, stored) in [
      (CachePolicy.http, "Cache-Control: max-age=60, must-revalidate"), (.lifetime(.seconds(60)), ""),
      (.httpElse(.seconds(60)), ""),
    ] {
      let head = Scene.stored(stored, policy: policy)
      let rules = try Scene.rules(policy: policy, mode: mode)
      #expect(Scene.word(rules.decide(among: [head], at: Scene.at(10)).decision) == fresh)
      #expect(Scene.word(rules.decide(among: [head], at: Scene.at(99)).decision) == stale)
      #expect(Scene.word(rules.decide(among: [], at: Scene.at(0)).decision) == none)
    }
    #expect(try Scene.word(Scene.rules(policy: .none, mode: mode).decide(among: [], at: Scene.at(0)).decision) == off)
  }

  @Test(
    arguments: [
      ("max-age=60, no-cache", "", 1, "fail needs-server"), ("max-age=60, no-cache", "", 60, "fail expired"),
      ("max-age=60", "Cache-Control: no-cache", 1, "fail needs-server"),
      ("max-age=60", "Cache-Control: max-age=5", 10, "fail needs-server"),
      ("max-age=60 | Content-Encoding: gzip", "Range: bytes=0-1", 1, "fail needs-server"),
      ("max-age=60 | Content-Encoding: gzip", "Range: bytes=0-1", 60, "fail expired"),
      ("max-age=60", "Range: bytes=0-1, 4-5", 1, "fail needs-server"),
      ("max-age=60", "Range: lines=0-1", 60, "fail expired"),
    ] as [(String, String, Double, String)])
  func `fresh response is not called expired`(stored: String, request: String, age: Double, word: String) throws {
    #expect(try Scene.verdict("Cache-Control: \(stored)", after: age, request, mode: .cacheOnly) == word)
  }

  @Test(
    arguments: [
      ("max-age=60", "", CacheReadMode.asDeclared, 60, .miss(.expired)),
      ("max-age=60", "", .revalidating, 1, .requested),
      ("max-age=60", "", .revalidating, 60, .miss(.expired)), ("max-age=60", "", .networkElseCached, 1, .requested),
      ("max-age=60", "Cache-Control: no-cache", .asDeclared, 1, .requested),
      ("max-age=60", "Cache-Control: max-age=5", .asDeclared, 10, .requested),
      ("max-age=60, no-cache", "", .asDeclared, 1, .miss(.needsServer)),
      ("max-age=60, no-cache", "", .asDeclared, 60, .miss(.expired)),
    ] as [(String, String, CacheReadMode, Double, CacheForward)])
  func `validation has a reason`(
    stored: String, request: String, mode: CacheReadMode, age: Double, reason: CacheForward
  ) throws {
    let rules = try Scene.rules(.get, request, mode: mode)
    #expect(rules.forward(validating: Scene.stored("Cache-Control: \(stored)"), at: Scene.at(age)) == reason)
  }

  @Test func `failure serves a local 304`() throws {
    let stored = Scene.stored("ETag: \"x\" | Cache-Control: max-age=5 | X-A: 1")
    for (tag, status) in [("x", 304), ("y", 200)] {
      let rules = try Scene.rules(.get, "If-None-Match: \"\(tag)\"", mode: .networkElseCached)
      let serving = rules.mayServe(stored, after: .noResponse, by: rules.allowance(for: stored), at: Scene.at(99))
      #expect(serving?.head.status == status && serving?.head.fields.contains("X-A") == (status == 200))
    }
  }

  @Test(arguments: [CacheReadMode.cachedElseLoad, .cacheOnlyAtAnyAge])
  func `any age includes no-cache`(mode: CacheReadMode) throws {
    let stored = "Cache-Control: max-age=60, no-cache"
    #expect(try Scene.verdict(stored, after: 59, mode: mode) == "no-cache")
    #expect(try Scene.verdict(stored, after: 60, mode: mode) == "any-age")
  }

  @Test func `network else cached serves any age`() throws {
    let head = Scene.stored("Cache-Control: max-age=5, must-revalidate")
    let rules = try Scene.rules(mode: .networkElseCached)
    guard case .validate(let validation) = rules.decide(head, at: Scene.at(99)) else {
      Issue.record("not validated")
      return
    }
    let failure = { rules.mayServe(head, after: $0, by: validation.allowance, at: Scene.at(9_999)) != nil }
    #expect(failure(.noResponse) && failure(.status(503)) && !failure(.status(404)))
  }

  @Test func `cache only never contacts the server`() throws {
    for request in ["Range: bytes=0-1", "If-Match: *", "Cache-Control: no-cache"] {
      let rules = try Scene.rules(.get, request, mode: .cacheOnly)
      #expect(Scene.word(rules.decide(among: [], at: Scene.at(0)).decision) == "fail missing")
    }
    #expect(try Scene.word(Scene.rules(mode: .cacheOnly).decide(without: .otherAccount)) == "fail other-account")
    #expect(
      try Scene.word(Scene.rules(.post, mode: .cacheOnly).decide(among: [], at: Scene.at(0)).decision) == "fail missing"
    )
  }
}
