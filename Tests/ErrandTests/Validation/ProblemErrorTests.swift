import Errand
import ErrandTesting
import Foundation
import Testing

/// The texts of a problem (RFC 9457) in the error of a call.
struct ProblemErrorTests {
  struct Pay: APIRequest {
    typealias ErrorBody = ProblemDetails
    var path: Path { "/pay" }
    var method: HTTPMethod { .post }
    var headers: RequestHeaders = [:]
  }

  private let detail = "Your current balance is 30, but that costs 50."

  private func problem(
    _ body: String, status: Int = 403, type: String = "application/problem+json", reason: String = ""
  ) -> ScriptedAnswer {
    let fields = HTTPFields([HTTPField(.contentType, type)])
    var answer = ScriptedAnswer(status: status, fields: fields, body: Data(body.utf8))
    answer.head.reason = reason
    return answer
  }

  private func message(_ answer: ScriptedAnswer, headers: RequestHeaders = [:]) async -> String? {
    await ScriptedClient(answers: [answer]).failure(of: Pay(headers: headers))?.message
  }

  @Test(arguments: Carrier.allCases) func `problem is the typed error body`(carrier: Carrier) async throws {
    let server = try LoopbackServer { _ in
      .status(403, fields: ["Content-Type": "application/problem+json"], body: ProblemExample.outOfCredit)
    }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.formats.jsonDecoding = .init(keys: .convertFromSnakeCase) }
    let error = await client.outcome(of: Pay()).error
    let problem = error?.body(as: ProblemDetails.self)
    #expect(problem?.type == "https://example.com/probs/out-of-credit" && problem?.extensions["balance"] == 30)
    #expect(problem?.extensions["accounts"]?[1] == "/account/67890")
    #expect(
      error?.message == "The server answered 403 Forbidden; expected 200–299. Message of the server: "
        + "You do not have enough credit. \(detail)")
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test func `undeclared problem is read, too`() async {
    let error = await ScriptedClient(answers: [problem(ProblemExample.outOfCredit)]).failure(of: Sending())
    #expect(error?.message.hasSuffix("You do not have enough credit. \(detail)") == true)
    #expect(error?.body(as: ProblemDetails.self)?.instance == "/account/12345/msgs/abc")
    let plain = await ScriptedClient(answers: [.json(ProblemExample.outOfCredit, status: 403)]).failure(of: Sending())
    #expect(
      plain?.message == "The server answered 403; expected 200–299." && plain?.body(as: ProblemDetails.self) == nil)
  }

  @Test func `title equal to reason is left out`() async {
    let body = #"{"title":"Not Found","detail":"No user has the number 7"}"#
    #expect(
      await message(problem(body, status: 404, reason: "Not Found"))
        == "The server answered 404 Not Found; expected 200–299. Message of the server: No user has the number 7.")
  }

  @Test func `other media type says why`() async {
    #expect(
      await message(.json(ProblemExample.outOfCredit, status: 403))
        == "The server answered 403; expected 200–299. `body(as: ProblemDetails.self)` is nil, because the body does "
        + "not fit the `ErrorBody` of the request: the response has the content type \"application/json\"; problem "
        + "details have the type application/problem+json.")
    #expect(await message(.status(403)) == "The server answered 403; expected 200–299.")
  }

  @Test func `texts are bounded and masked`() async throws {
    let long = try #require(await message(problem(#"{"title":"\#(String(repeating: "x", count: 5_000))"}"#)))
    #expect(long.count < 400 && long.hasSuffix("x…"))
    let echo = try #require(
      await message(
        problem(#"{"title":"Bad key","detail":"sesame-open-17\nis unknown"}"#),
        headers: ["X-Api-Key": .secret("sesame-open-17")]))
    #expect(echo.hasSuffix(#"Message of the server: Bad key. •••\u{a}is unknown."#), "\(echo)")
  }

  @Test func `envelope message comes first`() async {
    let body = #"{"code":7,"message":"Sold out","title":"Conflict"}"#
    let bench = ScriptedClient({ $0.validation.envelope = Envelope(code: "code", message: "message") }) { _ in
      problem(body, status: 409)
    }
    let error = await bench.failure(of: Sending())
    #expect(error?.message.hasSuffix("Message of the server: Sold out.") == true && error?.businessCode == "7")
  }
}
