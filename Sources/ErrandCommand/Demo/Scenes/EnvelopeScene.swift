import Errand
import ErrandTesting

/// The value inside an envelope, and a business code that says no.
struct EnvelopeScene: DemoScene {
  let title = "An envelope: the value inside, and a refusal inside a 200"
  let declared = #"""
    struct Transfer: APIRequest {
      let amount: Int
      var path: Path { "/transfers" }
      var method: HTTPMethod { .post }
      var arguments: Arguments { ["amount": amount] }
      var argumentFormat: ArgumentFormat { .json }
      var envelope: Envelope? {
        Envelope(value: "data", code: "code", success: [0], message: "message")
      }
      struct Response: Decodable, Sendable { let balance: Int }
    }
    let done = try await client.send(Transfer(amount: 5))
    let refused = await client.outcome(of: Transfer(amount: 5_000)).error
    """#

  struct Transfer: APIRequest {
    let amount: Int
    var path: Path { "/transfers" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["amount": amount] }
    var argumentFormat: ArgumentFormat { .json }
    var envelope: Envelope? {
      Envelope(value: "data", code: "code", success: [0], message: "message")
    }
    struct Response: Decodable, Sendable { let balance: Int }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.bodyText == #"{"amount":5}"#
      ? .json(#"{"code": 0, "message": "ok", "data": {"balance": 37}}"#)
      : .json(#"{"code": 1004, "message": "the account does not cover it", "data": null}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let done = try await client.send(Transfer(amount: 5))
    stage.showGot(value: done)
    let refused = await client.outcome(of: Transfer(amount: 5_000)).error
    stage.showGot(refused)

    for request in stage.requests() { stage.showSent(request, fields: ["Content-Type"]) }
    stage.claim("the type is read from inside the envelope", done.balance == 37)
    stage.claim(
      "code 1004 is a failure, though the status is 200", refused?.businessCode == "1004" && refused?.status == 200)
    stage.claim("the error says the server's own words", refused?.message.contains("does not cover it") == true)
  }
}
