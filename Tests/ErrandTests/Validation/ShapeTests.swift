import Errand
import ErrandJSON
import ErrandTesting
import Foundation
import Testing

struct ShapeTests {
  static let user: JSONShape = [
    "nick": .string, "level": .number, "sex": .optional(.oneOf("f", "m")), "tags": [.string],
    "home": .nullable(["zip": .integer]),
  ]

  @Test(arguments: [
    #"{"nick":"A","level":1,"tags":[],"home":null}"#,
    #"{"nick":"A","level":1.5,"tags":["x"],"home":{"zip":1},"sex":"f","more":0}"#,
  ])
  func `matching shapes pass`(body: String) async {
    #expect(await ScriptedClient(answers: [.json(body)]).failure(of: Sending(shape: Self.user)) == nil)
  }

  @Test(arguments: [
    (#"{"nick":1,"level":1,"tags":[],"home":null}"#, "$.nick: expected a string, found the number 1"),
    (#"{"nick":"A","level":"1","tags":[],"home":null}"#, #"$.level: expected a number, found the string "1""#),
    (#"{"nick":"A","level":true,"tags":[],"home":null}"#, "$.level: expected a number, found true"),
    (#"{"nick":"A","tags":[],"home":null}"#, "$.level: expected a number, found no such key"),
    (#"{"nick":null,"level":1,"tags":[],"home":null}"#, "$.nick: expected a string, found null"),
    (#"{"nick":"A","level":1,"tags":["x",2],"home":null}"#, "$.tags[1]: expected a string, found the number 2"),
    (#"{"nick":"A","level":1,"tags":[],"home":{"zip":null}}"#, "$.home.zip: expected an integer, found null"),
    (#"{"nick":"A","level":1,"tags":[],"home":{"zip":1.5}}"#, "$.home.zip: expected an integer, found the number 1.5"),
    (
      #"{"nick":"A","level":1,"tags":[],"home":null,"sex":"x"}"#,
      #"$.sex: expected one of "f", "m", found the string "x""#
    ),
    (#"{"nick":"A","level":1,"tags":[],"home":null,"sex":null}"#, #"$.sex: expected one of "f", "m", found null"#),
    ("[]", "$: expected an object, found an array"),
  ])
  func `failure names path, expected, found`(body: String, difference: String) async {
    let error = await ScriptedClient(answers: [.json(body)]).failure(of: Sending(shape: Self.user))
    #expect(error?.stage == .validate && error?.code == .shape)
    #expect(error?.message == "The JSON does not have the declared shape: \(difference).")
    #expect((error?.cause as? JSONShapeMismatch)?.description == difference)
    #expect(error?.response?.body == Data(body.utf8))
  }

  @Test(arguments: [
    ("", "JSON was expected, but the body is empty."), ("  \n", "JSON was expected, but the body is empty."),
  ])
  func `empty body is a failure`(body: String, message: String) async {
    let error = await ScriptedClient(answers: [.json(body)]).failure(of: Sending(shape: Self.user))
    #expect(error?.code == .notJSON && error?.message == message)
  }

  @Test(arguments: ["<busy/>", "{", "{'a':1}", "[1,]", "\u{1}", "NaN"])
  func `other bodies are not JSON`(body: String) async {
    let error = await ScriptedClient(answers: [.json(body)]).failure(of: Sending(shape: .any))
    #expect(error?.code == .notJSON && error?.stage == .validate)
    #expect(error?.message.hasPrefix("JSON was expected, but the text is not JSON: ") == true)
    #expect(error?.message.hasSuffix("..") == false && error?.message.hasSuffix(".") == true)
  }

  @Test func `optional shape accepts an empty body`() async {
    let request = Sending(shape: .optional(Self.user))
    let bench = ScriptedClient(answers: [.status(204), .json("{}"), .json(" ")])
    #expect(await bench.failure(of: request) == nil)
    #expect(await bench.failure(of: request)?.code == .shape)
    #expect(await bench.failure(of: request) == nil)
  }

  @Test func `large bodies are validated too`() async {
    let list = (0..<5_000).map { "\"\($0)\"" }.joined(separator: ",")
    let bench = ScriptedClient(answers: [.json("[\(list)]"), .json("[\(list),1]")])
    #expect(await bench.failure(of: Sending(shape: [.string])) == nil)
    let error = await bench.failure(of: Sending(shape: [.string]))
    let mismatch = "$[5000]: expected a string, found the number 1."
    #expect(error?.message == "The JSON does not have the declared shape: \(mismatch)")
  }

  @Test func `deep nesting is refused`() async {
    let bench = ScriptedClient(answers: [.json(String(repeating: "[", count: 100_000))])
    #expect(await bench.failure(of: Sending(shape: .any))?.code == .notJSON)
  }

  @Test func `status is validated before the shape`() async {
    let bench = ScriptedClient(answers: [.json("[]", status: 500)])
    #expect(await bench.failure(of: Sending(shape: Self.user))?.code == .status)
  }
}
