import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 3: a private cache, and the owners of its responses.
struct Rule03PrivacyTests {
  @Test(arguments: [
    ("Cache-Control: private, max-age=60", "fresh"), (#"Cache-Control: private="X-A", max-age=60"#, "fresh"),
    ("Cache-Control: max-age=60, s-maxage=0", "fresh"), ("Cache-Control: s-maxage=60", "validate"),
    ("Cache-Control: max-age=60, proxy-revalidate", "fresh"),
    ("Cache-Control: max-age=5, proxy-revalidate, stale-while-revalidate=60", "stale-while-revalidate"),
  ])
  func `shared cache directives are ignored`(fields: String, word: String) throws {
    let head = Scene.stored(fields)
    let (_, decision) = try Scene.rules(.get, "Authorization: Bearer x").decide(among: [head], at: Scene.at(10))
    #expect(Scene.word(decision) == word)
  }

  @Test func `each credential has its own key`() throws {
    let response = Scene.response(200, "Cache-Control: max-age=60")
    #expect(try Scene.word(Scene.rules(.get, "Authorization: Bearer x").storing(response)) == "store")
    let keys = try ["Bearer x", "Bearer y", nil].map { value -> CacheKey in
      var fields = HTTPFields()
      fields[.authorization] = value
      let partition = CachePartition.of(account: nil, fields: fields)
      return CacheKeyRecipe(model: .http, partition: partition, salt: [])
        .key(for: try HTTPRequest(url: "https://h/a", fields: fields))
    }
    #expect(Set(keys).count == 3 && Set(keys.map(\.anyAccount)).count == 1)
  }
}
