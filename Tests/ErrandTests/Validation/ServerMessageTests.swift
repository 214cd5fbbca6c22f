import Errand
import ErrandTesting
import Foundation
import Testing

/// The message of the server as a property of the error.
struct ServerMessageTests {
  struct Fault: Decodable, LocalizedError {
    let reason: String
    var errorDescription: String? { reason }
  }

  struct Pay: APIRequest {
    typealias ErrorBody = Fault
    var path: Path { "/pay" }
    var headers: RequestHeaders = [:]
  }

  private static let envelope = Envelope(value: "data", code: "code", message: "message")

  private func error(
    _ answer: ScriptedAnswer, envelope: Envelope = .none, headers: RequestHeaders = [:]
  ) async -> APIError? {
    let bench = ScriptedClient(answers: [answer]) { $0.validation.envelope = envelope }
    return await bench.failure(of: Pay(headers: headers))
  }

  @Test(arguments: [200, 422]) func `envelope has the message`(status: Int) async {
    let answer = ScriptedAnswer.json(#"{"code":7,"message":"Sold\nout","reason":"none left"}"#, status: status)
    let error = await error(answer, envelope: Self.envelope)
    #expect(error?.serverMessage == "Sold\nout" && error?.message.contains(#"Sold\u{a}out."#) == true)
    #expect(error?.message.contains("none left") == false)
  }

  @Test func `problem has the message`() async {
    let body = #"{"title":"No credit","detail":"It costs 50."}"#
    let answer = ScriptedAnswer.data(Data(body.utf8), contentType: "application/problem+json", status: 403)
    #expect(await error(answer)?.serverMessage == "No credit. It costs 50.")
  }

  @Test func `error body has the message`() async {
    let error = await error(.json(#"{"reason":"Sold out"}"#, status: 409))
    #expect(error?.serverMessage == "Sold out" && error?.body(as: Fault.self)?.reason == "Sold out")
    #expect(error?.message == "The server answered 409; expected 200–299. Message of the server: Sold out.")
  }

  @Test func `error body follows a business code`() async {
    let error = await error(.json(#"{"code":7,"reason":"Sold out"}"#), envelope: Self.envelope)
    #expect(error?.code == .business && error?.serverMessage == "Sold out")
    #expect(
      error?.message == "The server rejected the request with code 7. Message of the server: Sold out.")
  }

  @Test(arguments: [200, 422]) func `empty message is nil`(status: Int) async {
    let error = await error(.json(#"{"code":7,"message":"","reason":""}"#, status: status), envelope: Self.envelope)
    #expect(error?.businessCode == "7" && error?.serverMessage == nil)
    #expect(error?.message.contains(" .") == false && error?.message.contains(": .") == false)
  }

  @Test func `only a rejection has a message`() async {
    struct Get: APIRequest {
      typealias Response = Data
      typealias ErrorBody = Fault
      let path: Path = "/page"
      let validation = ResponseValidation(contentTypes: ["text/csv"])
    }
    let error = await ScriptedClient(answers: [.json(#"{"reason":"Sold out"}"#)]).failure(of: Get())
    #expect(error?.code == .contentType && error?.serverMessage == nil)
    #expect(await self.error(.status(500))?.serverMessage == nil)
  }

  @Test func `message is complete and masked`() async {
    let long = String(repeating: "x", count: 5_000)
    let error = await error(
      .json(#"{"reason":"sesame-open-17 \#(long)"}"#, status: 409), headers: ["X-Api-Key": .secret("sesame-open-17")])
    #expect(error?.serverMessage == "••• " + long)
    #expect(error?.message.hasSuffix("x…") == true)
  }
}
