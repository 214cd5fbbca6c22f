import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 23 and 24: parts of bodies, and redirects.
@Suite struct Rule23PartTests {
  @Test func `rule 23: ranges go past the cache`() throws {
    let head = Scene.stored("Cache-Control: max-age=60")
    for policy in [CachePolicy.http, .lifetime(.seconds(60))] {
      let question = try Scene.ask(.get, "Range: bytes=0-1", policy: policy)
      #expect(question.decide(among: [head], at: Scene.at(1)).decision == .bypass(.range))
      #expect(Scene.word(question.storing(Scene.answer(200, "Cache-Control: max-age=60"))) == "partial")
    }
  }

  @Test(arguments: ["", "Range: bytes=0-1"]) func `rule 23: parts are not stored`(request: String) throws {
    for policy in [CachePolicy.http, .lifetime(.seconds(60)), .httpElse(.seconds(60))] {
      let answer = Scene.answer(206, "Cache-Control: max-age=60 | Content-Range: bytes 0-1/9")
      #expect(try Scene.word(Scene.ask(.get, request, policy: policy).storing(answer)) == "partial")
    }
  }

  @Test(arguments: [
    (301, "Cache-Control: max-age=60", "store", "fresh"), (302, "Cache-Control: max-age=60", "store", "fresh"),
    (307, "Cache-Control: max-age=5", "store", "validate"), (302, "", "status", ""), (308, "", "store", "validate"),
    (303, "Cache-Control: no-store, max-age=60", "no-store", ""),
  ])
  func `rule 24: each hop has its own freshness`(status: Int, fields: String, word: String, later: String) throws {
    let decision = try Scene.ask().storing(Scene.answer(status, "Location: /b | \(fields)"))
    #expect(Scene.word(decision) == word)
    guard case .store(let head) = decision else { return }
    #expect(head.answer.status == status && head.answer.fields[.location] == "/b")
    #expect(Scene.word(try Scene.ask().decide(head, at: Scene.at(10))) == later)
  }

  @Test func `rule 24: each hop has its own key`() throws {
    let recipe = CacheKeyRecipe(model: .http, partition: .nobody, salt: [])
    #expect(
      try recipe.key(for: HTTPRequest(url: "https://h/a")) != recipe.key(for: HTTPRequest(url: "https://h/b")))
  }
}
