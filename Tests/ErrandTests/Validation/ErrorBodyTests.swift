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
        == "The server answered 409; expected 200–299. The body could not be decoded as `Fault`, the `ErrorBody` of "
        + #"the request: $.reason: the key "reason" is missing, in {"message":"sold out"}."#)
  }

  @Test func `page instead of JSON is named`() async {
    let error = await error(.text("<html><body>Bad gateway</body></html>", status: 502))
    #expect(error?.message.contains("could not be decoded as `Fault`") == true)
    #expect(error?.message.contains("the text is not JSON") == true)
  }

  @Test func `body that fits and empty body are silent`() async {
    let plain = "The server answered 409; expected 200–299."
    #expect(await error(.json(#"{"reason":"sold out"}"#, status: 409))?.message == plain)
    #expect(await error(.status(409))?.message == plain)
    let undeclared = await ScriptedClient(answers: [.text("no", status: 409)]).failure(of: Sending())
    #expect(undeclared?.message == plain)
  }
}
