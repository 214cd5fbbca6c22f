import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 1: the key, and several responses under it.
struct Rule01KeyTests {
  @Test(arguments: [
    ("GET", "store"), ("HEAD", "store"), ("PUT", "method"), ("DELETE", "method"), ("PATCH", "method"),
    ("OPTIONS", "method"), ("PURGE", "method"), ("get", "method"),
  ])
  func `GET and HEAD are stored`(method: String, word: String) throws {
    let rules = try Scene.rules(HTTPMethod(method))
    let response = Scene.response(200, "Cache-Control: max-age=60")
    #expect(Scene.word(rules.storing(response)) == word)
    #expect((rules.decideBeforeLookup() == .bypass(.method)) == (word != "store"))
  }

  @Test func `fragments and HEAD share the key`() throws {
    let recipe = CacheKeyRecipe(model: .http, partition: .nobody, salt: [])
    let key = try recipe.key(for: HTTPRequest(url: "https://h/a?b#c"))
    #expect(try recipe.key(for: HTTPRequest(method: .head, url: "https://H:443/a?b#d")) == key)
    #expect(try recipe.key(for: HTTPRequest(method: .options, url: "https://h/a?b")) != key)
  }

  @Test func `variants are stored separately`() throws {
    let response = Scene.response(200, "Cache-Control: max-age=60 | Vary: Accept-Language")
    var heads: [CacheEntryHead] = []
    for language in ["en", "fr"] {
      guard case .store(let head) = try Scene.rules(.get, "Accept-Language: \(language)").storing(response) else {
        continue
      }
      heads.append(head)
    }
    #expect(Set(heads.map(\.variant)).count == 2)
    for (index, language) in ["en", "fr"].enumerated() {
      let rules = try Scene.rules(.get, "Accept-Language: \(language)")
      let (found, decision) = rules.decide(among: heads, at: Scene.at(1))
      #expect(found == index && Scene.word(decision) == "fresh")
    }
  }
}
