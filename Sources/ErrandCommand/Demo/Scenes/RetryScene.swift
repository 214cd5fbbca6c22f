import Errand
import ErrandTesting

struct RetryScene: DemoScene {
  let title = "Retries: a server that is busy for a moment, and a payment that is made once"
  let source = SceneSource()

  // shown: begin
  struct Pay: APIRequest {
    let amount: Int
    var path: Path { "/payments" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["amount": amount] }
    var retries: RetryPolicy { .standard }
    var idempotency: Idempotency { .keyed() }
    typealias Response = String
  }
  // shown: end

  private let turns = TurnCounter()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    turns.next() < 3 ? .status(503, headers: ["Retry-After": "0"]) : .ok("paid")
  }

  @MainActor func play(on stage: Stage) async throws {
    turns.reset()
    let client = stage.client
    // shown: begin
    let outcome = await client.outcome(of: Pay(amount: 20))
    // shown: end

    let requests = stage.requests()
    let keys = requests.compactMap { $0.headers["Idempotency-Key"] }
    for request in requests { stage.showSent(request, fields: ["Idempotency-Key"]) }
    for retry in outcome.metrics.retries {
      stage.showReceived("\(retry.reason), retried after \(Wording.duration(retry.delay))")
    }
    stage.showReceived(outcome.value ?? outcome.error?.message ?? "")
    stage.expect("the third attempt succeeded", outcome.value == "paid" && requests.count == 3)
    stage.expect(
      "all attempts had the same key, so that the server saw one payment", keys.count == 3 && Set(keys).count == 1)
    stage.expect(
      "the metrics list both retries", outcome.metrics.retries.map(\.reason) == [.status(503), .status(503)])
  }
}
