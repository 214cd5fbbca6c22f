import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 20 and 21: the effect of unsafe methods on stored responses, and when POST may store a response.
struct Rule20UnsafeTests {
  @Test(arguments: [
    ("POST", 200, 1), ("PUT", 201, 1), ("DELETE", 204, 1), ("PATCH", 302, 1), ("PURGE", 200, 1), ("get", 200, 1),
    ("POST", 303, 1), ("POST", 399, 1), ("POST", 400, 0), ("DELETE", 404, 0), ("PUT", 500, 0), ("POST", 100, 0),
    ("GET", 200, 0), ("HEAD", 200, 0), ("OPTIONS", 200, 0), ("TRACE", 200, 0),
  ])
  func `rule 20: success of an unsafe method invalidates`(method: String, status: Int, count: Int) throws {
    for policy in [CachePolicy.none, .http, .httpElse(.seconds(5))] {
      let rules = try Scene.rules(HTTPMethod(method), policy: policy, url: "https://h/a?x")
      let urls = rules.invalidations(by: ResponseHead(status: status))
      #expect(urls.map(\.string) == Array(repeating: "https://h/a?x", count: count))
    }
    let declared = try Scene.rules(HTTPMethod(method), policy: .lifetime(.seconds(5)))
    #expect(declared.invalidations(by: ResponseHead(status: status)).isEmpty)
  }

  @Test(
    arguments: [
      ("Location: /b", ["https://h/b"]), ("Content-Location: b?c", ["https://h/x/b?c"]),
      ("Location: https://H:443/b | Content-Location: /c", ["https://H:443/b", "https://h/c"].map { $0.lowercased() }),
      ("Location: https://other/b", []), ("Location: http://h/b", []), ("Location: https://h:444/b", []),
      ("Location: //evil/b", []), ("Location: ftp://h/b", []), ("Location: /x/a", []), ("Location: https://", []),
    ] as [(String, [String])])
  func `rule 20: same-origin locations are invalidated`(fields: String, others: [String]) throws {
    let rules = try Scene.rules(.post, policy: .none, url: "https://h/x/a")
    let urls = rules.invalidations(by: ResponseHead(status: 201, fields: Scene.fields(fields)))
    #expect(urls.map(\.string) == ["https://h/x/a"] + others)
  }

  @Test func `rule 20: models share one target`() throws {
    let url = try HTTPURL("https://h/a")
    let targets = [CachePolicy.Model.lifetime, .http, .httpElse].map {
      CacheKeyRecipe(model: $0, fields: ["Accept"], partition: .account("a"), salt: [1]).target(of: url)
    }
    #expect(Set(targets).count == 1)
  }

  @Test(arguments: [
    ("Cache-Control: max-age=60 | Content-Location: /a", "for GET"),
    ("Expires: x | Content-Location: https://h/a", "for GET"),
    ("Cache-Control: max-age=60", "method"), ("Content-Location: /a", "method"),
    ("Cache-Control: max-age=60 | Content-Location: /b", "method"),
    ("Cache-Control: public | Content-Location: /a", "method"),
    ("Cache-Control: max-age=60 | Content-Location: //o/a", "method"),
    ("Cache-Control: max-age=60 | Content-Location: /a | Content-Location: /a", "method"),
    ("Cache-Control: max-age=60, no-store | Content-Location: /a", "no-store"),
  ])
  func `rule 21: POST stores for a later GET`(fields: String, word: String) throws {
    let rules = try Scene.rules(.post)
    let decision = rules.storing(Scene.response(200, fields))
    #expect(Scene.word(decision) == word)
    #expect(rules.decideBeforeLookup() == .bypass(.method))
    guard case .storeForGet(let head) = decision else { return }
    #expect(try Scene.rules().choice(among: [head]) == 0)
    #expect(try Scene.rules(.put).storing(Scene.response(200, fields)) == .refuse(.method))
  }
}
