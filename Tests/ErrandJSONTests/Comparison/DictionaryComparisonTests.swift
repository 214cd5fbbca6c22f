import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read dictionaries.
struct DictionaryComparisonTests {
  enum Metal: String, Decodable, CodingKeyRepresentable { case gold, iron }
  enum Rank: Int, Decodable, CodingKeyRepresentable { case one = 1, two }
  enum Plain: String, Decodable { case gold, iron }
  struct ID: Decodable, Hashable, CodingKeyRepresentable {
    let text: String
    var codingKey: any CodingKey { JSONName(text) }
    init?(codingKey: some CodingKey) {
      guard !codingKey.stringValue.isEmpty else { return nil }
      text = codingKey.stringValue
    }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
  }

  @Test func `values of every type are read`() {
    expectSame([String: String].self, #"{"a":"x","b":"\n","":""}"#)
    expectSame([String: Bool].self, #"{"a":true,"b":false}"#)
    expectSame([String: Double].self, #"{"a":1,"b":1.5,"c":-2e3}"#)
    expectSame([String: UInt8].self, #"{"a":1,"b":255}"#)
    expectSame([String: Decimal].self, #"{"a":1.10,"b":255}"#)
    expectSame([String: Date].self, #"{"a":0,"b":1.5}"#)
    expectSame([String: Data].self, #"{"a":"AQI=","b":""}"#)
    expectSame([String: URL].self, #"{"a":"http://h/","b":"x"}"#)
    expectSame([String: [String: [String: Int]]].self, #"{"a":{"b":{"c":1},"d":{}},"e":{}}"#)
    expectSame([String: [Int?]?].self, #"{"a":[1,null],"b":null}"#)
    expectSame([String: JSONBox<Int?>].self, #"{"a":{"value":null},"b":{"value":1}}"#)
    expectSame([String: Int].self, "{}")
  }

  @Test(arguments: [#"{"a":1,"b":"x"}"#, #"{"a":null}"#, #"{"a":1.5}"#, #"{"a":[]}"#, #"{"\u0061":{}}"#, #"{"":true}"#])
  func `errors name the wrong value`(text: String) {
    expectSameFailure([String: Int].self, text)
    expectSameFailure([String: [String: Int]].self, "{\"deep er\":\(text)}")
    expectSameFailure([[String: UInt8]].self, "[{},\(text)]")
    expectSameFailure([String: JSONBox<Int>].self, "{\"x\":{\"value\":\(text)}}")
  }

  @Test(arguments: [
    "{}", #"{"1":"a","-2":"b"}"#, #"{"01":"a"}"#, #"{"x":"a"}"#, #"{"1":7}"#, #"{"1.5":"a"}"#, #"{"":"a"}"#,
    #"{"9223372036854775807":"a"}"#, #"{"9223372036854775808":"a"}"#, #"{"1":null}"#, #"{" 1":"a"}"#, #"{"+1":"a"}"#,
    "[]",
    "null",
  ]) func `integers are read as keys`(text: String) {
    expectAlike([Int: String].self, text)
    expectAlike([String: [Int: String]].self, "{\"a\":\(text)}")
    expectAlike(JSONBox<[Int: String]?>.self, "{\"value\":\(text)}")
  }

  @Test(arguments: [
    "{}", #"{"gold":1}"#, #"{"tin":1}"#, #"{"gold":"x"}"#, #"{"gold":null}"#, "[]", #"["gold",1]"#, #"{"1":1}"#,
    #"{"3":1}"#,
  ]) func `enumeration cases are read as keys`(text: String) {
    expectAlike([Metal: Int].self, text)
    expectAlike([Rank: Int].self, text)
    expectAlike([Plain: Int].self, text)
    expectAlike([[Metal: [Rank: Int]]].self, "[{\"gold\":\(text)}]")
  }

  @Test func `several enumeration keys are read`() {
    expectSame([Metal: Int].self, #"{"iron":1,"gold":2}"#)
    expectSame([Rank: Int].self, #"{"1":1,"2":2}"#)
  }

  @Test(arguments: ["{}", #"{"x":1,"y":2}"#, #"{"":1}"#, #"{"x":"y"}"#]) func `key types may reject keys`(text: String)
  {
    expectAlike([ID: Int].self, text)
    expectAlike([String: [ID: Int]].self, "{\"a\":\(text)}")
  }

  @Test(arguments: ["[]", "[1,\"a\"]", "[1.5,\"a\",2,\"b\"]", "[1]", "[\"a\",1]", "{}", "[1,\"a\",2]", "[1,null]"])
  func `other key types use arrays`(text: String) {
    expectAlike([Double: String].self, text)
    expectAlike([[Float: String]].self, "[\(text)]")
    expectAlike([Date: String].self, text)
    expectAlike([Bool: String].self, text)
  }

  @Test func `key strategies skip dictionary keys`() {
    let snake: (JSONDecoder) -> Void = { $0.keyDecodingStrategy = .convertFromSnakeCase }
    expectSame([String: Int].self, #"{"a_b":1,"_c_d_":2}"#, by: snake)
    expectSame([String: [String: Int]].self, #"{"a_b":{"c_d":1}}"#, by: snake)
    expectSame(JSONBox<[String: Int]>.self, #"{"value":{"a_b":1}}"#, by: snake)
    expectSame([String: JSONBox<Int>].self, #"{"a_b":{"value":1}}"#, by: snake)
    expectSame([[String: Int]?].self, #"[{"a_b":1},null]"#, by: snake)
    expectSame([Int: String].self, #"{"1":"a"}"#, by: snake)
    expectSame([Metal: Int].self, #"{"gold":1}"#, by: snake)
    expectAlike([ID: Int].self, #"{"a_b":1}"#, by: snake)
    expectSameFailure([String: [String: Int]].self, #"{"a_b":{"c_d":"x"}}"#, by: snake)
    expectSameFailure([String: JSONBox<Int>].self, #"{"a_b":{"value":"x"}}"#, by: snake)
    expectSameFailure([String: [Int]].self, #"{"a_b":[1.5]}"#, by: snake)
  }

  @Test func `first of equal keys counts`() {
    expectSame([String: String].self, #"{"a":"1","a":"2","b":"3","a":"4"}"#)
    expectSame([Int: String].self, #"{"1":"a","1":"b"}"#)
    expectSame([Metal: Int].self, #"{"gold":1,"gold":2}"#)
    expectSame([String: [Int]].self, #"{"a":[1],"\u0061":[2]}"#)
  }

  @Test(arguments: [65, 500, 5_000]) func `large dictionaries are read completely`(count: Int) {
    let members = (0..<count).map { "\"\($0 % 2 == 0 ? "é" : "")key \($0)\":[\($0)]" }
    expectSame([String: [Int]].self, "{\(members.joined(separator: ", "))}")
    let numbered = (0..<count).map { "\"\($0)\":\"\($0)\"" }
    expectSame([Int: String].self, "{\(numbered.joined(separator: ","))}")
  }
}
