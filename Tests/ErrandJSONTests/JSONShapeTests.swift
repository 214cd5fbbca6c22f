import ErrandJSON
import Foundation
import Testing

struct JSONShapeTests {
  static let user: JSONShape = [
    "nick": .string, "level": .number, "tags": [.string], "address": .optional(["city": .string]),
    "kind": .oneOf("a", "b", 7),
    "note": .nullable(.string), "meta": .optional(.nullable(.any)),
  ]

  static let good: JSONValue = [
    "nick": "x", "level": 1.5, "tags": ["a", "b"], "kind": "a", "note": nil, "more": [1, 2],
  ]

  @Test(arguments: [
    ("3.0", true), ("-0.0", true), ("0e400", true), ("1e300", true), ("1.25e2", true), ("12500e-2", true),
    ("9007199254740993.000", true), ("0.0000", true), ("10e-1", true), ("1E+2", true),
    ("9007199254740992.5", false), ("0.99999999999999999999", false), ("1e-400", false), ("1.25e1", false),
    ("125e-1", false), ("1e400", false), ("1e-99999999999999999999", false), ("-4503599627370497.25", false),
  ]) func `digits decide about integers`(number: String, passes: Bool) {
    let shape: JSONShape = ["a": .integer]
    let body = Data("{\"a\":\(number)}".utf8)
    #expect((try? shape.check(data: body)) != nil || !passes)
    if !passes { #expect(throws: JSONShapeMismatch.self) { try shape.check(data: body) } }
  }

  @Test(arguments: [
    good, good.with("address", ["city": "Rome", "zip": 1]), good.with("kind", 7.0), good.with("tags", []),
    good.with("note", "n"),
    good.with("meta", nil), good.with("meta", [1]), good.with("level", 3),
  ]) func `matching values pass`(value: JSONValue) throws {
    try Self.user.check(value)
  }

  static let bad: [(JSONValue, String)] = [
    (good.with("nick", 5), "$.nick: expected a string, found the number 5"),
    (good.with("nick", nil), "$.nick: expected a string, found null"),
    (good.without("nick"), "$.nick: expected a string, found no such key"),
    (good.with("level", true), "$.level: expected a number, found true"),
    (good.with("level", "x"), #"$.level: expected a number, found the string "x""#),
    (good.with("tags", "a"), #"$.tags: expected an array, found the string "a""#),
    (good.with("tags", ["a", nil]), "$.tags[1]: expected a string, found null"),
    (good.with("address", nil), "$.address: expected an object, found null"),
    (good.with("address", ["city": 1]), "$.address.city: expected a string, found the number 1"),
    (good.with("address", [:]), "$.address.city: expected a string, found no such key"),
    (good.with("kind", "c"), #"$.kind: expected one of "a", "b", 7, found the string "c""#),
    (good.with("note", 1), "$.note: expected a string or null, found the number 1"),
    (good.without("note"), "$.note: expected a string or null, found no such key"),
    ([], "$: expected an object, found an array"),
    (nil, "$: expected an object, found null"),
  ]

  @Test(arguments: bad) func `errors describe the difference`(value: JSONValue, sentence: String) {
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try Self.user.check(value) }
    #expect(mismatch?.description == sentence)
  }

  @Test(
    arguments: [
      (JSONShape.any, nil as JSONValue, true), (.any, [1], true), (.null, nil, true), (.null, 0, false),
      (.bool, true, true),
      (.bool, 1, false), (.integer, 3, true), (.integer, 3.0, true), (.integer, 3.5, false), (.integer, 1e300, true),
      (.integer, true, false), (.number, false, false), (.string, "", true), (.string, 1, false), ([], [1, nil], true),
      ([], [:], false),
      ([.string, .number], ["a", 1], true), ([.string, .number], ["a", true], false), (.oneOf(true), 1, false),
      (.oneOf(1), true, false),
      (.oneOf(1), 1.0, true), (.oneOf([]), 1, false), (.optional(.string), nil, false), (.nullable(.string), nil, true),
      ([:], ["a": 1], true),
      (.anyOf(.string, .null), nil, true), (.nullable(["a": .bool]), ["a": 1], false),
      ([.nullable(.integer)], [nil, 1], true), (["a": .nullable(.optional(.string))], [:], true),
      (["a": .nullable(.string)], [:], false), (["a": .anyOf(.number, .optional(.string))], [:], true),
      (["a": .anyOf(.number, .string)], [:], false), (["a": .optional(.nullable(.string))], ["a": 1], false),
    ] as [(JSONShape, JSONValue, Bool)]) func `each rule accepts and rejects`(
      shape: JSONShape, value: JSONValue, passes: Bool
    )
  {
    if passes {
      #expect(throws: Never.self) { try shape.check(value) }
    } else {
      #expect(throws: JSONShapeMismatch.self) { try shape.check(value) }
    }
  }

  @Test func `shapes are checked inside containers`() {
    let shape: JSONShape = ["items": [["level": .number]]]
    let value: JSONValue = ["items": [["level": 1], ["level": 2], ["level": 3], ["level": "x"]]]
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try shape.check(value) }
    #expect(mismatch?.path == "items[3].level" && mismatch?.kind == .wrongValue)
    #expect(mismatch?.expected == "a number" && mismatch?.found == #"the string "x""#)
    #expect(mismatch?.description == #"$.items[3].level: expected a number, found the string "x""#)
  }

  @Test(
    arguments: [
      ("password", "hunter2", "a string (7 characters)"), ("accessToken", "abc", "a string (3 characters)"),
      ("pin", 1234, "a number"),
      ("api_key", true, "true or false"),
      ("note", .string(String(repeating: "é", count: 25)), "a string (25 characters)"),
      ("note", .string(String(repeating: "é", count: 24)), "the string \"\(String(repeating: "é", count: 24))\""),
    ] as [(String, JSONValue, String)]) func `secrets are not shown`(key: String, value: JSONValue, found: String)
  {
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try JSONShape.object([key: [:]]).check([key: value]) }
    #expect(mismatch?.found == found)
    let below = #expect(throws: JSONShapeMismatch.self) {
      try JSONShape.object([key: ["x": .null]]).check([key: ["x": "s3"]])
    }
    #expect(below?.description.contains("s3") == (key == "note"))
  }

