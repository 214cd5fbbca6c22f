import Testing

@testable import ErrandCommand

struct JSONPrinterTests {
  @Test(arguments: [
    ("1", "1"), (" [ ] ", "[]"), ("{ }", "{}"), ("[[],{}]", "[\n  [],\n  {}\n]"),
    (#"{"b":1.0,"a":[true,null]}"#, "{\n  \"b\": 1.0,\n  \"a\": [\n    true,\n    null\n  ]\n}"),
    (#"{"a":"x,{}[]:\"\\"}"#, "{\n  \"a\": \"x,{}[]:\\\"\\\\\"\n}"), ("1e400", "1e400"),
    ("\"\u{9B}31m\u{7F}\u{200B}\"", #""\u009b31m\u007f\u200b""#), ("\u{1B}[1m", #"\u001b[1m"#),
  ])
  func `JSON is indented but otherwise unchanged`(text: String, pretty: String) {
    #expect(JSONPrinter.pretty(text, paint: .plain) == pretty)
  }

  @Test func `keys and values differ in colour`() {
    let text = JSONPrinter.pretty(#"{"k":["v",1,null]}"#, paint: Paint(isOn: true))
    #expect(text.contains("\u{1B}[34m\"k\"\u{1B}[0m"))
    #expect(text.contains("\u{1B}[32m\"v\"\u{1B}[0m"))
    #expect(text.contains("\u{1B}[36m1\u{1B}[0m"))
    #expect(text.contains("\u{1B}[35mnull\u{1B}[0m"))
  }

  private func nested(_ depth: Int, _ values: String) -> String {
    String(repeating: "[", count: depth) + values + String(repeating: "]", count: depth)
  }

  @Test func `deep levels share an indentation`() {
    let lines = JSONPrinter.pretty(nested(40, "1"), paint: .plain).split(separator: "\n")
    #expect(lines.count == 81)
    let widest = String(repeating: "  ", count: JSONPrinter.deepest)
    #expect(lines[31] == "\(widest.dropLast(2))[")
    #expect(lines[32] == "\(widest)[")
    #expect(lines[40] == "\(widest)1")
  }

  @Test func `nesting multiplies no memory`() {
    let values = Array(repeating: "1", count: 50_000)
    let text = nested(500, values.joined(separator: " , "))
    let printed = JSONPrinter.pretty(text, paint: Paint(isOn: true))
    #expect(printed == nested(500, values.joined(separator: ",")))
    let flat = JSONPrinter.pretty(nested(1, values.joined(separator: ",")), paint: .plain)
    #expect(flat.utf8.count < 300_000)
    #expect(flat.hasPrefix("[\n  1,\n  1"))
  }

  @Test func `broken text loses no character`() {
    for text in ["{", "[1,", "\"abc", "}}]]", "\\", ",:,:", "{\"a\"", ""] {
      let printed = JSONPrinter.pretty(text, paint: .plain)
      #expect(printed.utf8.filter { $0 > 0x20 } == Array(text.utf8))
    }
  }
}
