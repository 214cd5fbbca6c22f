import ErrandJSON
import Foundation
import Testing

/// Tests the intended differences between `.fast` and Foundation's decoder, which the guide lists.
struct JSONDecodingDifferenceTests {
  struct Page: Decodable, Equatable { let users: [User] }
  struct User: Decodable, Equatable { let level: UInt8?, score: Double?, at: Date? }
  /// A type that reads nothing from the decoder.
  struct Blind: Decodable { init(from decoder: any Decoder) {} }

  private func fast<Value: Decodable>(_ type: Value.Type, _ text: String) throws(JSONDecodingError) -> Value {
    try JSONDecoding.fast.decode(type, from: Data(text.utf8))
  }

  @Test(arguments: ["[1,]", "[1 , ]", "[[],]", "{\"a\":1,}", "[{\"a\":1,}]", "{\"a\":[1,],\"b\":2}"])
  func `trailing comma is an error`(text: String) {
    let error = #expect(throws: JSONDecodingError.self) { try fast(Blind.self, text) }
    #expect(error?.kind == .notJSON && error?.path == .root && error?.reason.contains("line 1") == true)
  }

  @Test(arguments: ["0e1", "0E5", "-0e1", "0e+3", "0e-400", "0e400"]) func `zero with an exponent is read`(text: String)
    throws
  {
    #expect(try fast([Double].self, "[\(text)]") == [0])
    #expect(try fast(JSONBox<Float>.self, "{\"value\":\(text)}").value == 0)
    #expect(try fast(JSONValue.self, text) == 0)
  }

  @Test(arguments: ["1e-400", "-1e-400", "0.0000001e-330"]) func `too small numbers become zero`(text: String) throws {
    #expect(try fast([Double].self, "[\(text)]") == [0])
    #expect(try fast(JSONBox<Double>.self, "{\"value\":\(text)}").value == 0)
  }

