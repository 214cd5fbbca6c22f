import Errand
import ErrandTesting

/// Calls with closures.
struct ClosureScene: DemoScene {
  let title = "Closures: success, failure and progress, on the main actor"
  let source = SceneSource()

  // shown: begin
  struct Report: APIRequest {
    let year: Int
    var path: Path { "/reports/\(year)" }
    typealias Response = String
  }
  // shown: end

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.path == "/reports/2025" ? .ok("a good year") : .status(404, body: "not written yet")
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let told = Notebook<String>()
    var furthest: Int64 = 0
    func tell(_ line: String) { told.note(line) }

    // shown: begin
    client.start(Report(year: 2025)) { text in
      tell("success: \(text)")
    } onFailure: { error in
      tell("failure: \(error.message)")
    } onProgress: { progress in
      furthest = progress.bytes
    }
    // shown: end
    await told.reached(1)
    client.start(
      Report(year: 2099), onSuccess: { tell("success: \($0)") }, onFailure: { tell("failure: \($0.message)") })
    await told.reached(2)

    for request in stage.requests() { stage.showSent(request) }
    stage.showGot("progress: \(furthest) bytes")
    for line in told.entries { stage.showGot(line) }
    stage.claim("the first call reported success", told.entries.first == "success: a good year")
    stage.claim(
      "the second call reported its failure", told.entries.last?.hasPrefix("failure: The server answered 404") == true)
    stage.claim("each call used exactly one of its two closures", told.entries.count == 2)
  }
}
