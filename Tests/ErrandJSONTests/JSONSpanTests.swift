import Foundation
import Testing

@testable import ErrandJSON

/// The bytes of a value inside a JSON text.
struct JSONSpanTests {
  @Test func `text of one path is valid`() throws {
    let text = Data(#"{"b":1,"a\"":[{"x":[]}, true,{"b":[1.50, {"c":"]"}],"c":2}]}"#.utf8)
    let path = JSONPath([.key("a\""), .index(2), .key("b"), .index(1)])
    let only = try #require(JSONSpan.only(path, of: text))
    #expect(String(decoding: only, as: UTF8.self) == #"{"a\"":[null,null,{"b":[null,{"c":"]"}]}]}"#)
    #expect(JSONSpan.only(.root, of: text) == text)
    #expect(JSONSpan.only("c", of: text) == nil)
  }

  @Test(arguments: [
    (#"{"a":1}"#, "a", "1"), (#" { "x" : [ 1 , {"y": "}]"} ] , "a" : {"b" : [ ]} } "#, "a", #"{"b" : [ ]}"#),
    (#"{"a\u0062":"q\"\\","ab":2}"#, "ab", #""q\"\\""#), (#"{"a":{"a":7},"a":8}"#, "a.a", "7"),
    (#"[[1, 2],[3,4]]"#, "[1][0]", "3"), (#"{"a":[]}"#, "a", "[]"), (#"{"":{"é":-1.50e3}}"#, #"[""].é"#, "-1.50e3"),
    ("true", "", "true"), (" [1] ", "$", "[1]"), (#"{"data":null}"#, "data", "null"),
  ])
  func `value is found as it is written`(text: String, path: String, value: String) throws {
    let found = JSONSpan.bytes(at: try JSONPath(parsing: path), in: Data(text.utf8))
    #expect(found.map { String(decoding: $0, as: UTF8.self) } == value)
  }

  @Test(arguments: [("{}", "a"), ("[]", "[0]"), ("[1]", "[1]"), ("7", "a"), (#"{"a":1}"#, "a.b"), ("{}", "[0]")])
  func `missing value is nil`(text: String, path: String) throws {
    #expect(JSONSpan.bytes(at: try JSONPath(parsing: path), in: Data(text.utf8)) == nil)
  }

  @Test func `damaged texts end the search`() {
    for text in ["", "{", #"{"a"#, #"{"a":"#, #"{"a":[1"#, #"{"a":"\"#, "[", #"[1,"#] {
      for path in ["", "a", "[1]", "b"] as [JSONPath] { _ = JSONSpan.bytes(at: path, in: Data(text.utf8)) }
    }
    #expect(JSONSpan.bytes(at: .root, in: Data()) == nil)
  }

  @Test func `deep nesting needs no stack`() {
    let depth = 100_000
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect(JSONSpan.bytes(at: "a", in: Data((#"{"a":"# + text + "}").utf8))?.count == 2 * depth)
  }

  @Test func `every encoding is read`() throws {
    let text = #"{"data":"中"}"#
    for encoding in [String.Encoding.utf8, .utf16, .utf32LittleEndian] {
      let data = try #require(text.data(using: encoding))
      #expect(try JSONDecoding.text(from: data, parsed: nil, at: "data") == "中")
      #expect(try JSONDecoding.bytes(from: data, parsed: nil, at: "data") == Data(#""中""#.utf8))
    }
  }
}
