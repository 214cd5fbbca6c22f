import ErrandJSON
import Foundation
import Testing

/// What `.fast` reads otherwise than Foundation's decoder, as the guide lists it.
@Suite struct DifferenceTests {
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
  ]) func `the whole text is judged`(text: String) {
    let error = #expect(throws: JSONDecodingError.self) { try read(One.self, text) }
    #expect(error?.kind == .notJSON)
  }

  @Test func `the whole text is UTF-8`() {
    let text = Data(#"{"b":""#.utf8) + [0xFF] + Data(#"","a":1}"#.utf8)
    let error = #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode(One.self, from: text) }
    #expect(error?.kind == .notJSON)
  }

  @Test func `a zero may have an exponent`() throws {
    #expect(try read([Double].self, "[0e1,0E-5]") == [0, 0])
    #expect(try read([Int].self, "[0e1]") == [0])
  }

  @Test func `tiny numbers are zero`() throws {
    #expect(try read([Double].self, "[1e-400,-1e-99999]") == [0, 0])
    #expect(try read([Float].self, "[1e-60]") == [0])
  }

  @Test func `a number that does not fit is named`() {
    let large = #expect(throws: JSONDecodingError.self) { try read([String: [Double]].self, #"{"a":[1,1e400]}"#) }
    #expect(large?.path == "a[1]" && large?.reason.contains("1e400") == true)
    let byte = #expect(throws: JSONDecodingError.self) { try read([String: [UInt8]].self, #"{"a":[1,300]}"#) }
    #expect(byte?.path == "a[1]" && byte?.reason.contains("300") == true)
  }

  @Test func `keys are told apart by bytes`() throws {
    struct Coffee: Decodable {
      let text: String
      enum CodingKeys: String, CodingKey { case text = "caf\u{E9}" }
    }
    #expect(try read(Coffee.self, "{\"cafe\u{301}\":\"a\",\"caf\u{E9}\":\"b\"}").text == "b")
    let error = #expect(throws: JSONDecodingError.self) { try read(Coffee.self, "{\"cafe\u{301}\":\"a\"}") }
    #expect(error?.kind == .missingKey)
  }

  @Test func `an inner value is the document's`() throws {
    let value = try read(JSONBox<JSONValue>.self, #"{"value":{"a_b":1,"c":1,"c":2}}"#) {
      $0.keyDecodingStrategy = .convertFromSnakeCase
    }
    #expect(value.value == ["a_b": 1, "c": 2])
  }

  @Test func `paths have plain keys`() throws {
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

  @Test func `nothing moves behind the end`() throws {
    struct End: Decodable {
      let index: Int
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        _ = try list.decode(Int.self)
        _ = try? list.decodeIfPresent(Int.self)
        index = list.currentIndex
      }
    }
    #expect(try read(End.self, "[1]").index == 1)
  }

  @Test func `what only Foundation reads goes there`() throws {
    #expect(try read(One.self, "{a:1,}") { $0.allowsJSON5 = true } == One(a: 1))
    #expect(try read(One.self, #""a":1"#) { $0.assumesTopLevelDictionary = true } == One(a: 1))
  }

  @Test func `kept decoders serve many threads`() async throws {
    struct Kept: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) throws { self.decoder = decoder }
    }
    let members = (0..<50).map { "\"k\($0)\":[\($0),\"\($0)\"]" }
    let decoder = try read(Kept.self, "{\(members.joined(separator: ","))}").decoder
    let source = UnsafeDecoder(decoder)
    await withTaskGroup { tasks in
      for start in 0..<8 {
        tasks.addTask { source.sum(from: start) }
      }
      for await sum in tasks { #expect(sum == 1_225) }
    }
  }

  /// Shows one decoder to several threads, which `.fast` allows.
  private struct UnsafeDecoder: @unchecked Sendable {
    private let decoder: any Decoder

    init(_ decoder: any Decoder) { self.decoder = decoder }

    /// The sum of the first elements under all keys, asked for in an order of its own; -1 where one is missing.
    func sum(from start: Int) -> Int {
      (0..<50).reduce(0) { sum, step in
        let key = JSONName("k\((step * 7 + start) % 50)")
        guard let object = try? decoder.container(keyedBy: JSONName.self),
          var list = try? object.nestedUnkeyedContainer(forKey: key), let number = try? list.decode(Int.self)
        else { return -1 }
        return sum + number
      }
    }
  }
}
