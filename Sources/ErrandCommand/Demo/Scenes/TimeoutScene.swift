import Errand
import ErrandTesting

/// A server that never answers.
struct TimeoutScene: DemoScene {
  let title = "A time-out: 300 milliseconds for the whole call, and a server that is silent"
  let declared = #"""
    struct Ping: APIRequest {
      var path: Path { "/ping" }
      var timeouts: Timeouts? { Timeouts(idle: .seconds(30), total: .milliseconds(300)) }
    }
    let outcome = await client.outcome(of: Ping())
    """#

  struct Ping: APIRequest {
    var path: Path { "/ping" }
    var timeouts: Timeouts? { Timeouts(idle: .seconds(30), total: .milliseconds(300)) }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .stall() }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let before = stage.server(.api).requests.count
    let outcome = await client.outcome(of: Ping())

    // On a machine that is very busy the server reads the request after the call has ended.
    try? await stage.server(.api).wait { $0.requests.count > before }
    stage.showSent(stage.requests().first)
    if let error = outcome.error { stage.showGot(error) }
    stage.showGot("after \(Wording.duration(outcome.metrics.total))")
    stage.claim("the call ended by its deadline", outcome.error?.code == .deadline && outcome.response == nil)
    stage.claim("not before its 300 ms had passed", outcome.metrics.total >= .milliseconds(300))
    stage.claim("and soon after, not at some idle time-out", outcome.metrics.total < .seconds(30))
  }
}
