@testable import ErrandJSON
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Tests the parser's results against Foundation's, and the positions in its errors.
struct JSONDocumentTests {
  @Test(
    arguments: [
      ("nul", 0, 1, 1, "$", "expected a value"), ("[1,]", 3, 1, 4, "$[1]", "expected a value"),
      ("{\"a\":1,}", 7, 1, 8, "$", "expected a key in quotation marks"),
      ("{\"a\" 1}", 5, 1, 6, "$", "expected a colon"),
      ("{\n  \"a\": [1, 2,\n  {\"b\": tru}]}", 24, 3, 9, "$.a[2].b", "expected a value"),
      ("[1 2]", 3, 1, 4, "$", "expected a comma or ]"), ("{\"a\":\"x\" 1}", 9, 1, 10, "$", "expected a comma or }"),
      ("[\"é\" x]", 6, 1, 6, "$", "expected a comma or ]"), ("01", 1, 1, 2, "$", "a number has a leading zero"),
      ("[1.]", 3, 1, 4, "$[0]", "expected a digit"), ("\"a", 2, 1, 3, "$", "the text ends inside a string"),
      ("{\"a\":[", 6, 1, 7, "$.a[0]", "the text ends where a value is expected"),
      ("[]]", 2, 1, 3, "$", "unexpected text"), ("[[1,2],[\"\\q\"]]", 9, 1, 10, "$[1][0]", "unknown escape sequence"),
      ("[\"\\ud800x\"]", 2, 1, 3, "$[0]", "a string contains an unpaired surrogate"),
    ] as [(String, Int, Int, Int, String, String)])
  func `syntax errors have a position`(
    text: String, byte: Int, line: Int, column: Int, path: String, reason: String
  ) throws {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
    guard case .notJSON(let found, let place)? = error else {
      Issue.record("\(text) gave \(String(describing: error))")
      return
    }
    #expect(found.hasPrefix(reason))
    #expect([place?.byte, place?.line, place?.column] == [byte, line, column])
    #expect(place.map { "\($0.path)" } == path)
  }

  @Test func `description contains the position`() {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data("{\"a\":\n[1,]}".utf8)) }
    #expect(error?.description == "The text is not JSON: expected a value at line 2, column 4, in $.a[1].")
  }

  @Test(arguments: 0..<64) func `strings of any length are parsed`(length: Int) throws {
    let plain = String(repeating: "a", count: length)
    for middle in ["", "é", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00", "\u{7F}"] {
      let text = "[\"\(plain)\(middle)\(plain)\",1]"
      let due = middle.replacing("\\n", with: "\n").replacing("\\u00e9", with: "é")
        .replacing("\\ud83d\\ude00", with: "😀")
      #expect(try JSONValue(parsing: Data(text.utf8)) == [.string(plain + due + plain), 1])
    }
    for broken in ["\n", "\u{0}", "\u{1F}"] {
      #expect(throws: JSONError.self) { try JSONValue(parsing: Data("[\"\(plain)\(broken)\(plain)\"]".utf8)) }
    }
  }

  @Test func `truncated text is an error`() throws {
    let text = Data(#"{"a":[1,-2.5e+3,"é\n\u00e9😀\ud83d\ude00",true,false,null,{"b":{}}],"":"x"}"#.utf8)
    _ = try JSONValue(parsing: text)
    for end in 0..<text.count {
      #expect(throws: JSONError.self) { try JSONValue(parsing: text.prefix(end)) }
    }
  }

  /// The keys have two lengths and a common prefix, so that their hashes in the parser collide.
  @Test func `repeated key is detected`() throws {
    let keys = (0..<40).flatMap { ["k\($0)", "a key that is longer \($0)"] }
    for count in 1...64 {
      let members = keys.prefix(count).map { "\"\($0)\":{\"x\":[1]}" }
      let plain = try JSONDocument(Data("{\(members.joined(separator: ","))}".utf8))
      #expect(plain.word(0).kind == .object && plain.word(0).length == count)
      for twice in [0, count / 2, count - 1] where count < 64 {
        let repeated = try JSONDocument(Data("{\((members + [members[twice]]).joined(separator: ","))}".utf8))
        #expect(repeated.word(0).kind == .objectWithKeyTable, "\(count) keys, the one at \(twice) again")
      }
    }
    #expect(try JSONDocument(Data(#"{"a\n":1}"#.utf8)).word(0).kind == .objectWithKeyTable)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func `numbers are the nearest doubles`(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    for _ in 0..<(isSanitized ? 500 : 4_000) {
      let digits = (0..<(1 + random.next(below: 22))).map { _ in String(random.next(below: 10)) }.joined()
      var text = digits.drop { $0 == "0" }.description
      if text.isEmpty { text = "0" }
      if random.happens(70) { text += "." + String(random.next(below: 1_000_000)) }
      if random.happens(60) { text += "e\(random.next(below: 640) - 340)" }
      if random.happens(50) { text = "-" + text }
      guard let due = Double(text) else { continue }
      let value = try? JSONValue(parsing: Data(text.utf8)).doubleValue
      #expect(due.isFinite ? value?.bitPattern == due.bitPattern || due == 0 && value == 0 : value == nil, "\(text)")
    }
  }

  /// Both parsers accept the same texts with the same values, except for the differences that the guide lists.
  @Test(arguments: 1...8 as ClosedRange<UInt64>) func `damaged texts match Foundation's results`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    let whole = Array(#"{"a":[1,-2.5e3,"é\n\u00e9😀",true,false,null,{"b":{"c":[]}}],"d":"x","e":12345678901234}"#.utf8)
    for _ in 0..<(isSanitized ? 500 : 4_000) {
      var bytes = whole
      for _ in 0...random.next(below: 2) {
        bytes[random.next(below: bytes.count)] = UInt8(truncatingIfNeeded: random.next(below: 256))
      }
      let data = Data(bytes)
      let own = try? JSONValue(parsing: data)
      let other = try? JSONDecoder().decode(JSONValue.self, from: data)
      if own != other { #expect(Self.mayDiffer(data), "\(String(decoding: data, as: UTF8.self))") }
    }
  }

  /// Foundation accepts a comma before a closing bracket, rejects `0e1`, and uses the first of equal keys.
  private static func mayDiffer(_ data: Data) -> Bool {
    let text = String(decoding: data, as: UTF8.self)
    return text.contains(/,\s*[\]}]/) || text.contains(/0[eE]/) || data.contains(0)
      || (["\"a\"", "\"d\"", "\"e\"", "\"b\"", "\"c\""].contains { text.ranges(of: $0).count > 1 })
  }
}