  @Test(arguments: ["1e400", "-1e309", "123e99999"]) func `number beyond Double is an error`(number: String) {
    let error = #expect(throws: JSONDecodingError.self) {
      try fast(Page.self, "{\"users\":[{},{\"score\":\(number)}]}")
    }
    #expect(error?.kind == .numberOutOfRange && error?.path == "users[1].score")
    #expect(error?.reason == "the number \(number) is too large")
  }

  @Test(arguments: ["300", "-1", "1.5", "9223372036854775808", "1e2000"]) func `errors locate numbers that do not fit`(
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

  @Test func `errors locate dates in another format`() {
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

  /// A type whose key is `é` as one Unicode scalar.
  struct Composed: Decodable {
    let value: Int
    init(from decoder: any Decoder) throws {
      value = try decoder.container(keyedBy: JSONName.self).decode(Int.self, forKey: JSONName("\u{E9}"))
    }
  }

  @Test(arguments: [#"{"a":1,"a":"x"}"#, #"{"a":1,"b":2,"a":[]}"#, #"{"a":1,"a":1e999}"#])
  func `later equal keys are ignored`(text: String) throws {
    let decoding = JSONDecoding.fast(keys: .convertFromSnakeCase)
    #expect(try decoding.decode([String: Int].self, from: Data(text.utf8))["a"] == 1)
    #expect(try fast([String: Int].self, text)["a"] == 1)
  }

  @Test func `composed and decomposed keys differ`() throws {
    #expect(try fast(Composed.self, "{\"\u{E9}\":1}").value == 1)
    #expect(try fast(Composed.self, "{\"\\u00e9\":1}").value == 1)
    #expect(try fast(Composed.self, "{\"e\u{301}\":2,\"\u{E9}\":1}").value == 1)
    let error = #expect(throws: JSONDecodingError.self) { try fast(Composed.self, "{\"e\u{301}\":1}") }
    #expect(error?.underlying.map { JSONFailure($0).kind } == "keyNotFound")
  }

  @Test func `paths compare keys byte by byte`() throws {
    let text = Data("{\"e\u{301}\":1}".utf8)
    let (composed, decomposed) = (JSONPath([.key("\u{E9}")]), JSONPath([.key("e\u{301}")]))
    #expect(try JSONDecoding.fast.decode(Int.self, from: text, at: decomposed) == 1)
    #expect(try JSONDecoding.fast.decode(Int?.self, from: text, at: composed) == nil)
    let error = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.fast.decode(Int.self, from: text, at: composed)
    }
    #expect(error?.kind == .missingKey)
    #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.standard.decode([JSONValue].self, from: text, at: composed)
    }
  }

  @Test(arguments: [
    "01", "-", "1.", "1e", "+1", ".5", "\"\\ud800\"", "\"\\q\"", "\"\\u12\"", "\"\n\"", "\"\u{1F}\"", "nul", "[1,,2]",
    "{\"a\"}",
  ]) func `values not read are validated`(wrong: String) {
    for text in ["[\(wrong)]", "{\"a\":{\"x\":\(wrong)}}", "[1,{\"x\":[\(wrong)]}]"] {
      let error = #expect(throws: JSONDecodingError.self) { try fast(Blind.self, text) }
      #expect(error?.kind == .notJSON, "\(text)")
    }
    let page = #expect(throws: JSONDecodingError.self) { try fast(Page.self, "{\"users\":[],\"other\":\(wrong)}") }
    #expect(page?.kind == .notJSON && page?.path == .root)
  }

  @Test(arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC3], [0xF8, 0x88, 0x80, 0x80]] as [[UInt8]])
  func `bytes not read are validated`(bytes: [UInt8]) {
    for (head, tail) in [
      ("{\"users\":[],\"x\":\"", "\"}"), ("{\"users\":[],\"", "\":1}"), ("{\"users\":[],\"x\":\"a", "b\"}"),
    ] {
      let text = Data(head.utf8) + bytes + Data(tail.utf8)
      let error = #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode(Page.self, from: text) }
      #expect(error?.kind == .notJSON)
    }
  }

  @Test func `invalid text precedes type mismatch`() {
    let wrong = #"[1,"\ud800",2]"#
    let error = #expect(throws: JSONDecodingError.self) { try fast([Int].self, wrong) }
    #expect(error?.kind == .notJSON)
    let late = #expect(throws: JSONDecodingError.self) { try fast([Int].self, #"["x",01]"#) }
    #expect(late?.kind == .notJSON)
  }

  @Test func `UTF-32 with byte order mark is read`() throws {
    for encoding in [String.Encoding.utf32LittleEndian, .utf32BigEndian] {
      let text = try #require("\u{FEFF}[\"é😀\"]".data(using: encoding))
      #expect(try JSONDecoding.fast.decode([String].self, from: text) == ["é😀"])
    }
  }

  @Test func `failed read at the end does not advance`() throws {
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

  // MARK: - Through a custom decoder

  struct One: Decodable, Equatable { let a: Int }

  private func read<T: Decodable>(
    _ type: T.Type, _ text: String, by configure: (JSONDecoder) -> Void = { _ in }
  ) throws(JSONDecodingError) -> T {
    let decoder = JSONDecoder()
    configure(decoder)
    return try JSONDecoding.fast(by: decoder).decode(type, from: Data(text.utf8))
  }

  @Test(arguments: [
    #"{"b":"\x","a":1}"#, #"{"b":01,"a":1}"#, #"{"b":"\ud800","a":1}"#, "{\"b\":\"\n\",\"a\":1}", #"{"\x":1,"a":1}"#,
    #"{"a":1,}"#, #"{"b":[1,],"a":1}"#, #"{"a":1}x"#,
  ]) func `whole text is validated`(text: String) {
    let error = #expect(throws: JSONDecodingError.self) { try read(One.self, text) }
    #expect(error?.kind == .notJSON)
  }

  @Test func `whole text must be UTF-8`() {
    let text = Data(#"{"b":""#.utf8) + [0xFF] + Data(#"","a":1}"#.utf8)
    let error = #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode(One.self, from: text) }
    #expect(error?.kind == .notJSON)
  }

  @Test func `arrays of zeros with exponents are read`() throws {
    #expect(try read([Double].self, "[0e1,0E-5]") == [0, 0])
    #expect(try read([Int].self, "[0e1]") == [0])
  }

  @Test func `tiny numbers become zero`() throws {
    #expect(try read([Double].self, "[1e-400,-1e-99999]") == [0, 0])
    #expect(try read([Float].self, "[1e-60]") == [0])
  }

  @Test func `error names number that does not fit`() {
    let large = #expect(throws: JSONDecodingError.self) { try read([String: [Double]].self, #"{"a":[1,1e400]}"#) }
    #expect(large?.path == "a[1]" && large?.reason.contains("1e400") == true)
    let byte = #expect(throws: JSONDecodingError.self) { try read([String: [UInt8]].self, #"{"a":[1,300]}"#) }
    #expect(byte?.path == "a[1]" && byte?.reason.contains("300") == true)
  }

  @Test func `keys are compared by bytes`() throws {
    struct Coffee: Decodable {
      let text: String
      enum CodingKeys: String, CodingKey { case text = "caf\u{E9}" }
    }
    #expect(try read(Coffee.self, "{\"cafe\u{301}\":\"a\",\"caf\u{E9}\":\"b\"}").text == "b")
    let error = #expect(throws: JSONDecodingError.self) { try read(Coffee.self, "{\"cafe\u{301}\":\"a\"}") }
    #expect(error?.kind == .missingKey)
  }

  @Test func `key strategies skip inner JSON values`() throws {
    let value = try read(JSONBox<JSONValue>.self, #"{"value":{"a_b":1,"c":1,"c":2}}"#) {
      $0.keyDecodingStrategy = .convertFromSnakeCase
    }
    #expect(value.value == ["a_b": 1, "c": 1])
  }

  @Test func `coding paths have keys without numbers`() throws {
    struct Numbered: Decodable {
      enum CodingKeys: Int, CodingKey { case one = 1 }
      struct Way: Decodable {
        let names: [String]
        init(from decoder: any Decoder) throws { names = JSONFailure.names(decoder.codingPath) }
      }
      let one: Way
    }
    #expect(try read(Numbered.self, #"{"one":{}}"#).one.names == ["one"])
  }

  @Test func `Foundation reads JSON5 and brace-less objects`() throws {
    #expect(try read(One.self, "{a:1,}") { $0.allowsJSON5 = true } == One(a: 1))
    #expect(try read(One.self, "{a:1} // [\n") { $0.allowsJSON5 = true } == One(a: 1))
    #expect(try read(JSONValue.self, "{a:1,}") { $0.allowsJSON5 = true } == ["a": 1])
    #expect(try read(One.self, #""a":1"#) { $0.assumesTopLevelDictionary = true } == One(a: 1))
  }
}
