import ErrandJSON
import Foundation
import TestSupport
import Testing

struct JSONValueParsingTests {
  static let texts: [(String, JSONValue)] = [
    ("null", nil), ("true", true), ("false", false), ("1", 1), ("0", 0), ("-0", 0), ("1.0", 1), ("1.5", 1.5),
    ("1e2", 100),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .unsigned(9_223_372_036_854_775_808)), ("18446744073709551615", .unsigned(.max)),
    ("18446744073709551616", .number(18_446_744_073_709_551_616)),
    ("-9223372036854775809", .number(-9.223372036854775809e18)),
    ("0.30000000000000004", .number(0.30000000000000004)), ("123456789.123456789", .number(123456789.123456789)),
    ("5e-324", .number(.leastNonzeroMagnitude)), ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
    ("[0e1]", [0]),
    ("\"\"", ""), ("\"\\u0000\"", "\u{0}"), ("\"\\ud83d\\ude00\"", "😀"), ("\"é 你好\"", "é 你好"), (" [ ] ", []),
    ("{}", [:]),
    ("[1,true,\"1\",null,{\"a\":[]}]", [1, true, "1", nil, ["a": []]]), ("{\"a,]\":\"[,]\"}", ["a,]": "[,]"]),
    ("{\"a\":1,\"a\":2}", ["a": 1]), ("\"\\\\\\\"\"", "\\\""),
  ]

  @Test(arguments: texts) func `texts become their values`(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: Data(text.utf8)) == value)
  }

  @Test func `true and false are not numbers`() throws {
    let parsed = try JSONValue(parsing: Data("[true,1,1.0,false,0]".utf8))
    #expect(parsed[0]?.boolValue == true && parsed[0]?.intValue == nil && parsed[0]?.doubleValue == nil)
    #expect(parsed[1]?.boolValue == nil && parsed[1]?.intValue == 1)
    #expect(parsed[2]?.boolValue == nil && parsed[2]?.intValue == 1)
    #expect(parsed[3] == false && parsed[3] != 0 && parsed[4] != false)
    #expect(parsed[0] != 1 && parsed[1] != true)
  }

  @Test(arguments: [
    "nul", "01", "+1", ".5", "1.", "[1,]", "{\"a\":1,}", "[1] ]", "1 x", "NaN", "'a'", "//c\n1", "\"a\tb\"", "\"a", "[",
    "{", "]",
    "{\"a\"}", "{a:1}", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\x\"", "12\u{0}", "[1 2]", "Infinity",
    "\u{B}1",
  ]) func `invalid grammar is an error`(text: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
    guard case .notJSON(let reason, _)? = error else {
      Issue.record("\(text) gave \(String(describing: error))")
      return
    }
    #expect(!reason.isEmpty && !reason.hasSuffix("."))
  }

  @Test(
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22], [0xFF],
      [0xFF, 0xFE, 0x5B, 0, 0x5D], [0xFF, 0xFE, 0x22, 0, 0, 0xD8, 0x22, 0],
    ] as [[UInt8]]) func `invalid encodings are errors`(bytes: [UInt8])
  {
    #expect(throws: JSONError.self) { try JSONValue(parsing: Data(bytes)) }
  }

  @Test(arguments: ["", " ", "\n\t\r ", "\u{FEFF}"]) func `empty text has its own error`(text: String) {
    #expect(throws: JSONError.empty) { try JSONValue(parsing: Data(text.utf8)) }
    #expect(JSONError.empty.description == "The text is empty where JSON was expected.")
  }

  @Test(arguments: [
    String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
  ])
  func `every Unicode encoding is read`(encoding: String.Encoding) throws {
    let text = "[1,\"é😀\"]"
    let plain = try #require(text.data(using: encoding))
    let marked = try #require(("\u{FEFF}" + text).data(using: encoding))
    #expect(try JSONValue(parsing: plain) == [1, "é😀"])
    #expect(try JSONValue(parsing: marked) == [1, "é😀"])
  }

  @Test(arguments: [
    Data([0x38, 0, 0x3C]), Data([0, 0x38, 0]), Data([0, 0, 0, 0x38, 0]), Data([0xFF, 0xFE, 0x38, 0, 0]),
    Data([0x38, 0, 0, 0, 0, 0]),
  ]) func `incomplete code unit is an error`(data: Data) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: data) }
    #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode(Int.self, from: data) }
    #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode(Int.self, from: data) }
  }

  @Test func `slices of data are read`() throws {
    let data = Data("xx\u{FEFF}[1]yy".utf8)
    #expect(try JSONValue(parsing: data[2..<8]) == [1])
  }

  @Test(arguments: ["1e400", "-1e400", "[1,{\"a\":1E+999}]"]) func `error names number beyond Double`(text: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Data(text.utf8)) }
    guard case .numberOutOfRange(let number)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text.contains(number))
  }

  @Test func `huge integers become doubles`() throws {
    let digits = String(repeating: "9", count: 300)
    let value = try JSONValue(parsing: Data(digits.utf8)).doubleValue
    #expect(value == 1e300)
    #expect(throws: JSONError.self) { try JSONValue(parsing: Data(String(repeating: "9", count: 10_000).utf8)) }
  }

  @Test(arguments: [("[", "]"), ("{\"a\":", "}")]) func `too deep nesting is an error`(open: String, close: String)
    throws
  {
    func text(_ depth: Int) -> Data {
      Data((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
    }
    #expect(try JSONValue(parsing: text(512)).isNull == false)
    #expect(throws: JSONError.tooDeep(limit: 512)) { try JSONValue(parsing: text(513)) }
    #expect(throws: JSONError.tooDeep(limit: 512)) { try JSONValue(parsing: text(100_000)) }
    #expect(throws: JSONError.tooDeep(limit: 512)) { try JSONValue(parsing: text(100_000).prefix(90_000)) }
  }

  @Test func `string of one mebibyte is read`() throws {
    let long = String(repeating: "é", count: 512 * 1024)
    #expect(try JSONValue(parsing: Data("\"\(long)\"".utf8)) == .string(long))
  }

  @Test(arguments: [("[", "]"), ("{\"a\":", "}")]) func `deep nesting works on small stacks`(
    open: String, close: String
  )
    async throws
  {
    func text(_ depth: Int) -> Data {
      Data((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
    }
    let deep = text(512)
    let mild = text(150)
    let (parsed, decoded, refused) = await onSmallStack {
      (
        try? JSONValue(parsing: deep), try? JSONDecoder().decode(JSONValue.self, from: mild),
        try? JSONDecoder().decode(JSONValue.self, from: deep)
      )
    }
    #expect(parsed != nil && decoded != nil && refused == nil)
  }

  /// Runs work on a thread with 512 KiB of stack, like a worker thread on Apple platforms. The frames of a sanitized
  /// build are several times as large.
  private func onSmallStack<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { done in
      let thread = Thread { done.resume(returning: work()) }
      thread.stackSize = isSanitized ? 4 << 20 : 512 << 10
      thread.start()
    }
  }
}
