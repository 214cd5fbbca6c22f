import Errand
import ErrandTesting

/// An argument that every URL carries.
struct FilterScene: DemoScene {
  let title = "A version argument, added to every URL by a filter"
  let declared = #"""
    struct News: APIRequest {
      let page: Int
      var path: Path { "/news" }
      var arguments: Arguments { ["page": page] }
    }
    let filter = URLFilter("version") { url, _ in url.arguments["version"] = "1.2.3" }
    client.configure { $0.filters.append(filter) }
    _ = try await client.send(News(page: 1))
    client.configure { $0.filters.removeAll { $0.name == "version" } }
    _ = try await client.send(News(page: 2))
    """#

  struct News: APIRequest {
    let page: Int
    var path: Path { "/news" }
    var arguments: Arguments { ["page": page] }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .ok("no news") }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let filter = URLFilter("version") { url, _ in url.arguments["version"] = "1.2.3" }
    client.configure { $0.filters.append(filter) }
    _ = try await client.send(News(page: 1))
    client.configure { $0.filters.removeAll { $0.name == "version" } }
    _ = try await client.send(News(page: 2))

    let targets = stage.requests().map(\.target)
    for request in stage.requests() { stage.showSent(request) }
    stage.showGot("“no news”, twice")
    stage.claim("the first URL carries the version", targets.first == "/news?page=1&version=1.2.3")
    stage.claim("once the filter is removed by its name, the next one does not", targets.last == "/news?page=2")
  }
}
