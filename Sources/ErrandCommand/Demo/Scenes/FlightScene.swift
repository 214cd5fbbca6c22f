import Errand
import ErrandCache
import ErrandTesting

struct FlightScene: DemoScene {
  let title = "Why did this request do that? The flight record answers in sentences"
  let source = SceneSource()

  // shown: begin
  struct GetFeed: APIRequest {
    var path: Path { "/feed" }
    var cache: CachePolicy { .http }
    typealias Response = String
  }

  struct Vote: APIRequest {
    var path: Path { "/votes" }
    var method: HTTPMethod { .post }
    typealias Response = String
  }
  // shown: end

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    if request.path == "/votes" { return .status(503) }
    return .ok("news").setting("Cache-Control", to: "max-age=60, stale-while-revalidate=30")
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let clock = DemoClock()
    client.configure { $0.cache.store = .own(ResponseCache(store: MemoryStore()) { clock.now }) }
    // shown: begin
    client.configure { ($0.record, $0.retries) = (.ring(calls: 500), .standard) }
    _ = try await client.send(GetFeed())
    clock.advance(by: .seconds(61))
    _ = try await client.send(GetFeed())
    let vote = await client.outcome(of: Vote())

    let why = client.flightRecord.calls.map(\.why)
    // shown: end

    for request in stage.requests(to: .api).prefix(1) { stage.showSent(request) }
    for call in client.flightRecord.calls {
      for line in call.why.split(separator: "\n") { stage.showReceived("\(call.requestType): \(line)") }
    }
    check(why, vote, on: stage)
  }

  @MainActor private func check(_ why: [String], _ vote: Outcome<String>, on stage: Stage) {
    let isStale = why.count == 3 && why[1].hasPrefix("served stale: 6")
    stage.expect("the second feed is stale, and the record names its age and its limits", isStale)
    stage.expect(
      "the vote failed with status 503 after one attempt", vote.error?.status == 503 && vote.metrics.attempts == 1)
    stage.expect(
      "why the vote was not retried: POST without an idempotency key",
      why.last?.hasSuffix("the server may have processed the POST request, and it has no idempotency key") == true)
  }
}
