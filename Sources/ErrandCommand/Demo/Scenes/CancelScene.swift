import Errand
import ErrandTesting

/// A call that is cancelled while the server works on it.
struct CancelScene: DemoScene {
  let title = "Cancel in flight: one terminal event, and the connection is let go"
  let declared = #"""
    let call = client.start(Forecast(), options: .tag("forecast")) { text in
      tell("success: \(text)", nil)
    } onFailure: { error in
      tell("failure: \(error.message)", error)
    }
    try await gate.reached()
    call.cancel()
    """#

  struct Forecast: APIRequest {
    var path: Path { "/forecast" }
    typealias Response = String
  }

  private let gate = Gate()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .ok("rain").held(at: gate) }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let endings = Notebook<(line: String, error: APIError?)>()
    func tell(_ line: String, _ error: APIError?) { endings.note((line, error)) }

    let call = client.start(Forecast(), options: .tag("forecast")) { text in
      tell("success: \(text)", nil)
    } onFailure: { error in
      tell("failure: \(error.message)", error)
    }
    try await gate.reached()
    let open = stage.server(.api).record.openConnectionCount
    let wasExecuting = call.isExecuting
    call.cancel()
    await endings.reached(1)
    let isLetGo: Void? = try? await stage.server(.api).wait(within: .seconds(30)) { $0.openConnectionCount < open }
    gate.open()

    stage.showSent(stage.requests().first)
    for ending in endings.entries { stage.showGot(ending.line) }
    stage.claim("the call ran until it was cancelled", wasExecuting && !call.isExecuting && call.isCancelled)
    stage.claim("its one terminal event says so", endings.entries.map { $0.error?.isCancelled } == [true])
    stage.claim("the server saw the connection close before it had answered", isLetGo != nil)
    stage.claim("nothing runs any more", client.running.isEmpty)
  }
}
