import Errand
import ErrandTesting

/// A scene of the demo in which responses have an envelope: a JSON object with a code, a message and the actual value.
/// The code can report a failure although the status is 200.
struct EnvelopeScene: DemoScene {
  let title = "An envelope: the value inside, and a failure although the status is 200"
  let source = SceneSource()

  // shown: begin
  struct Transfer: APIRequest {
    let amount: Int
    var path: Path { "/transfers" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["amount": amount] }
    var formats: Formats { .json }
    var validation: ResponseValidation {
      ResponseValidation(
        envelope: Envelope(value: "data", code: "code", success: [0], message: "message"))
    }
    struct Response: Decodable, Sendable { let balance: Int }
  }
  // shown: end

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.bodyText == #"{"amount":5}"#
      ? .json(#"{"code": 0, "message": "ok", "data": {"balance": 37}}"#)
      : .json(#"{"code": 1004, "message": "the account does not cover it", "data": null}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    // shown: begin
    let done = try await client.send(Transfer(amount: 5))
    let refused = await client.outcome(of: Transfer(amount: 5_000)).error
    // shown: end
    stage.showReceived(value: done)
    stage.showReceived(refused)

    for request in stage.requests() { stage.showSent(request, fields: ["Content-Type"]) }
    stage.expect("the value is decoded from inside the envelope", done.balance == 37)
    stage.expect(
      "code 1004 is a failure, although the status is 200", refused?.businessCode == "1004" && refused?.status == 200)
    stage.expect("the error contains the server's message", refused?.message.contains("does not cover it") == true)
  }
}
