import Errand
import ErrandJSON
import Testing

@testable import ErrandCommand

struct ShapeNotationTests {
  @Test(
    arguments: [
      (#""string""#, .string), (#""number""#, .number), (#""integer""#, .integer), (#""bool""#, .bool),
      (#""null""#, .null), (#""any""#, .any), (#""array""#, .array(of: .any)), (#""object""#, .object([:])),
      (#""string?""#, .optional(.string)), (#"" string | null ? ""#, .optional(.nullable(.string))),
      (#""string|number""#, .anyOf([.string, .number])), (#""=a|=b""#, .oneOf("a", "b")),
      (#""\"a|b\"|\"c\\\"d\"""#, .oneOf("a|b", "c\"d")), (#""1|true|=x""#, .oneOf(1, true, "x")),
      (#""=a|number|null""#, .nullable(.anyOf([.oneOf("a"), .number]))), (#""=""#, .oneOf("")),
      ("[]", .array(of: .any)), (#"["string"]"#, [.string]), (#"["string", "number"]"#, [.string, .number]),
      ("3", .oneOf(3)), ("true", .oneOf(true)), ("null", .null), ("{}", .object([:])),
      (#"{"a": "string", "b": "integer?"}"#, ["a": .string, "b": .optional(.integer)]),
      (#"{"a?": {"b": ["string|null"]}}"#, ["a": .optional(["b": [.nullable(.string)]])]),
      (#"{"a|null": ["any"], "b|null?": {}}"#, ["a": .nullable([.any]), "b": .optional(.nullable([:]))]),
      (#"{"a??": "string", "b?": "string?"}"#, ["a?": .string, "b": .optional(.string)]),
    ] as [(String, JSONShape)])
  func `a notation gives a shape`(text: String, shape: JSONShape) throws {
    #expect(try ShapeNotation.shape(of: text) == shape)
  }

  @Test(arguments: [
    ("", "the shape must be JSON"), ("string", "the shape must be JSON"),
    (#"{"a": {"b": ["text"]}}"#, "at $.a.b[0]: “text” is not a type; use string, number"),
    (#"{"a": "string|"}"#, "at $.a: a type is missing"), (#"{"a": ""}"#, "a type is missing"),
    (#"["string?"]"#, "at $[0]: ? means that a key may be missing"),
    (#"{"a": "string", "a?": "string"}"#, "at $.a: the key is given twice"), (#"{"a": "[1]"}"#, "“[1]” is not a type"),
  ])
  func `a wrong notation names path and cure`(text: String, message: String) {
    let failure = #expect(throws: ShapeNotation.Failure.self) { try ShapeNotation.shape(of: text) }
    #expect(failure?.description.contains(message) == true, "\(failure?.description ?? "no failure")")
  }
}
