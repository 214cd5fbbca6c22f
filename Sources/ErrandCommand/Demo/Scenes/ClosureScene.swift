import Errand
import ErrandTesting

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
    let reports = EventCollector<String>()
    var furthest: Int64 = 0
    func report(_ line: String) { reports.append(line) }

    // shown: begin
    client.start(Report(year: 2025)) { text in
      report("success: \(text)")
    } onFailure: { error in
      report("failure: \(error.message)")
    } onProgress: { progress in
      furthest = progress.bytes
    }
    // shown: end
    await reports.waitForEntries(1)
    client.start(
      Report(year: 2099), onSuccess: { report("success: \($0)") }, onFailure: { report("failure: \($0.message)") })
    await reports.waitForEntries(2)

    for request in stage.requests() { stage.showSent(request) }
    stage.showReceived("progress: \(furthest) bytes")
    for line in reports.entries { stage.showReceived(line) }
    stage.expect("the first call reported success", reports.entries.first == "success: a good year")
    stage.expect(
      "the second call reported its failure",
      reports.entries.last?.hasPrefix("failure: The server answered 404") == true)
    stage.expect("each call used exactly one of its two closures", reports.entries.count == 2)
  }
}
