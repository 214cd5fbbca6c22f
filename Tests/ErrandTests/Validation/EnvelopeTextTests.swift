import Errand
import ErrandTesting
import Foundation
import Testing

/// Responses of the types `String` and `Data` under an envelope.
struct EnvelopeTextTests {
  private static let envelope = Envelope(value: "data", code: "code", message: "message")

  private func outcome<Value: Decodable & Sendable>(
    _ type: Value.Type, _ answer: ScriptedAnswer, envelope: Envelope = EnvelopeTextTests.envelope
  ) async -> Outcome<Value> {
    let bench = ScriptedClient(answers: [answer]) { $0.validation.envelope = envelope }
    return await bench.client.outcome(of: Ask<Value>())
  }

  @Test(arguments: [
    (#"{"code":0,"data":"a\nb \u4e2d"}"#, "a\nb 中"), (#"{"code":0,"data":7.50}"#, "7.50"),
    (#"{"code":0,"data":{"b":1,"a":[true,null]}}"#, #"{"b":1,"a":[true,null]}"#), (#"{"code":0,"data":""}"#, ""),
  ])
  func `String is the value of the envelope`(body: String, text: String) async {
    #expect(await outcome(String.self, .json(body)).value == text)
  }

  @Test(arguments: [
    (#"{"code":0,"data":{"b":1, "a":[true,null]}}"#, #"{"b":1, "a":[true,null]}"#),
    (#"{"code":0,"data":"text"}"#, #""text""#),
  ])
  func `Data is the JSON inside the envelope`(body: String, text: String) async {
    #expect(await outcome(Data.self, .json(body)).value.map { String(decoding: $0, as: UTF8.self) } == text)
  }

  @Test(arguments: [#"{"code":0}"#, #"{"code":0,"data":null}"#]) func `missing value is a failure`(body: String) async {
    for error in [await outcome(String.self, .json(body)).error, await outcome(Data.self, .json(body)).error] {
      #expect(error?.code == .decoding)
      #expect(error?.message.contains("$.data: ") == true)
    }
  }

  @Test func `an envelope leaves other formats alone`() async {
    let bytes = Data([0x89, 0x50, 0x4E])
    let picture = ScriptedAnswer(status: 200, fields: ["Content-Type": "image/png"], body: bytes)
    #expect(await outcome(Data.self, picture, envelope: Envelope(value: "data")).value == bytes)
    #expect(await outcome(String.self, .text("plain"), envelope: Envelope(value: "data")).value == "plain")
  }

  @Test(arguments: ["text/plain", "text/html; charset=utf-8", "application/octet-stream"])
  func `a checked code shows that the body is JSON`(type: String) async {
    let answer = ScriptedAnswer(
      status: 200, fields: ["Content-Type": type], body: Data(#"{"code":0,"data":"x"}"#.utf8))
    #expect(await outcome(String.self, answer).value == "x")
    #expect(await outcome(Data.self, answer).value == Data(#""x""#.utf8))
    let whole = await outcome(String.self, answer, envelope: Envelope(value: "data")).value
    #expect(whole == #"{"code":0,"data":"x"}"#)
  }

  @Test(arguments: [
    ["application/json", "application/json"], ["text/plain", "application/json; charset=utf-8"], [""],
  ])
  func `repeated and empty types are JSON`(types: [String]) async {
    let fields = HTTPFields(types.map { HTTPField(.contentType, $0) })
    let answer = ScriptedAnswer(status: 200, fields: fields, body: Data(#"{"data":"x"}"#.utf8))
    #expect(await outcome(String.self, answer, envelope: Envelope(value: "data")).value == "x")
    #expect(await outcome(Data.self, answer, envelope: Envelope(value: "data")).value == Data(#""x""#.utf8))
  }

  @Test func `JSON that is none names the cure`() async {
    let page = ScriptedAnswer(status: 200, fields: ["Content-Type": "application/json"], body: Data("plain".utf8))
    let error = await outcome(String.self, page, envelope: Envelope(value: "data")).error
    #expect(error?.code == .decoding)
    #expect(error?.message.contains("declare `validation` as `ResponseValidation(envelope: .none)`") == true)
  }

  @Test func `other envelopes and empty bodies keep the whole body`() async {
    let coded = Envelope(code: "code")
    #expect(await outcome(String.self, .json(#"{"code":0}"#), envelope: coded).value == #"{"code":0}"#)
    #expect(await outcome(String.self, .status(204)).value == "")
    #expect(await outcome(Data.self, .status(204)).value == Data())
  }
}
