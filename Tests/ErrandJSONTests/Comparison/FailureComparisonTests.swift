import ErrandJSON
import Foundation
import Testing

/// Compares the errors of Foundation's decoder and of `.fast`.
struct FailureComparisonTests {
  struct Refusal: Error, CustomStringConvertible { let description: String }

  struct Even: Decodable, Equatable {
    let number: Int
    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
      guard number.isMultiple(of: 2) else { throw Refusal(description: "\(number) is odd") }
    }
  }

  @Test func `custom errors pass through`() {
    expectSame([Even].self, "[2,4]")
    expectSameFailure(Even.self, "3")
    expectSameFailure([Even].self, "[2,3]")
    expectSameFailure([String: [Even]].self, #"{"a":[2],"b":[4,5]}"#)
    expectSameFailure(JSONBox<JSONBox<Even?>>.self, #"{"value":{"value":7}}"#)
    expectSameFailure([Even].self, #"[2,"x"]"#)
  }

  struct Checked: Decodable, Equatable {
    let low: Int, high: Int
    enum CodingKeys: CodingKey { case low, high }
    init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: CodingKeys.self)
      low = try object.decode(Int.self, forKey: .low)
      high = try object.decode(Int.self, forKey: .high)
      guard low <= high else {
        throw DecodingError.dataCorruptedError(forKey: .high, in: object, debugDescription: "high lies below low")
      }
    }
  }

  @Test func `container errors have their path`() {
    expectSame([Checked].self, #"[{"low":1,"high":2}]"#)
    expectSameFailure(Checked.self, #"{"low":3,"high":2}"#)
    expectSameFailure([Checked].self, #"[{"low":1,"high":2},{"low":3,"high":2}]"#)
    expectSameFailure([String: [Checked]].self, #"{"a b":[{"low":3,"high":2}]}"#)
  }

  struct Misleading: Decodable, Equatable {
    init(from decoder: any Decoder) throws {
      throw DecodingError.keyNotFound(
        JSONName("elsewhere"), DecodingError.Context(codingPath: [JSONName("far")], debugDescription: "made up"))
    }
  }

  @Test func `decoding errors of types stay unchanged`() {
    expectSameFailure([Misleading].self, "[1]")
    expectSameFailure([String: Misleading].self, #"{"far":{}}"#)
  }

  struct Hiding: Decodable, Equatable {
    init(from decoder: any Decoder) throws {
      do {
        _ = try decoder.container(keyedBy: JSONName.self).decode([Int].self, forKey: "list")
      } catch {
        throw Refusal(description: "no list: \(JSONFailure(error))")
      }
    }
  }

  @Test func `caught errors match Foundation's`() {
    expectSameFailure(Hiding.self, "{}")
    expectSameFailure(Hiding.self, "[]")
    expectSameFailure([Hiding].self, #"[{"list":[1,"x"]}]"#)
    expectSameFailure([String: Hiding].self, #"{"a":{"list":null}}"#)
  }

  @Test(arguments: ["\"x\"", "null", "{}", "1.5", "300", "true", "[[]]"]) func `deep errors have the complete path`(
    wrong: String
  ) {
    expectSameFailure([[[UInt8]]].self, "[[],[[1],[2,3,\(wrong)]]]")
    expectSameFailure([String: [String: [[UInt8]]]].self, "{\"a\":{\"b.c\":[[1],[\(wrong)]]}}")
    expectSameFailure([[JSONBox<[JSONBox<UInt8>]>]].self, "[[],[{\"value\":[{\"value\":1},{\"value\":\(wrong)}]}]]")
    let deep = String(repeating: "[", count: 60) + wrong + String(repeating: "]", count: 60)
    expectAlike([Nest].self, "[0,\(deep)]")
  }

  /// Nested arrays with zeros at the deepest level.
  enum Nest: Decodable, Equatable {
    case zero, list([Nest])
    init(from decoder: any Decoder) throws {
      if var list = try? decoder.unkeyedContainer() {
        var parts: [Nest] = []
        while !list.isAtEnd { parts.append(try list.decode(Nest.self)) }
        self = .list(parts)
      } else {
        guard try decoder.singleValueContainer().decode(UInt8.self) == 0 else { throw Refusal(description: "no zero") }
        self = .zero
      }
    }
  }

  static let places: [(String, [String])] = [
    ("[1,2,3,4,\"x\"]", ["Index 4#4"]), ("[\"x\"]", ["Index 0#0"]), ("[[],1,{},\"x\"]", ["Index 0#0"]),
  ]

  @Test(arguments: places) func `path indices start at zero`(text: String, path: [String]) {
    let error = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.fast.decode([Int].self, from: Data(text.utf8))
    }
    #expect(error?.underlying.map { JSONFailure($0).path } == path)
    expectSameFailure([Int].self, text)
  }

  /// The message in a printed error.
  private func words(_ error: (any Error)?) -> String? {
    switch error as? DecodingError {
    case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      context.debugDescription
    default: nil
    }
  }

  private func expectSameWords<Value: Decodable>(_ type: Value.Type, _ text: String) {
    let data = Data(text.utf8)
    let foundation = #expect(throws: (any Error).self) { try JSONDecoder().decode(type, from: data) }
    let own = #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode(type, from: data) }
    #expect(words(own?.underlying) == words(foundation), "\(type) in \(text)")
  }

  @Test(arguments: ["1", "1.5", "true", "\"x\"", "[]", "{}", "null"]) func `mismatch messages match Foundation's`(
    text: String
  ) {
    if Double(text) == nil {
      expectSameWords([Double].self, "[\(text)]")
      expectSameWords([UInt8].self, "[\(text)]")
    }
    if text != "\"x\"" { expectSameWords([String: String].self, "{\"a\":\(text)}") }
    if text != "true" { expectSameWords(JSONBox<Bool>.self, "{\"value\":\(text)}") }
    if text != "[]" { expectSameWords(JSONBox<[Int]>.self, "{\"value\":\(text)}") }
    if text != "{}" { expectSameWords(JSONBox<[String: Int]>.self, "{\"value\":\(text)}") }
    expectSameWords(JSONBox<JSONBox<Int>>.self, "{\"value\":\(text)}")
  }

  @Test func `messages for invalid values match Foundation's`() {
    expectSameWords([URL].self, "[\"\"]")
    expectSameWords([Data].self, "[\"!\"]")
    expectSameWords([UUID].self, "[\"!\"]")
    expectSameWords([TypeComparisonTests.Metal].self, "[\"tin\"]")
    expectSameWords([Int: Int].self, #"{"a":1}"#)
    expectSameWords([ClosedRange<Int>].self, "[[1]]")
    expectSameWords([TypeComparisonTests.Figure].self, "[{}]")
  }

  @Test func `excerpts and masking are the same`() {
    let text = Data(#"{"users":[{"password":"hunter2","name":7}]}"#.utf8)
    struct User: Decodable { let name: String }
    let lines = [JSONDecoding.standard, .fast].map { decoding in
      #expect(throws: JSONDecodingError.self) { try decoding.decode([String: [User]].self, from: text) }?.description
    }
    #expect(lines[0] == lines[1] && lines[0]?.contains("hunter2") == false)
  }
}
