import ErrandJSON
import Foundation
import Testing

struct JSONEncodingTests {
  struct Order: Encodable { var roomNumber = 7, at = Date(timeIntervalSince1970: 0), link = "a/b", price = 1.5 }

  @Test func `keys are sorted`() throws {
    let text = try JSONEncoding(dates: .iso8601, keys: .convertToSnakeCase).encode(Order())
    #expect(
      String(decoding: text, as: UTF8.self)
        == #"{"at":"1970-01-01T00:00:00Z","link":"a/b","price":1.5,"room_number":7}"#)
  }

  @Test func `JSON values ignore strategies`() throws {
    let encoding = JSONEncoding(keys: .convertToSnakeCase)
    #expect(try encoding.encode(["aB": 1] as JSONValue) == Data(#"{"aB":1}"#.utf8))
  }

  @Test func `custom encoder is used`() throws {
    let encoding = JSONEncoding {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted]
      return encoder
    }
    #expect(String(decoding: try encoding.encode([1]), as: UTF8.self).contains("\n"))
  }

  @Test(
    arguments: [
      (#"{"a":1}"#, ["b": 2], #"{"b":2,"a":1}"#), (#" { "a":1}"#, ["b": 2, "a": 9], #"{"b":2, "a":1}"#),
      ("{}", ["b": 2], #"{"b":2}"#),
      (#"{"a":null}"#, ["a": 1], #"{"a":null}"#),
      ("{\"caf\u{e9}\":1}", ["cafe\u{301}": 2], "{\"cafe\u{301}\":2,\"caf\u{e9}\":1}"),
      (#"{"n":12345678901234567890.123}"#, ["b": []], #"{"b":[],"n":12345678901234567890.123}"#),
      ("\u{FEFF}{\"a\":1}", ["b": "{"], #"{"b":"{","a":1}"#), ("[1]", [:], "[1]"),
    ] as [(String, [String: JSONValue], String)]) func `common arguments are merged`(
      body: String, common: [String: JSONValue], merged: String
    ) throws
  {
    let data = try JSONEncoding.merge(common, into: Data(body.utf8))
    #expect(String(decoding: data, as: UTF8.self) == merged)
  }

  @Test func `common arguments are added to typed bodies`() throws {
    struct Body: Encodable { var id = 1, version: String? }
    let text = try JSONEncoding.standard.encode(Body(), adding: ["version": "2", "id": 5])
    #expect(try JSONValue(parsing: text) == ["id": 1, "version": "2"])
  }

  @Test(arguments: ["[1]", "1", "null", "\"a\""]) func `only objects accept common arguments`(body: String) {
    #expect(throws: JSONError.self) { try JSONEncoding.merge(["a": 1], into: Data(body.utf8)) }
  }

  @Test func `errors locate values that cannot be written`() {
    struct Body: Encodable { var list = [1.0, .nan] }
    let typed = #expect(throws: JSONEncodingError.self) { try JSONEncoding.standard.encode(Body()) }
    #expect(typed?.path == "list[1]")
    let value = #expect(throws: JSONEncodingError.self) {
      try JSONEncoding.standard.encode(["a": .number(.nan)] as JSONValue)
    }
    #expect(value?.description == "$.a: JSON cannot represent an infinite number or NaN")
    let notObject = #expect(throws: JSONEncodingError.self) { try JSONEncoding.standard.encode([1], adding: ["a": 1]) }
    #expect(notObject?.reason == "Expected a JSON object, found an array.")
  }
}
