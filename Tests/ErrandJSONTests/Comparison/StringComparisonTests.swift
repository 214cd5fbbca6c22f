import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read strings.
struct StringComparisonTests {
  @Test(arguments: [
    "", "a", "sixteen bytes ...", "\\n\\r\\t\\b\\f", "\\\"\\\\\\/", "\\u0041", "\\u00e9\\u00E9", "\\u4e2d\\u6587",
    "中文字符串", "Ünïcödé", "😀", "\\ud83d\\ude00", "👨‍👩‍👧‍👦🇩🇪", "\\u0000", "a\\u0000b", "\u{7F}", "\u{2028}\u{2029}", "\u{FEFF}x",
    "\\u007f", "\\uFFFF", "\\uFFFE", "\u{FFFD}", "e\u{301}", "\u{E9}", "/", "</script>", "'", "x\\n中\\ud83d\\ude00y",
  ]) func `strings are read as written`(text: String) {
    expectAlikeEverywhere(String.self, "\"\(text)\"")
    expectSame([String].self, "[\"\(text)\"]") { $0.map { Array($0.utf8) } }
    expectSame(JSONBox<String>.self, "{\"value\":\"\(text)\"}") { Array($0.value.utf8) }
  }

  @Test(arguments: 0..<40) func `strings of any length are read`(length: Int) {
    let plain = String(repeating: "x", count: length)
    expectSame([String].self, "[\"\(plain)\",\"\(plain)\\n\",\"é\(plain)\",\"\(plain)😀\"]")
    expectSame([String: String].self, "{\"\(plain)\":\"\(plain)\",\"\(plain)é\":\"\"}")
  }

  @Test(arguments: [
    "\\x", "\\u12", "\\u12g4", "\\", "\\ud800", "\\udc00", "\\ud800x", "\\ud800\\n", "\\ud800\\ud800", "\\udc00\\ud800",
    "a\nb", "\t", "\u{0}", "\u{1F}",
  ]) func `malformed strings are errors`(text: String) {
    expectSameFailure(String.self, "\"\(text)\"")
    expectSameFailure([String].self, "[\"\(text)\"]")
    expectSameFailure(JSONBox<String>.self, "{\"value\":\"\(text)\"}")
  }

  @Test(
    arguments: [
      [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3], [0xE4, 0xB8], [0xF0, 0x9F, 0x98], [0xF5, 0x80, 0x80, 0x80],
      [0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xE0, 0x80, 0x80],
    ] as [[UInt8]]) func `invalid UTF-8 is an error`(bytes: [UInt8])
  {
    let comparison = JSONComparison<[String], [String]>({ _ in }, #_sourceLocation) { $0 }
    comparison.expect(.failure, Data("[\"a".utf8) + bytes + Data("b\"]".utf8))
    comparison.expect(.failure, Data("[\"a".utf8) + bytes + Data("\"]".utf8))
  }

  @Test(arguments: ["1", "1.5", "true", "null", "[]", "[\"a\"]", "{}", "{\"a\":\"b\"}"])
  func `other types are not strings`(text: String) {
    expectAlikeEverywhere(String.self, text)
  }

  @Test(arguments: ["\"a\"", "\"\"", "\"ab\"", "\"é\"", "\"👨‍👩‍👧‍👦\"", "1"]) func `single characters are read`(text: String) {
    struct Letter: Decodable, Equatable {
      let letter: Character
      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard text.count == 1, let first = text.first else {
          throw DecodingError.dataCorruptedError(in: container, debugDescription: "no letter")
        }
        letter = first
      }
    }
    expectAlike([Letter].self, "[\(text)]")
    expectAlike([String: Letter].self, "{\"a\":\(text)}")
  }

  @Test func `long strings are read completely`() {
    let long = String(repeating: "中文 and \\u00e9 \\\"quoted\\\" ", count: 2_000)
    expectSame([String].self, "[\"\(long)\"]")
    expectSame([String: [String]].self, "{\"\(long)\":[\"\(long)\"]}")
  }
}
