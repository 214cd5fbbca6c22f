import Dispatch
import Foundation
import Testing

@testable import ErrandJSON

/// Tests values that are part of a parsed text.
struct JSONWrittenValueTests {
  private struct Measured: JSONReadable {
    let value: Double?
    init(json: JSONValue) throws { value = json["a"]?[0]?.doubleValue }
  }

  private func parsed(_ text: String) throws -> JSONValue { try JSONValue(parsing: Data(text.utf8)) }

  @Test func `value equals its detached copy`() throws {
    let texts = ["[1,{\"a\":[null,true,\"x\\n\",1.5,18446744073709551615]},[]]", "\"x\"", "7", "{}", "null"]
    for text in texts {
      let value = try parsed(text)
      let copy = value.detached()
      #expect(value == copy && value.hashValue == copy.hashValue && value.description == copy.description)
      #expect(try value.serialized() == Data(text.utf8))
    }
  }

  @Test func `detached copies release the text`() throws {
    weak var document: JSONDocument?
    let (value, copy) = try {
      let value = try parsed("{\"a\":[1,2]}")
      if case .written(let place) = value.form { document = place.source.document }
      return (try #require(value["a"]), value.detached())
    }()
    #expect(document != nil && value == [1, 2])
    withExtendedLifetime(value) {}
    _ = consume value
    #expect(document == nil)
    #expect(copy == ["a": [1, 2]])
  }

  @Test(arguments: [1, 15, 16, 17, 64, 300]) func `elements are found by index`(count: Int) throws {
    let scalars = try parsed("[\((0..<count).map(String.init).joined(separator: ","))]")
    let objects = try parsed("{\"x\":[\((0..<count).map { "[\($0),[\($0)]]" }.joined(separator: ","))]}")
    for number in (0..<count).reversed() {
      #expect(scalars[number]?.intValue == number)
      #expect(objects["x"][number][1][0]?.intValue == number)
    }
    #expect(scalars[count] == nil && scalars[-1] == nil && objects["x"][count] == nil && objects[0] == nil)
  }

  @Test(arguments: [3, 64, 65, 400]) func `members are found by key`(count: Int) throws {
    let members = (0..<count).map { "\"key \($0)\":[\($0)]" }.joined(separator: ",")
    let value = try parsed("{\(members),\"\\u0061\":1,\"a\":2,\"b\":3,\"b\":4}")
    for number in 0..<count { #expect(value["key \(number)"][0]?.intValue == number) }
    #expect(value["a"] == 1 && value["b"] == 3 && value["c"] == nil)
    #expect(value.objectValue?.count == count + 2 && value.objectValue?["b"] == 3)
    #expect(value == value.detached())
  }

  @Test func `canonically equivalent keys are distinct`() throws {
    let value = try parsed("{\"cafe\u{301}\":1,\"caf\u{E9}\":2}")
    #expect(value["cafe\u{301}"] == 1 && value["caf\u{E9}"] == 2)
  }

  @Test func `numbers beyond Double are detected`() throws {
    let text = Data(#"{"a":[1e400],"b":1e5,"c":{"d":2}}"#.utf8)
    #expect(throws: JSONError.numberOutOfRange("1e400")) { try JSONValue(parsing: text) }
    for decoding in [JSONDecoding.standard, .fast] {
      #expect(try decoding.decode(JSONValue.self, from: text, at: "b") == 100_000)
      #expect(try decoding.decode(JSONValue.self, from: text, at: "c") == ["d": 2])
      let error = #expect(throws: JSONDecodingError.self) { try decoding.decode(JSONValue.self, from: text, at: "a") }
      #expect(error?.kind == .numberOutOfRange)
    }
    #expect(throws: JSONDecodingError.self) { try JSONDecoding.fast.decode([String: JSONValue].self, from: text) }
    #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode(Measured.self, from: text) }
  }

  @Test func `parsed value is thread-safe`() throws {
    let members = (0..<100).map { "\"k\($0)\":[\((0..<40).map { "[\($0)]" }.joined(separator: ","))]" }
    let value = try parsed("{\(members.joined(separator: ","))}")
    let copy = value.detached()
    DispatchQueue.concurrentPerform(iterations: 64) { turn in
      for number in 0..<40 {
        #expect(value["k\(turn)"][number][0]?.intValue == number)
        #expect((try? value["k\(turn)"]?.read(as: [[Int]].self))?[number] == [number])
      }
      #expect(value["k\(turn)"] == copy["k\(turn)"])
    }
  }
}
