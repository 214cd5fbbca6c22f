import Errand
import ErrandTesting

/// An answer without a type of its own.
struct JSONValueScene: DemoScene {
  let title = "No type yet: a JSON value, read by path"
  let declared = #"""
    struct Search: APIRequest {
      let text: String
      var path: Path { "/search" }
      var arguments: Arguments { ["q": text, "page": 2, "before": nil as Int?] }
      typealias Response = JSONValue
    }
    let answer = try await client.send(Search(text: "tea & cake"))
    let title = answer["hits"][0]["title"]?.stringValue
    let price = answer.value(at: "hits[1].price")?.doubleValue
    let nothing = answer["hits"][9]["title"]
    """#

  struct Search: APIRequest {
    let text: String
    var path: Path { "/search" }
    var arguments: Arguments { ["q": text, "page": 2, "before": nil as Int?] }
    typealias Response = JSONValue
  }

  static let body = #"{"hits": [{"title": "Scones", "price": 3}, {"title": "Darjeeling", "price": 4.5}]}"#

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .json(Self.body) }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let answer = try await client.send(Search(text: "tea & cake"))
    let title = answer["hits"][0]["title"]?.stringValue
    let price = answer.value(at: "hits[1].price")?.doubleValue
    let nothing = answer["hits"][9]["title"]

    let request = stage.requests().first
    stage.showSent(request)
    stage.showGot("200 \(Self.body)")
    stage.showGot("title   \(title ?? "nil")")
    stage.showGot("price   \(price.map { "\($0)" } ?? "nil")")
    stage.showGot("nothing \(nothing.map { "\($0)" } ?? "nil")")
    stage.claim("the query holds the text escaped, and nothing for nil", request?.query == "q=tea%20%26%20cake&page=2")
    stage.claim(
      "what lies at a path is found, what does not is nil", title == "Scones" && price == 4.5 && nothing == nil)
  }
}
