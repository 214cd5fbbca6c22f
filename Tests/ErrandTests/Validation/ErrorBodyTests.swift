import Errand
import ErrandTesting
import Foundation
import Testing

/// The bodies of rejected responses that do not fit the declared `ErrorBody`.
struct ErrorBodyTests {
  struct Fault: Decodable, Sendable { let reason: String }

  struct Get: APIRequest {
    typealias ErrorBody = Fault
    var path: Path { "/a" }
  }

  private func error(_ answer: ScriptedAnswer) async -> APIError? {
    await ScriptedClient(answers: [answer]).failure(of: Get())
  }

  @Test func `body that does not fit says why`() async {
    let error = await error(.json(#"{"message":"sold out"}"#, status: 409))
    #expect(error?.body(as: Fault.self) == nil)
    #expect(
      error?.message
        == "The server answered 409; expected 200–299. `body(as: Fault.self)` is nil, because the body does not fit "
        + #"the `ErrorBody` of the request: $.reason: the key "reason" is missing, in {"message":"sold out"}."#)
  }

  @Test func `page instead of JSON is named`() async {
    let error = await error(.text("<html><body>Bad gateway</body></html>", status: 502))
    #expect(error?.code == .status)
    #expect(
      error?.message
        == "The server answered 502; expected 200–299. `body(as: Fault.self)` is nil, because the body is an HTML "
        + "page, which begins with <html><body>Bad gateway</body></html>.")
  }

  @Test func `code and message of the server come first`() async {
    let bench = ScriptedClient(
      { $0.validation.envelope = Envelope(value: "data", code: "code", message: "message") },
      answer: { _ in .json(#"{"code":1001,"message":"balance too low"}"#) })
    let error = await bench.failure(of: Get())
    #expect(error?.code == .business && error?.businessCode == "1001")
    let start = "The server rejected the request with code 1001: balance too low. `body(as: Fault.self)` is nil, "
    #expect(error?.message.hasPrefix(start) == true)
  }

  @Test func `body that fits and empty body are silent`() async {
    let plain = "The server answered 409; expected 200–299."
    #expect(await error(.json(#"{"reason":"sold out"}"#, status: 409))?.message == plain)
    #expect(await error(.status(409))?.message == plain)
    let undeclared = await ScriptedClient(answers: [.text("no", status: 409)]).failure(of: Sending())
    #expect(undeclared?.message == plain)
  }
}
