import ErrandJSON
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Compares how Foundation's decoder and `.fast` validate whole texts.
struct TextComparisonTests {
  @Test(arguments: ["1", "-1.5", "\"x\"", "true", "false", "null", "[]", "{}", "\"\""])
  func `any value is read at top level`(text: String) {
    expectAlike(JSONValue.self, text)
    expectAlike(JSONBare<JSONValue>.self, text)
    for space in [" ", "\n", "\r\n", "\t", " \n\t\r "] {
      expectAlike(JSONBare<JSONValue>.self, "\(space)\(text)\(space)")
    }
  }

  @Test(arguments: [
    "", " ", "\n\t\r ", "1 2", "[1] 2", "[1]]", "{}}", "{}{}", "nul", "nulll", "tru", "True", "truefalse", "[", "[1",
    "[1,", "{",
    "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "]", "}", ",", ":", "[1 2]", "[,1]", "[1,,2]", "{a:1}", "{'a':1}",
    "{1:1}",
    "{\"a\" 1}", "{\"a\":}", "{\"a\":1 \"b\":2}", "{,}", "[:]", "{\"a\":1:2}", "{null:1}", "/**/1", "//\n1", "[1]//",
    "\u{B}1",
    "\u{A0}1", "1\u{A0}", "\u{2028}1", "#", "<html>", "(1)", "undefined", "\"a", "\"a\\", "'", "`1`",
    "[1]\u{FEFF}", "{\"a\":[}", "[{]}", "{[]:1}", "[1}", "{\"a\":1]",
  ]) func `invalid JSON is an error`(text: String) {
    expectSameFailure([Int].self, text)
    expectSameFailure(JSONBare<Int?>.self, text)
    expectSameFailure([String: Int].self, text)
    expectSameFailure(JSONView.self, text)
  }

  @Test func `truncated texts are errors`() {
    let text = Array(#"{"a":[1,-2.5e+3,"é\n\u00e9😀"],"b":{"value":true}}"#.utf8)
    struct Whole: Decodable { let a: [JSONBare<JSONValue>], b: JSONBox<Bool> }
    for end in 0..<text.count {
      JSONComparison<Whole, Bool>({ _ in }, #_sourceLocation) { _ in true }.expect(.failure, Data(text[..<end]))
    }
    JSONComparison<Whole, Bool>({ _ in }, #_sourceLocation) { _ in true }.expect(.value, Data(text))
  }

  static let encodings: [String.Encoding] = [
    .utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
  ]

  @Test(arguments: encodings) func `every Unicode encoding is read`(encoding: String.Encoding) throws {
    for text in [#"{"é中😀":["\u00e9é中😀"]}"#, #"{ "a" : [ ] }"#, "{}"] {
      let data = try #require(text.data(using: encoding))
      JSONComparison<[String: [String]], [String: [String]]>({ _ in }, #_sourceLocation) { $0 }.expect(.value, data)
      JSONComparison<[String: [Int?]], String>({ _ in }, #_sourceLocation) { "\($0)" }.expect(.either, data)
    }
    for text in ["1", "12", "[1]", "[1,\"x\"]", "[1", " 1 "] {
      let data = try #require(text.data(using: encoding))
      JSONComparison<[Int], [Int]>({ _ in }, #_sourceLocation) { $0 }.expect(.either, data)
      JSONComparison<Int, Int>({ _ in }, #_sourceLocation) { $0 }.expect(.either, data)
    }
  }

  @Test(arguments: [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .utf32BigEndian])
  func `byte order mark is ignored`(encoding: String.Encoding) throws {
    for text in [#"{"é中😀":["x"]}"#, "{}"] {
      let data = try #require("\u{FEFF}\(text)".data(using: encoding))
      JSONComparison<[String: [String]], [String: [String]]>({ _ in }, #_sourceLocation) { $0 }.expect(.value, data)
    }
    let mark = try #require("\u{FEFF}".data(using: encoding))
    JSONComparison<Int, Int>({ _ in }, #_sourceLocation) { $0 }.expect(.failure, mark)
  }

  @Test func `slices of data are read`() {
    let whole = Data("xx[1,2]yy".utf8)
    JSONComparison<[Int], [Int]>({ _ in }, #_sourceLocation) { $0 }.expect(.value, whole[2..<7])
    JSONComparison<[Int], [Int]>({ _ in }, #_sourceLocation) { $0 }.expect(.failure, whole[1..<7])
  }

  @Test(arguments: [1, 2, 100, 511, 512, 513, 600]) func `nesting has a limit`(depth: Int) {
    let lists = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let objects = String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
    for text in [lists, objects] {
      JSONComparison<JSONView, JSONView>({ _ in }, #_sourceLocation) { $0 }
        .expect(depth > 512 ? .failure : .value, Data(text.utf8))
    }
    // The text ends with a space, because Foundation traps if it ends with a bracket beyond the depth limit.
    expectAlike([Int].self, "[\(String(repeating: "[", count: depth)) ")
  }

  @Test(arguments: [JSONDecoding.standard, .fast]) func `too deep bracket at the end is safe`(
    _ decoding: JSONDecoding
  ) {
    for (bracket, depth) in [("[", 512), ("[", 513), ("[", 514), ("{\"a\":[", 513), ("[{\"a\":", 600)] {
      let text = Data((String(repeating: bracket, count: depth) + "[").utf8)
      #expect(throws: JSONDecodingError.self) { try decoding.decode([Int].self, from: text) }
      #expect(throws: JSONDecodingError.self) { try decoding.decode([Int].self, from: text.dropLast()) }
      for space in ["\r", " \r", "\r\n", "\n\t "] {
        #expect(throws: JSONDecodingError.self) { try decoding.decode([Int].self, from: text + Data(space.utf8)) }
      }
      // `JSONDecoder` accepts these beginnings, so the text is read again for the error.
      for beginning in ["[[1,],", #"["\x","#, "[01,", #"{"a":[1,],"b":"#] {
        for space in ["", "\r"] {
          let text = Data(beginning.utf8) + text.dropLast() + Data(space.utf8)
          #expect(throws: JSONDecodingError.self) { try decoding.decode([Int].self, from: text) }
          #expect(throws: JSONDecodingError.self) { try decoding.decode([String: Int?].self, from: text, at: "b") }
        }
      }
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func `damaged texts match Foundation's results`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    let whole = Array(#"{"a":[1,-25,300,{"b":"x","c":null}],"d":"text","e":{"k":[true,false],"l":1.5}}"#.utf8)
    for _ in 0..<(isSanitized ? 200 : 1_500) {
      var bytes = whole
      for _ in 0...random.next(below: 2) {
        bytes[random.next(below: bytes.count)] = Self.signs[random.next(below: Self.signs.count)]
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard (try? JSONValue(parsing: Data(bytes))) != nil, !text.contains(/0[eE]/) else { continue }
      expectAlike(Damaged.self, text)
      expectAlike(JSONBare<JSONView>.self, text)
    }
  }

  private static let signs = Array(#"{}[]:,"\ 019-.eEtfnulasd"#.utf8)

  struct Damaged: Decodable, Equatable {
    let a: [Part], d: String?, e: Inner?
    struct Inner: Decodable, Equatable { let k: [Bool]?, l: Double? }
    enum Part: Decodable, Equatable {
      case number(Int8), object([String: String?])
      init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if let number = try? single.decode(Int8.self) {
          self = .number(number)
        } else if let number = try? single.decode(Int16.self) {
          self = .number(Int8(truncatingIfNeeded: number))
        } else {
          self = .object(try single.decode([String: String?].self))
        }
      }
    }
  }
}
