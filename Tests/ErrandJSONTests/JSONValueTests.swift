import ErrandJSON
import Foundation
import Testing

struct JSONValueTests {
  let document: JSONValue = ["data": ["items": [["name": "Ada", "level": 3]], "none": nil], "ok": true]

  @Test func `subscripts can be chained`() {
    #expect(document["data"]["items"][0]["name"]?.stringValue == "Ada")
    #expect(document["data"]?["items"]?[0]?["level"]?.intValue == 3)
    #expect(document["data"]["none"]?.isNull == true)
  }

  @Test func `missing values are nil`() {
    #expect(document["nope"]["items"][0] == nil)
    #expect(document["data"]["items"][1] == nil)
    #expect(document["data"]["items"][-1] == nil)
    #expect(document["ok"]["x"] == nil)
    #expect(document[0] == nil)
  }

  @Test(arguments: [
    ("", "root"), ("data.items[0].name", "\"Ada\""), ("$.ok", "true"), ("data.items[7]", "-"), ("data[0]", "-"),
    ("data.none", "null"),
    ("items.data", "-"),
  ]) func `paths lead to values`(path: String, expected: String) throws {
    let found = document.value(at: try JSONPath(parsing: path))
    switch expected {
    case "root": #expect(found == document)
    case "-": #expect(found == nil)
    default: #expect(found?.description == expected)
    }
  }

  @Test func `accessors return only their type`() {
    let values: [JSONValue] = [nil, true, 1, 1.5, "x", [1], ["a": 1], .unsigned(.max)]
    #expect(values.map(\.isNull) == [true, false, false, false, false, false, false, false])
    #expect(values.map(\.boolValue) == [nil, true, nil, nil, nil, nil, nil, nil])
    #expect(values.map(\.intValue) == [nil, nil, 1, nil, nil, nil, nil, nil])
    #expect(values.map(\.doubleValue) == [nil, nil, 1, 1.5, nil, nil, nil, 18_446_744_073_709_551_616])
    #expect(values.map(\.stringValue) == [nil, nil, nil, nil, "x", nil, nil, nil])
    #expect(values.map(\.arrayValue) == [nil, nil, nil, nil, nil, [1], nil, nil])
    #expect(values.map(\.objectValue) == [nil, nil, nil, nil, nil, nil, ["a": 1], nil])
  }

  @Test(
    arguments: [
      (JSONValue.integer(1), JSONValue.number(1), true), (.unsigned(5), .integer(5), true),
      (.number(-0.0), .integer(0), true),
      (.number(18_446_744_073_709_549_568), .unsigned(18_446_744_073_709_549_568), true),
      (.integer(1), .bool(true), false),
      (.integer(0), .null, false), (.string("1"), .integer(1), false), (.number(.nan), .number(.nan), false),
      ([1], [1.0], true),
      (["a": 1], ["a": 1.0], true), ([], [:], false), (.integer(.max), .number(9_223_372_036_854_775_808), false),
    ] as [(JSONValue, JSONValue, Bool)]) func `numbers compare by value`(one: JSONValue, two: JSONValue, equal: Bool)
  {
    #expect((one == two) == equal)
    if equal { #expect(one.hashValue == two.hashValue) }
  }

  @Test func `integers use the smallest case`() {
    #expect("\(JSONValue(UInt64.max))" == "18446744073709551615")
    #expect("\(JSONValue(Int8(-3)))" == "-3")
    #expect(JSONValue(Int128.max).doubleValue == 0x1p127)
    guard case .integer = JSONValue(UInt64(7)).content else {
      Issue.record("a small number was kept unsigned")
      return
    }
  }

  @Test func `serialized text is stable`() throws {
    let value: JSONValue = ["b": [1, 2.5, nil], "a": "\"\\/\n\u{1}é😀", "c": [:], "d": [], "e": .unsigned(.max)]
    let text = String(decoding: try value.serialized(), as: UTF8.self)
    #expect(text == #"{"a":"\"\\/\n\u0001é😀","b":[1,2.5,null],"c":{},"d":[],"e":18446744073709551615}"#)
    #expect(try JSONValue(parsing: Data(text.utf8)) == value)
  }

  @Test func `pretty text is indented`() throws {
    let value: JSONValue = ["a": [1, ["b": true]], "c": []]
    let expected = """
      {
        "a": [
          1,
          {
            "b": true
          }
        ],
        "c": []
      }
      """
    #expect(String(decoding: try value.serialized(pretty: true), as: UTF8.self) == expected)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity]) func `infinite numbers are not serialized`(number: Double) {
    let value: JSONValue = ["a": [1, .number(number)]]
    #expect(throws: JSONError.notFinite(path: "a[1]")) { try value.serialized() }
    #expect(value.description == #"{"a":[1,null]}"#)
  }

  @Test func `too deep values are not serialized`() {
    let deep = (0..<600).reduce(JSONValue.null) { inner, _ in [inner] }
    #expect(throws: JSONError.tooDeep(limit: 512)) { try deep.serialized() }
    #expect(deep.description == "The JSON is nested deeper than 512 levels.")
  }

  @Test(arguments: [JSONValue.array([]), .object([:])]) func `empty containers count as levels`(_ empty: JSONValue)
    throws
  {
    func nested(_ depth: Int) -> JSONValue { (1..<depth).reduce(empty) { inner, _ in [inner] } }
    #expect(try nested(512).serialized().count == 1_024)
    #expect(throws: JSONError.tooDeep(limit: 512)) { try nested(513).serialized() }
    #expect(throws: JSONEncodingError.self) { try JSONEncoding.fast.encode([nested(512)]) }
  }

  @Test func `doubles survive a round trip`() throws {
    let numbers = [
      0.1, 1e21, 1e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.30000000000000004, -1.5, 1e16,
      123456789012345680,
    ]
    for number in numbers {
      let text = try JSONValue.number(number).serialized()
      #expect(try JSONValue(parsing: text).doubleValue == number)
      #expect(try JSONDecoder().decode(Double.self, from: text) == number)
    }
  }

  /// Found by a fuzzer: the shortest digits of such a number are the digits of another integer.
  @Test(arguments: [
    18_433_929_423_726_854_778.1, 0x1.FFFFFFFFFFFFFp63, 0x1p63, -0x1p63, 0x1.0000000000001p53, 9_007_199_254_740_994,
    1e17, -1e18, 0x1p64, 1e300,
  ])
  func `large integers survive a round trip`(number: Double) throws {
    let value = JSONValue.array([.number(number)])
    let text = try value.serialized()
    #expect(try JSONValue(parsing: text) == value, "\(String(decoding: text, as: UTF8.self))")
  }

  @Test func `Codable round trip works`() throws {
    struct Holder: Codable, Equatable { var meta: JSONValue, list: [JSONValue], none: JSONValue?, null: JSONValue }
    let holder = Holder(
      meta: ["a": [1, true, 1.5, "x", nil, .unsigned(.max), .integer(.min)], "b": ["c": [:]], "f": false],
      list: [[], 0, "true"], none: nil, null: .null)
    let text = try JSONEncoder().encode(holder)
    #expect(try JSONDecoder().decode(Holder.self, from: text) == holder)
    #expect(try JSONDecoder().decode(JSONValue.self, from: text) == (try JSONValue(parsing: text)))
  }
}
