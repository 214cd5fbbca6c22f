import ErrandJSON
import Testing

struct JSONPathTests {
  static let texts: [(String, String)] = [
    ("", "$"), ("$", "$"), ("data", "$.data"), ("$.data", "$.data"), ("data.items[0].name", "$.data.items[0].name"),
    ("[3]", "$[3]"),
    ("$[3].a", "$[3].a"), ("a[0][1]", "$.a[0][1]"), (#"["a.b"].c"#, #"$["a.b"].c"#), (#"x["a\"]"]"#, #"$.x["a\"]"]"#),
    (#"x["\u00e9"]"#, "$.x.é"), (#"[""]"#, #"$[""]"#), ("user-id", #"$["user-id"]"#), ("$ref", #"$["$ref"]"#),
    ("1a", #"$["1a"]"#),
    (#"x["a\nb"]"#, #"$.x["a\nb"]"#), ("名", "$.名"), ("a b", #"$["a b"]"#), (#"["\\"]"#, #"$["\\"]"#),
    // Scalars that form one character with the delimiter before or after them: a combining mark, an Arabic number sign.
    ("@\u{601}", "$[\"@\u{601}\"]"), ("\u{601}.a", "$[\"\u{601}\"].a"), ("a.\u{301}b", "$.a[\"\u{301}b\"]"),
    ("x[\"\u{301}\"]", "$.x[\"\u{301}\"]"),
  ]

  @Test(arguments: texts) func `texts become paths`(text: String, printed: String) throws {
    let path = try JSONPath(parsing: text)
    #expect(path.description == printed)
    #expect(try JSONPath(parsing: printed) == path)
  }

  @Test(arguments: [
    "a[", "a[x]", "a[-1]", "a..b", "a.", ".", "a]", "a[\"b]", "a[\"b\"", "a[99999999999999999999]", "$x[", "a[\"\\q\"]",
    "[0]x",
  ])
  func `malformed paths are errors`(text: String) {
    #expect(throws: JSONError.malformedPath(text)) { try JSONPath(parsing: text) }
  }

  @Test func `literals are paths`() {
    let path: JSONPath = "data.items[2]"
    #expect(path == JSONPath([.key("data"), .key("items"), .index(2)]))
    #expect(path == JSONPath.root.appending(key: "data").appending(key: "items").appending(index: 2))
    #expect(("a[" as JSONPath).steps == [.key("a[")])
  }
}
