import Errand
import ErrandTesting
import Foundation
import Testing

struct EnvelopeTests {
  struct User: Decodable, Sendable, Equatable { let nick: String }

  static let envelope = Envelope(value: "data", code: "code", success: [0, "OK"], message: "message")

  @Test func `value is decoded inside the envelope`() async throws {
    let bench = ScriptedClient(answers: [
      .json(#"{"code":0,"message":"ok","data":{"nick":"A"}}"#), .json(#"{"code":"OK","data":{"nick":"B"}}"#),
    ])
    #expect(try await bench.client.send(Ask<User>(envelope: Self.envelope)) == User(nick: "A"))
    #expect(try await bench.client.send(Ask<User>(envelope: Self.envelope)) == User(nick: "B"))
  }

  @Test func `other codes are failures`() async {
    let bench = ScriptedClient(answers: [.json(#"{"code":1001,"message":"no such user","data":null}"#)])
    let error = await bench.failure(of: Ask<User>(envelope: Self.envelope))
    #expect(error?.stage == .validate && error?.code == .business && error?.businessCode == "1001")
    #expect(error?.message == "The server rejected the request with code 1001: no such user.")
    #expect(error?.status == 200)
  }

  @Test func `error status has the business code too`() async {
    let bench = ScriptedClient(answers: [
      .json(#"{"code":1001,"message":"balance too low"}"#, status: 422), .text("<html>", status: 502),
      .json("[]", status: 500),
    ])
    let error = await bench.failure(of: Ask<User>(envelope: Self.envelope))
    #expect(error?.code == .status && error?.businessCode == "1001" && error?.status == 422)
    #expect(
      error?.message
        == "The server answered 422 with code 1001; expected 200–299. Message of the server: balance too low.")
    for status in [502, 500] {
      let other = await bench.failure(of: Ask<User>(envelope: Self.envelope))
      #expect(other?.message == "The server answered \(status); expected 200–299." && other?.businessCode == nil)
    }
  }

  @Test(arguments: [(#""0""#, "0 (the code is a string, but `Envelope.success` contains it as a number)"), ("7", "7")])
  func `code of another type is explained`(code: String, words: String) async {
    let bench = ScriptedClient(answers: [.json(#"{"code":\#(code)}"#)])
    let error = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(error?.message == "The server rejected the request with code \(words).")
  }

  @Test(arguments: ["12345678901234567890123", "1.50", "-7"], [200, 422])
  func `code is shown as written`(code: String, status: Int) async {
    let bench = ScriptedClient(answers: [.json(#"{"code":\#(code)}"#, status: status)])
    let error = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(error?.businessCode == code && error?.message.contains(" with code \(code)") == true)
  }

  @Test func `number code is not its text`() async {
    let bench = ScriptedClient(answers: [.json(#"{"code":1.50}"#)])
    let error = await bench.failure(of: Sending(envelope: Envelope(code: "code", success: ["1.50"])))
    #expect(error?.message.contains("(the code is a number, but `Envelope.success` contains it as a string)") == true)
  }

  @Test func `text code without message is quoted`() async {
    let bench = ScriptedClient(answers: [.json(#"{"code":"E7"}"#)])
    let error = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(error?.businessCode == "E7" && error?.message == "The server rejected the request with code E7.")
  }

  /// HTTP does not allow a body in these responses.
  @Test(arguments: [
    (HTTPMethod.delete, 204, true), (.post, 205, true), (.get, 304, true), (.head, 200, true), (.get, 200, false),
  ])
  func `missing body needs no envelope`(method: HTTPMethod, status: Int, isRight: Bool) async {
    let bench = ScriptedClient(answers: [.status(status)], change: { $0.validation.envelope = Self.envelope })
    let outcome = await bench.client.outcome(of: Ask<Nothing>(method: method, statusRule: .success.or([304])))
    #expect((outcome.error?.code == .notJSON) == !isRight && (outcome.error == nil) == isRight)
  }

  @Test(arguments: [true, false]) func `missing body is nil if optional`(hasEnvelope: Bool) async throws {
    let bench = ScriptedClient(
      answers: [
        .status(204), .json("null"), .json(hasEnvelope ? #"{"code":0,"data":{"nick":"A"}}"# : #"{"nick":"A"}"#),
      ],
      change: { if hasEnvelope { $0.validation.envelope = Self.envelope } })
    #expect(try await bench.client.send(Ask<User?>()) == nil)
    if !hasEnvelope { #expect(try await bench.client.send(Ask<User?>()) == nil) }
    if hasEnvelope { #expect(await bench.failure(of: Ask<User?>())?.code == .business) }
    #expect(try await bench.client.send(Ask<User?>()) == User(nick: "A"))
  }

  @Test func `server message stays on one line`() async {
    let long = String(repeating: "x", count: 100_000)
    let bench = ScriptedClient(answers: [
      .json(#"{"code":17,"message":"iPhone\nis sold"}"#), .json(#"{"code":17,"message":"\#(long)"}"#, status: 422),
    ])
    let first = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(first?.message == #"The server rejected the request with code 17: iPhone\u{a}is sold."#)
    let second = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(second?.message.hasSuffix("Message of the server: " + String(repeating: "x", count: 300) + "…") == true)
  }

  @Test(arguments: ["sold.", "sold!", "已售出。"]) func `server sentence gets no second full stop`(words: String) async {
    let bench = ScriptedClient(answers: [.json(#"{"code":17,"message":"\#(words)"}"#)])
    let error = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(error?.message == "The server rejected the request with code 17: \(words)")
  }

  @Test func `non-JSON response names the cure`() async {
    let bench = ScriptedClient(answers: [.text("no JSON"), .text("no JSON")])
    let error = await bench.failure(of: Sending(envelope: Self.envelope))
    #expect(error?.code == .notJSON && error?.message.contains("`ResponseValidation(envelope: .none)`") == true)
    let shaped = await bench.failure(of: Sending(shape: .any))
    #expect(shaped?.code == .notJSON && shaped?.message.contains("Envelope") == false)
  }

  @Test func `missing code is a failure`() async {
    let bench = ScriptedClient(answers: [.json(#"{"data":{"nick":"A"}}"#)])
    let error = await bench.failure(of: Ask<User>(envelope: Self.envelope))
    #expect(error?.code == .business && error?.businessCode == nil)
    #expect(
      error?.message
        == "The response has no business code at $.code, but the `Envelope` of the call requires a code.")
  }

  @Test func `nested paths work`() async throws {
    let envelope = Envelope(value: "result.items[0]", code: "result.status.code", success: [200])
    let body = #"{"result":{"status":{"code":200},"items":[{"nick":"A"}]}}"#
    #expect(
      try await ScriptedClient(answers: [.json(body)]).client.send(Ask<User>(envelope: envelope)) == User(nick: "A"))
  }

  @Test func `missing value is a decoding failure`() async {
    let bench = ScriptedClient(answers: [.json(#"{"code":0}"#)])
    let error = await bench.failure(of: Ask<User>(envelope: Self.envelope))
    #expect(error?.stage == .decode && error?.code == .decoding)
    #expect(error?.message.hasPrefix("The response could not be decoded as JSON: $.data: ") == true)
  }

  @Test func `optional value may be missing`() async throws {
    let bench = ScriptedClient(answers: [.json(#"{"code":0}"#), .json(#"{"code":0,"data":null}"#)])
    #expect(try await bench.client.send(Ask<User?>(envelope: Self.envelope)) == nil)
    #expect(try await bench.client.send(Ask<User?>(envelope: Self.envelope)) == nil)
  }

  @Test func `path of a nested error is complete`() async {
    let bench = ScriptedClient(answers: [.json(#"{"code":0,"data":{"nick":7}}"#)])
    let error = await bench.failure(of: Ask<User>(envelope: Self.envelope))
    #expect((error?.cause as? JSONDecodingError)?.path == "data.nick")
    #expect(error?.message.contains("$.data.nick: expected a string, found a number") == true)
  }

  @Test func `client and family may set envelopes`() async throws {
    let bench = ScriptedClient(answers: [
      .json(#"{"data":{"nick":"A"}}"#), .json(#"{"d":{"nick":"B"}}"#), .json(#"{"nick":"C"}"#),
    ]) {
      $0.validation.envelope = Envelope(value: "data")
    }
    let family = RequestFamily("f", validation: ResponseValidation(envelope: Envelope(value: "d")))
    #expect(try await bench.client.send(Ask<User>()) == User(nick: "A"))
    #expect(try await bench.client.send(Ask<User>(family: family)) == User(nick: "B"))
    #expect(try await bench.client.send(Ask<User>(envelope: Envelope())) == User(nick: "C"))
  }

  @Test func `business code fails Data and Nothing`() async {
    let bench = ScriptedClient({ $0.validation.envelope = Self.envelope }, answer: { _ in .json(#"{"code":5}"#) })
    #expect(await bench.failure(of: Sending())?.businessCode == "5")
    #expect(await bench.failure(of: Ask<Nothing>())?.businessCode == "5")
    #expect(await bench.failure(of: Ask<String>())?.businessCode == "5")
  }

  @Test func `shape applies to the whole envelope`() async {
    let bench = ScriptedClient(
      { $0.validation.envelope = Self.envelope }, answer: { _ in .json(#"{"code":0,"data":[]}"#) })
    #expect(await bench.failure(of: Sending(shape: ["data": [.any]])) == nil)
    #expect(await bench.failure(of: Sending(shape: ["data": .string]))?.code == .shape)
  }

  @Test func `status is checked before the code`() async {
    let bench = ScriptedClient(
      { $0.validation.envelope = Self.envelope }, answer: { _ in .json(#"{"code":5}"#, status: 500) })
    #expect(await bench.failure(of: Sending())?.code == .status)
  }

  struct Fault: Decodable, Sendable { let code: Int }
  struct Failing: APIRequest {
    typealias ErrorBody = Fault
    var path: Path { "/f" }
  }

  @Test func `rejected response has a typed error body`() async {
    let bench = ScriptedClient({ $0.validation.envelope = Self.envelope }, answer: { _ in .json(#"{"code":5}"#) })
    #expect(await bench.failure(of: Failing())?.body(as: Fault.self)?.code == 5)
  }
}
