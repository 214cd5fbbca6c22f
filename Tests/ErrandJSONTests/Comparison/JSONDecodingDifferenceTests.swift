import ErrandJSON
import Foundation
import Testing

/// What `.fast` does otherwise than Foundation's decoder, on purpose.
@Suite struct JSONDecodingDifferenceTests {
  struct Page: Decodable, Equatable { let users: [User] }
  struct User: Decodable, Equatable { let level: UInt8?, score: Double?, at: Date? }
  /// Reads nothing of its text.
  struct Blind: Decodable { init(from decoder: any Decoder) {} }

  private func fast<Value: Decodable>(_ type: Value.Type, _ text: String) throws(JSONDecodingError) -> Value {
    try JSONDecoding.fast.decode(type, from: Data(text.utf8))
  }

  @Test(arguments: ["[1,]", "[1 , ]", "[[],]", "{\"a\":1,}", "[{\"a\":1,}]", "{\"a\":[1,],\"b\":2}"])
  func `a comma at the end is refused`(text: String) {
    let error = #expect(throws: JSONDecodingError.self) { try fast(Blind.self, text) }
    #expect(error?.kind == .notJSON && error?.path == .root && error?.reason.contains("line 1") == true)
  }

  @Test(arguments: ["0e1", "0E5", "-0e1", "0e+3", "0e-400", "0e400"]) func `zero may have an exponent`(text: String)
    throws
  {
    #expect(try fast([Double].self, "[\(text)]") == [0])
    #expect(try fast(JSONBox<Float>.self, "{\"value\":\(text)}").value == 0)
    #expect(try fast(JSONValue.self, text) == 0)
  }

  @Test(arguments: ["1e-400", "-1e-400", "0.0000001e-330"]) func `what is too small is zero`(text: String) throws {
    #expect(try fast([Double].self, "[\(text)]") == [0])
    #expect(try fast(JSONBox<Double>.self, "{\"value\":\(text)}").value == 0)
  }

  @Test(arguments: ["1e400", "-1e309", "123e99999"]) func `a number beyond Double is told`(number: String) {
    let error = #expect(throws: JSONDecodingError.self) {
      try fast(Page.self, "{\"users\":[{},{\"score\":\(number)}]}")
    }
    #expect(error?.kind == .numberOutOfRange && error?.path == "users[1].score")
    #expect(error?.reason == "the number \(number) is too large")
  }

  @Test(arguments: ["300", "-1", "1.5", "9223372036854775808", "1e2000"]) func `numbers that do not fit are placed`(
    number: String
  ) {
    let error = #expect(throws: JSONDecodingError.self) {
      try fast(Page.self, "{\"users\":[{},{\"level\":\(number)}]}")
    }
    #expect(error?.kind == .numberOutOfRange && error?.path == "users[1].level")
    #expect(error?.reason.contains(number) == true)
    guard case .dataCorrupted(let context)? = error?.underlying as? DecodingError else {
      Issue.record("\(String(describing: error?.underlying))")
      return
    }
    #expect(JSONFailure.names(context.codingPath) == ["users", "Index 1#1", "level"])
  }

  @Test func `dates of another format are placed`() {
    let error = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.fast(dates: .iso8601).decode(Page.self, from: Data(#"{"users":[{"at":"soon"}]}"#.utf8))
    }
    #expect(error?.kind == .invalidValue && error?.path == "users[0].at")
    guard case .dataCorrupted(let context)? = error?.underlying as? DecodingError else {
      Issue.record("\(String(describing: error?.underlying))")
      return
    }
    #expect(JSONFailure.names(context.codingPath) == ["users", "Index 0#0", "at"])
  }

  /// Asks for `é` as one scalar.
  struct Composed: Decodable {
    let value: Int
    init(from decoder: any Decoder) throws {
      value = try decoder.container(keyedBy: JSONName.self).decode(Int.self, forKey: JSONName("\u{E9}"))
    }
  }

  @Test func `keys are compared byte by byte`() throws {
    #expect(try fast(Composed.self, "{\"\u{E9}\":1}").value == 1)
    #expect(try fast(Composed.self, "{\"\\u00e9\":1}").value == 1)
    #expect(try fast(Composed.self, "{\"e\u{301}\":2,\"\u{E9}\":1}").value == 1)
    let error = #expect(throws: JSONDecodingError.self) { try fast(Composed.self, "{\"e\u{301}\":1}") }
    #expect(error?.underlying.map { JSONFailure($0).kind } == "keyNotFound")
  }

  @Test(arguments: [
    "01", "-", "1.", "1e", "+1", ".5", "\"\\ud800\"", "\"\\q\"", "\"\\u12\"", "\"\n\"", "\"\u{1F}\"", "nul", "[1,,2]",
    "{\"a\"}",
  ]) func `what is not read is judged`(wrong: String) {
    for text in ["[\(wrong)]", "{\"a\":{\"x\":\(wrong)}}", "[1,{\"x\":[\(wrong)]}]"] {
      let error = #expect(throws: JSONDecodingError.self) { try fast(Blind.self, text) }
      #expect(error?.kind == .notJSON, "\(text)")
    }
    let page = #expect(throws: JSONDecodingError.self) { try fast(Page.self, "{\"users\":[],\"other\":\(wrong)}") }
    #expect(page?.kind == .notJSON && page?.path == .root)
  }

  @Test(arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC3], [0xF8, 0x88, 0x80, 0x80]] as [[UInt8]])
  func `bytes that are not read are judged`(bytes: [UInt8]) {
    for (head, tail) in [
      ("{\"users\":[],\"x\":\"", "\"}"), ("{\"users\":[],\"", "\":1}"), ("{\"users\":[],\"x\":\"a", "b\"}"),
    ] {
      let text = Data(head.utf8) + bytes + Data(tail.utf8)
      let error = #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode(Page.self, from: text) }
      #expect(error?.kind == .notJSON)
    }
  }

  @Test func `broken texts win over other types`() {
    let wrong = #"[1,"\ud800",2]"#
    let error = #expect(throws: JSONDecodingError.self) { try fast([Int].self, wrong) }
    #expect(error?.kind == .notJSON)
    let late = #expect(throws: JSONDecodingError.self) { try fast([Int].self, #"["x",01]"#) }
    #expect(late?.kind == .notJSON)
  }

  @Test func `UTF-32 with a mark is read`() throws {
    for encoding in [String.Encoding.utf32LittleEndian, .utf32BigEndian] {
      let text = try #require("\u{FEFF}[\"é😀\"]".data(using: encoding))
      #expect(try JSONDecoding.fast.decode([String].self, from: text) == ["é😀"])
    }
  }

  @Test func `a failed read behind the end stays there`() throws {
    struct Counting: Decodable {
      let index: Int
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd { _ = try list.decode(Int.self) }
        _ = try list.decodeIfPresent(Int.self)
        index = list.currentIndex
      }
    }
    #expect(try fast(Counting.self, "[1,2]").index == 2)
  }
}