  @Test(arguments: [
    ("", JSONShapeMismatch.Kind.emptyBody), (" \n", .emptyBody), ("<html>", .notJSON), ("{\"a\":1", .notJSON),
    ("{}", .missingKey),
    ("{\"a\":\"1\"}", .wrongValue), (String(repeating: "[", count: 100_000), .notJSON),
  ]) func `invalid bodies have their error kind`(body: String, kind: JSONShapeMismatch.Kind) {
    let shape: JSONShape = ["a": .number]
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try shape.check(data: Data(body.utf8)) }
    #expect(mismatch?.kind == kind)
    if kind == .emptyBody { #expect(mismatch?.description == "$: expected an object, found an empty body") }
  }

  static let list: JSONShape = [["a": .string, "b": .optional(.number), "z": .bool]]

  @Test(arguments: [
    (#"{"z":true,"b":1,"a":"x"}"#, nil), (#"{"a":"x","z":true}"#, nil), (#"{"more":1,"b":2,"a":"x","z":false}"#, nil),
    (#"{"z":1,"b":"","a":2}"#, "$[5].a: expected a string, found the number 2"),
    (#"{"z":1,"b":"","a":"x"}"#, #"$[5].b: expected a number, found the string """#),
    (#"{"z":1}"#, "$[5].a: expected a string, found no such key"),
    (#"{"z":true,"a":"x","a":1}"#, nil),
    (#"{"z":true,"a":1,"a":"x"}"#, "$[5].a: expected a string, found the number 1"),
    (#"{"\u0061":"x","z":true}"#, nil), ("{}", "$[5].a: expected a string, found no such key"),
    ("[]", "$[5]: expected an object, found an array"),
  ]) func `array elements may reorder keys`(last: String, sentence: String?) {
    for first in [#"{"z":true,"b":1,"a":"x"}"#, #"{"a":"x","z":true}"#, #"{"z":true,"a":"x","a":1}"#] {
      let text = "[" + (Array(repeating: first, count: 5) + [last]).joined(separator: ",") + "]"
      var found: String?
      do { try Self.list.check(data: Data(text.utf8)) } catch { found = error.description }
      #expect(found == sentence)
    }
  }

  @Test func `difference in nested arrays is found`() {
    var (shape, text) = (JSONShape.bool, "1")
    for _ in 0..<60 { (shape, text) = (.array(of: shape), "[\(text)]") }
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try shape.check(data: Data(text.utf8)) }
    let path = "$" + String(repeating: "[0]", count: 60)
    #expect(mismatch?.description == "\(path): expected true or false, found the number 1")
  }

  @Test func `number of any size passes`() throws {
    let body = Data(#"{"a":1e999,"more":[-1e999]}"#.utf8)
    try (["a": .number] as JSONShape).check(data: body)
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try (["a": .integer] as JSONShape).check(data: body) }
    #expect(mismatch?.found == "the number 1e999")
    #expect(throws: JSONError.numberOutOfRange("1e999")) { try JSONValue(parsing: body) }
  }

  @Test(arguments: ["12345678901234567890123", "1.50", "-0.0", "1E2"])
  func `number is shown as written`(number: String) {
    let body = Data(#"{"a":{"b":\#(number)},"token":\#(number)}"#.utf8)
    let shape: JSONShape = ["a": ["b": .string]]
    let mismatch = #expect(throws: JSONShapeMismatch.self) { try shape.check(data: body) }
    #expect(mismatch?.description == "$.a.b: expected a string, found the number \(number)")
    let secret = #expect(throws: JSONShapeMismatch.self) { try (["token": .string] as JSONShape).check(data: body) }
    #expect(secret?.found == "a number")
  }

  @Test func `an optional body may be empty`() throws {
    try JSONShape.optional(["a": .number]).check(data: Data())
    try JSONShape.optional(["a": .number]).check(data: Data("{\"a\":1}".utf8))
    #expect(throws: JSONShapeMismatch.self) { try JSONShape.optional(["a": .number]).check(data: Data("{}".utf8)) }
  }

  @Test func `equal shapes hash alike`() {
    let one: JSONShape = ["a": .string, "b": [.number]]
    let two: JSONShape = ["b": [.number], "a": .string]
    #expect(one == two && one.hashValue == two.hashValue && one != ["a": .string])
  }
}

extension JSONValue {
  func with(_ key: String, _ value: JSONValue) -> JSONValue {
    .object((objectValue ?? [:]).merging([key: value]) { $1 })
  }

  func without(_ key: String) -> JSONValue {
    .object((objectValue ?? [:]).filter { $0.key != key })
  }
}
