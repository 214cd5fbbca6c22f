import Testing

@testable import ErrandGenerate

struct JSONReaderTests {
  @Test func `members keep their order`() throws {
    let node = try JSONReader.read(Array(#"{"b": 1, "a": [true, null, "é\n\ud83d\ude00"], "c": -1.5e3}"#.utf8))
    #expect(node.members?.entries.map(\.key) == ["b", "a", "c"])
    #expect(node["a"]?.elements?[2].text == "é\n😀")
    #expect(node["c"]?.scalarText == "-1.5e3")
  }

  @Test func `values know their place`() throws {
    let node = try JSONReader.read(Array("{\n  \"a\": {\"b\": 7}}".utf8))
    #expect(node["a"]?["b"]?.line == 2)
    #expect(node["a"]?["b"]?.column == 14)
  }

  @Test(arguments: [
    ("", "line 1, column 1: the text ends before the value is complete"),
    ("{\"a\": 1,\n \"a\": 2}", "line 2, column 5: the name “a” occurs twice in one object"),
    ("[1 2]", "line 1, column 4: “,” is missing in an array"), ("[01]", "line 1, column 4: “01” is not a number"),
    ("{} x", "line 1, column 4: text follows the value"), ("[1,]", "line 1, column 4: a value is missing"),
    (#""\ud800""#, "line 1, column 8: half of a surrogate pair is missing"),
    ("\"a", "line 1, column 3: a string is not closed"),
    (#""\u+12F""#, "line 1, column 4: \\u needs four hexadecimal digits"),
  ])
  func `wrong text is reported with its place`(text: String, message: String) {
    #expect { try JSONReader.read(Array(text.utf8)) } throws: { "\($0)" == message }
  }

  @Test func `names are compared by their bytes`() throws {
    let node = try JSONReader.read(Array("{\"\u{E9}\": 1, \"e\u{301}\": 2}".utf8))
    #expect(node.members?.entries.count == 2)
  }

  @Test func `deep nesting is rejected`() {
    let text = String(repeating: "[", count: 10_000)
    #expect(throws: DocumentError.self) { try JSONReader.read(Array(text.utf8)) }
  }
}
