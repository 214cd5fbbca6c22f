import Errand
import ErrandTesting

/// A server that has too much to do for a moment.
struct RetryScene: DemoScene {
  let title = "Trying again: a server that is busy for a moment, and a payment that is made once"
  let declared = #"""
    struct Pay: APIRequest {
      let amount: Int
      var path: Path { "/payments" }
      var method: HTTPMethod { .post }
      var arguments: Arguments { ["amount": amount] }
      var retries: RetryPolicy? { .standard }
      var idempotency: Idempotency { .keyed() }
    }
    let outcome = await client.outcome(of: Pay(amount: 20))
    """#

  struct Pay: APIRequest {
    let amount: Int
    var path: Path { "/payments" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["amount": amount] }
    var retries: RetryPolicy? { .standard }
    var idempotency: Idempotency { .keyed() }
    typealias Response = String
  }

  private let turns = TurnCounter()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    turns.next() < 3 ? .status(503, headers: ["Retry-After": "0"]) : .ok("paid")
  }

  @MainActor func play(on stage: Stage) async throws {
    turns.reset()
    let client = stage.client
    let outcome = await client.outcome(of: Pay(amount: 20))

    let requests = stage.requests()
    let keys = requests.compactMap { $0.headers["Idempotency-Key"] }
    for request in requests { stage.showSent(request, fields: ["Idempotency-Key"]) }
    for retry in outcome.metrics.retries {
      stage.showGot("\(retry.reason), tried again after \(Wording.duration(retry.delay))")
    }
    stage.showGot(outcome.value ?? outcome.error?.message ?? "")
    stage.claim("the third attempt brought the answer", outcome.value == "paid" && requests.count == 3)
    stage.claim("one key told the server that it was one payment", keys.count == 3 && Set(keys).count == 1)
    stage.claim(
      "the metrics tell of both new attempts", outcome.metrics.retries.map(\.reason) == [.status(503), .status(503)])
  }
}
