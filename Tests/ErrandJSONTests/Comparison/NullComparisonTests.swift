import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read null and missing values.
struct NullComparisonTests {
  struct Person: Decodable, Equatable {
    var name: String?, age: Int?, home: Home?, tags: [String?]?, seen: Date?, link: URL?, flags: [String: Bool?]?
    struct Home: Decodable, Equatable { var city: String? }
  }

  @Test(arguments: [
    "{}", #"{"name":null,"age":null,"home":null,"tags":null,"seen":null,"link":null,"flags":null}"#,
    #"{"name":"a","age":1,"home":{},"tags":[],"seen":0,"link":"http://h/","flags":{}}"#,
    #"{"home":{"city":null},"tags":[null,"a",null],"flags":{"a":null,"b":true}}"#, #"{"other":null,"home":{"x":null}}"#,
  ]) func `optionals may be null or missing`(text: String) {
    expectSame(Person.self, text)
    expectSame([Person?].self, "[null,\(text)]")
    expectSame([String: Person?].self, "{\"a\":null,\"b\":\(text)}")
  }

  @Test(arguments: [
    #"{"name":1}"#, #"{"age":"x"}"#, #"{"home":[]}"#, #"{"home":{"city":7}}"#, #"{"tags":[null,1]}"#, #"{"tags":{}}"#,
    #"{"seen":"x"}"#, #"{"link":1}"#, #"{"link":""}"#, #"{"flags":{"a":1}}"#, #"{"flags":[]}"#, #"{"age":1.5}"#,
  ]) func `optionals do not hide type mismatches`(text: String) {
    expectSameFailure(Person.self, text)
    expectSameFailure([Person].self, "[{},\(text)]")
  }

  @Test(arguments: ["null", "1", "\"x\"", "[]"]) func `double optionals match Foundation's`(text: String) {
    expectAlike(Int??.self, text)
    expectAlike([Int??].self, "[\(text)]")
    expectAlike([String: Int??].self, "{\"a\":\(text)}")
    expectAlike(JSONBox<Int??>.self, "{\"value\":\(text)}")
    expectAlike([[Int?]?].self, "[\(text)]")
  }

  @Test func `null fails for required values`() {
    expectSameFailure(String.self, "null")
    expectSameFailure([Int].self, "[1,null]")
    expectSameFailure([Int].self, "null")
    expectSameFailure([String: Int].self, "{\"a\":null}")
    expectSameFailure([String: Int].self, "null")
    expectSameFailure([[Int]].self, "[null]")
    expectSameFailure(Person.self, "null")
    expectSameFailure([Person].self, "[null]")
    expectSameFailure(JSONBox<Person>.self, #"{"value":null}"#)
    expectSameFailure(JSONBox<[String]>.self, #"{"value":null}"#)
    expectSameFailure(JSONBox<[String: Int]>.self, #"{"value":null}"#)
    expectSameFailure(JSONBox<Bool>.self, #"{"value":null}"#)
  }

  @Test func `null is detected at each key`() {
    expectSameView(#"{"a":null,"b":1,"c":{}}"#) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      for key in ["a", "b", "c", "d"] as [JSONName] {
        notes.attempt { try object.decodeNil(forKey: key) }
        notes.attempt { try object.decodeIfPresent(Int.self, forKey: key) }
        notes.attempt { try object.decodeIfPresent(String.self, forKey: key) }
        notes.attempt { try object.decodeIfPresent(Double.self, forKey: key) }
        notes.attempt { try object.decodeIfPresent(Bool.self, forKey: key) }
        notes.attempt { try object.decodeIfPresent(UInt8.self, forKey: key) }
        notes.attempt { try object.decodeIfPresent([Int].self, forKey: key) }
        notes.attempt { try object.decodeIfPresent([String: Int].self, forKey: key) }
        notes.attempt { try object.decodeIfPresent(Date.self, forKey: key) }
        notes.attempt { try object.decodeIfPresent(Int?.self, forKey: key) }
        notes.attempt { try object.decode(Int?.self, forKey: key) }
        notes.note(object.contains(key))
      }
    }
  }

  @Test func `null reaches a custom initializer`() {
    struct Nothing: Decodable, Equatable {
      let isNothing: Bool
      init(from decoder: any Decoder) throws { isNothing = try decoder.singleValueContainer().decodeNil() }
    }
    expectSame([Nothing].self, "[null,1]")
    expectSame(JSONBox<Nothing>.self, #"{"value":null}"#)
    expectSame(JSONBox<Nothing?>.self, #"{"value":null}"#)
    expectSame([String: Nothing].self, #"{"a":null,"b":{}}"#)
    expectSameFailure(JSONBox<Nothing>.self, "{}")
  }
}
