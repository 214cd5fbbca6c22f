import Foundation
import Testing

@testable import ErrandJSON

/// The bytes of a value inside a JSON text.
struct JSONDocumentBytesTests {
  @Test func `text of one path is valid`() throws {
    let text = Data(#"{"b":1,"a\"":[{"x":[]}, true,{"b":[1.50, {"c":"]"}],"c":2}]}"#.utf8)
    let document = try JSONDocument(text)
    let path = JSONPath([.key("a\""), .index(2), .key("b"), .index(1)])
    let only = try #require(document.bytes(only: path))
    #expect(String(decoding: only, as: UTF8.self) == #"{"a\"":[null,null,{"b":[null,{"c":"]"}]}]}"#)
    #expect(document.bytes(only: .root) == text)
    #expect(document.bytes(only: "c") == nil)
  }

  @Test(arguments: [
    (#"{"a":1}"#, "a", "1"), (#" { "x" : [ 1 , {"y": "}]"} ] , "a" : {"b" : [ ]} } "#, "a", #"{"b" : [ ]}"#),
    (#"{"a\u0062":"q\"\\","ab":2}"#, "ab", #""q\"\\""#), (#"{"a":{"a":7},"a":8}"#, "a.a", "7"),
    (#"[[1, 2],[3,4]]"#, "[1][0]", "3"), (#"{"a":[]}"#, "a", "[]"), (#"{"":{"é":-1.50e3}}"#, #"[""].é"#, "-1.50e3"),
    ("true", "", "true"), (" [1] ", "$", "[1]"), (#"{"data":null}"#, "data", "null"),
  ])
  func `value is found as it is written`(text: String, path: String, value: String) throws {
    let document = try JSONDocument(Data(text.utf8))
    let index = try #require(document.index(at: try JSONPath(parsing: path)))
    #expect(String(decoding: document.bytes(at: index), as: UTF8.self) == value)
  }

  @Test(arguments: [("{}", "a"), ("[]", "[0]"), ("[1]", "[1]"), ("7", "a"), (#"{"a":1}"#, "a.b"), ("{}", "[0]")])
  func `missing value is nil`(text: String, path: String) throws {
    #expect(try JSONDocument(Data(text.utf8)).bytes(only: try JSONPath(parsing: path)) == nil)
  }

  @Test func `damaged texts have no bytes`() {
    for text in ["", "{", #"{"a"#, #"{"a":"#, #"{"a":[1"#, #"{"a":"\"#, "[", #"[1,"#] {
      #expect(throws: JSONDecodingError.self) {
        try JSONDecoding.bytes(from: Data(text.utf8), parsed: nil, at: .root)
      }
    }
  }

  @Test func `deep nesting is found whole`() throws {
    let depth = JSONValue.depthLimit - 1
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let found = try JSONDecoding.bytes(from: Data((#"{"a":"# + text + "}").utf8), parsed: nil, at: "a")
    #expect(found == Data(text.utf8))
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
