import Errand
import ErrandSupport
import ErrandTesting

/// A redirect that leads to another host.
final class RedirectScene: DemoScene {
  let title = "A redirect to another host: the secrets stay behind"
  let declared = #"""
    struct GetPaper: APIRequest {
      var path: Path { "/papers/1" }
      var headers: RequestHeaders { ["X-Client": "demo", "X-Api-Key": .secret("k-42")] }
      var credential: RequestCredential { .bearer("t0ken") }
      typealias Response = String
    }
    let paper = try await client.response(GetPaper())
    """#

  struct GetPaper: APIRequest {
    var path: Path { "/papers/1" }
    var headers: RequestHeaders { ["X-Client": "demo", "X-Api-Key": .secret("k-42")] }
    var credential: RequestCredential { .bearer("t0ken") }
    typealias Response = String
  }

  /// Where the API sends its callers.
  private let target = Locked("")

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    host == .api ? .redirect(to: target.withLock { $0 }) : .ok("Notes by the translator")
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    target.withLock { $0 = "\(stage.server(.cdn).url)/files/notes" }
    let paper = try await client.response(GetPaper())

    let fields = ["Authorization", "X-Api-Key", "X-Client", "Host"]
    let (first, second) = (stage.requests().first, stage.requests(to: .cdn).first)
    stage.showSent(first, fields: fields)
    stage.showSent(second, to: .cdn, fields: fields)
    stage.showGot("“\(paper.value)” from \(paper.raw.url), \(paper.metrics.redirects) redirect")
    stage.claim(
      "the API saw both secrets",
      first?.headers["Authorization"] == "Bearer t0ken" && first?.headers["X-Api-Key"] == "k-42")
    stage.claim(
      "the other host saw neither, and all the rest",
      second.map { $0.headers["Authorization"] == nil && $0.headers["X-Api-Key"] == nil } == true
        && second?.headers["X-Client"] == "demo")
  }
}
