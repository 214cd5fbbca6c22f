import Testing

@testable import ErrandGenerate

struct YAMLReaderTests {
  /// The value as JSON, with members in their order.
  private static func json(_ node: DocumentNode) -> String {
    switch node.content {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let text): text
    case .string(let text): SwiftText.literal(text)
    case .array(let elements): "[\(elements.map(json).joined(separator: ","))]"
    case .object(let members): "{\(members.entries.map { "\($0.key):\(json($0.value))" }.joined(separator: ","))}"
    }
  }

  @Test(arguments: [
    ("a: 1\nb:\n  c: x y\n", #"{a:1,b:{c:"x y"}}"#), ("- 1\n- - 2\n  - 3\n- a: 4\n  b: 5\n", "[1,[2,3],{a:4,b:5}]"),
    ("a:\n- 1\n- 2\nb: 3", "{a:[1,2],b:3}"), ("# c\n---\na: b # c\n...\n", #"{a:"b"}"#), ("", "null"),
    ("a: {b: [1, \"x\"], 'c d': null, e: }\n", #"{a:{b:[1,"x"],c d:null,e:null}}"#),
    ("a: [\n  1,\n  2,\n]\n", "{a:[1,2]}"),
    ("200:\n  x: y\n'404': z\n", #"{200:{x:"y"},404:"z"}"#), ("a: http://x/y#z\n", ##"{a:"http://x/y#z"}"##),
    ("a: one\n  two\n\n  three\nb: 1\n", #"{a:"one two\nthree",b:1}"#),
    ("a: 'it''s'\nb: \"x\\n\\u00e9\"\n", #"{a:"it's",b:"x\né"}"#),
    ("a: \"one\n  two\"\n", #"{a:"one two"}"#), ("a:\n  b: 1\n\n  # c\n  d: 2\n", "{a:{b:1,d:2}}"),
    ("a:\r\n  b: 1\r\n", "{a:{b:1}}"),
  ])
  func `collections and scalars are read`(text: String, value: String) throws {
    #expect(Self.json(try YAMLReader.read(Array(text.utf8))) == value)
  }

  @Test(arguments: [
    ("no", #""no""#), ("on", #""on""#), ("True", "true"), ("~", "null"), ("1.10", "1.10"), ("0123", "123"), ("+5", "5"),
    ("1.2.3", #""1.2.3""#), ("2026-01-31", #""2026-01-31""#), ("12:30", #""12:30""#), ("'7'", #""7""#), ("1e3", "1e3"),
  ])
  func `scalars follow the core schema`(text: String, value: String) throws {
    #expect(Self.json(try YAMLReader.read(Array("- \(text)".utf8))) == "[\(value)]")
  }

  @Test(arguments: [
    ("|\n  a\n   b\n\n  c\n\n", #""a\n b\n\nc\n""#), ("|-\n  a\n  b\n", #""a\nb""#), ("|+\n  a\n\n", #""a\n\n""#),
    (">\n  a\n  b\n\n  c\n", #""a b\nc\n""#), (">-\n  a\n    b\n  c\n", #""a\n  b\nc""#), ("|2\n    a\n", #""  a\n""#),
  ])
  func `blocks of text are read`(text: String, value: String) throws {
    #expect(Self.json(try YAMLReader.read(Array("k: \(text)x: 1\n".utf8))) == "{k:\(value),x:1}")
  }

  @Test func `aliases repeat values`() throws {
    let text = "a: &x\n  b: 1\nc: *x\nd: &y 2\ne: [*y]\n"
    #expect(Self.json(try YAMLReader.read(Array(text.utf8))) == "{a:{b:1},c:{b:1},d:2,e:[2]}")
  }

  @Test(arguments: [
    ("a: !!str 1", "line 1, column 4: tags are not supported"),
    ("- !!map a: 1", "line 1, column 3: tags are not supported"),
    ("&x a: 1", "line 1, column 1: this place of an anchor is not supported"),
    ("{!!str a: 1}", "line 1, column 2: anchors and tags in brackets are not supported"),
    ("%YAML 1.2\n---\n", "line 1, column 1: directives are not supported"),
    ("a: 1\n---\nb: 2", "line 2, column 1: the text has a second document"),
    ("a: 1\na: 2", "line 2, column 1: the key “a” occurs twice in one mapping"),
    ("<<: 1", "line 1, column 1: merge keys are not supported"),
    ("a: b: c", "line 1, column 5: a mapping cannot begin here; put the text in quotes"),
    ("a:\n\tb: 1", "line 2, column 1: a tab cannot indent a line; use spaces"),
    ("a: *x", "line 1, column 4: the alias names no anchor above it"),
    ("a: \"x", "line 1, column 4: the quote is not closed"), ("a: [1, 2", "line 1, column 9: a bracket is not closed"),
    ("a: 1\n  b: 2", "line 2, column 4: a mapping cannot begin here; put the text in quotes"),
    ("a: 'x' y", "line 1, column 8: text follows the value on its line"),
    ("? a\n: b", "line 1, column 1: keys of several lines are not supported"),
  ])
  func `what is not supported is an error`(text: String, message: String) {
    #expect { try YAMLReader.read(Array(text.utf8)) } throws: { "\($0)" == message }
  }

  @Test func `aliases of aliases are limited`() {
    var text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for level in 1...8 {
      let alias = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      text += "a\(level): &a\(level) [\(alias)]\n"
    }
    #expect { try YAMLReader.read(Array(text.utf8)) } throws: { "\($0)".hasSuffix("stand for too many values") }
  }
}
