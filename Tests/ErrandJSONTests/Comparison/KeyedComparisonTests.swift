import Foundation
import Testing

/// Compares the keyed containers of Foundation's decoder and of `.fast`.
struct KeyedComparisonTests {
  struct Item: Decodable, Equatable { let id: Int, name: String, tags: [String], home: Home }
  struct Home: Decodable, Equatable { let city: String, zip: Int }

  static let plain = #"{"id":1,"name":"a","tags":["x","y"],"home":{"city":"b","zip":2}}"#

  @Test(arguments: [
    plain, #"{"home":{"zip":2,"city":"b"},"tags":["x"],"name":"a","id":1}"#,
    #" { "x" : [1,{"id":2}] , "id" : 1 , "name":"a", "y":{"name":7}, "tags":[],"home":{"city":"b","q":null,"zip":2}}"#,
    #"{"i\u0064":1,"\u006eame":"a","tags":[],"home":{"city":"b","zip":2}}"#,
    #"{"id":1,"id":2,"name":"a","name":7,"tags":[],"tags":{},"home":{"city":"b","zip":2},"home":null}"#,
  ]) func `members are found in any order`(text: String) {
    expectSame(Item.self, text)
    expectSame([Item].self, "[\(text),\(numbered(2)),\(text)]")
    expectSame([String: Item].self, "{\"a\":\(text),\"b\":\(text)}")
    expectSame(JSONBox<[Item]?>.self, "{\"value\":[\(text)]}")
  }

  private func numbered(_ id: Int) -> String { Self.plain.replacing("\"id\":1", with: "\"id\":\(id)") }

  @Test(arguments: [
    "{}", #"{"id":1}"#, #"{"id":1,"name":"a","tags":["x"]}"#, #"{"id":1,"name":"a","tags":["x"],"home":{}}"#,
    #"{"ID":1}"#, #"{"id":1,"name":"a","tags":["x"],"home":{"city":"b"}}"#, #"{"":1}"#, #"{"id ":1}"#, #"{"i":1}"#,
  ]) func `errors name missing keys`(text: String) {
    expectSameFailure(Item.self, text)
    expectSameFailure([Item].self, "[\(Self.plain),\(text)]")
    expectSameFailure([String: [Item]].self, "{\"a b\":[\(text)]}")
    expectSameFailure(JSONBox<Item>.self, "{\"value\":\(text)}")
  }

  @Test(arguments: ["[]", "1", "\"x\"", "true", "[{}]", "1.5"]) func `other types are not objects`(text: String) {
    expectSameFailure(Item.self, text)
    expectSameFailure([Item].self, "[\(text)]")
    expectSameFailure([String: Int].self, text)
    expectSameFailure(JSONBox<Item>.self, "{\"value\":\(text)}")
    expectSameFailure(JSONBox<Item?>.self, "{\"value\":\(text)}")
    expectSameFailure(JSONBox<[String: Item]>.self, "{\"value\":\(text)}")
  }

  @Test(arguments: ["{}", #"{"a":1}"#, #"{"b":1,"a":null,"":{},"1":[],"中":0,"\u0041\n":1,"a":2}"#])
  func `all keys are listed`(text: String) {
    expectSameView(text) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(object)
      for key in ["a", "b", "", "1", "中", "A\n", "A", "z"] as [JSONName] { notes.note(object.contains(key)) }
      notes.note(object.contains(JSONName(intValue: 1)))
    }
  }

  @Test func `only known keys are listed`() {
    enum Known: String, CodingKey { case a, b, z }
    expectSameView(#"{"b":1,"other":2,"a":3}"#) { notes, decoder in
      let object = try decoder.container(keyedBy: Known.self)
      notes.note(object)
      notes.note(object.contains(.z))
    }
  }

  @Test func `first of equal keys counts`() {
    expectSame([String: Int].self, #"{"a":1,"b":2,"a":3,"\u0061":4}"#)
    expectSame([String: Int].self, #"{"\u0061":4,"a":1}"#)
    expectSame(JSONBox<Int>.self, #"{"value":1,"value":"x"}"#)
    expectSameFailure(JSONBox<Int>.self, #"{"value":"x","value":1}"#)
    expectSame(JSONBox<Int?>.self, #"{"value":null,"value":1}"#)
  }

  @Test(arguments: [1, 8, 63, 64, 65, 66, 200, 1_000]) func `objects of any size are read`(count: Int) {
    let members = (0..<count).map { "\"key\($0)\":\($0)" }
    let text = "{\(members.joined(separator: ","))}"
    let backward = "{\(members.reversed().joined(separator: ","))}"
    expectSame([String: Int].self, text)
    let look: JSONView.Look = { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(object)
      for number in [0, count - 1, count / 2, count, 1, count / 3] {
        notes.attempt { try object.decode(Int.self, forKey: JSONName("key\(number)")) }
        notes.note(object.contains(JSONName("key\(number)x")))
      }
    }
    expectSameView(text, look)
    expectSameView(backward, look)
  }

  @Test func `keys are read in any order`() {
    expectSameView(#"{"a":1,"b":"x","c":[1,2],"d":{"e":null},"f":true}"#) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      for key in ["f", "d", "c", "b", "a", "a", "f", "q", "c", "c", "b"] as [JSONName] {
        notes.attempt { try object.decode(Int.self, forKey: key) }
        notes.attempt { try object.decode([Int].self, forKey: key) }
        notes.attempt { try object.decode(String.self, forKey: key) }
        notes.attempt { try object.decode(Bool.self, forKey: key) }
      }
    }
  }

  @Test func `integer keys are read by name`() {
    enum Numbered: Int, CodingKey { case one = 1, two, nine = 9 }
    expectSameView(#"{"1":"a","2":7,"one":"b"}"#) { notes, decoder in
      let object = try decoder.container(keyedBy: Numbered.self)
      notes.note(object.allKeys.map(\.rawValue).sorted())
      notes.attempt { try object.decode(String.self, forKey: .one) }
      notes.attempt { try object.decode(String.self, forKey: .two) }
      notes.attempt { try object.decode(String.self, forKey: .nine) }
    }
  }

  @Test(arguments: [
    "", " ", "a.b", "$", "中文", "😀", "a\\\"b", "a\\\\b", "a\\/b", "\\n", "\\u0000", "key that is longer than one word",
    "0", "-1", "null", "true", "super",
  ]) func `any text may be a key`(key: String) {
    expectSame([String: Int].self, "{\"\(key)\":1}")
    expectSame([String: [String: [Int]]].self, "{\"\(key)\":{\"\(key)\":[1]}}")
    expectSameFailure([String: Int].self, "{\"\(key)\":\"x\"}")
    expectSameFailure([String: [String: [Int]]].self, "{\"\(key)\":{\"\(key)\":[1,null]}}")
  }

  @Test func `keyed containers can be nested`() {
    expectSameView(#"{"a":{"b":{"c":1}},"l":[1,[2]],"n":null,"s":"x"}"#) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      let inner = try object.nestedContainer(keyedBy: JSONName.self, forKey: "a")
      notes.note(inner)
      let innermost = try inner.nestedContainer(keyedBy: JSONName.self, forKey: "b")
      notes.note(innermost)
      notes.attempt { try innermost.decode(Int.self, forKey: "c") }
      notes.attempt { try innermost.decode(String.self, forKey: "c") }
      notes.attempt { try innermost.decode(String.self, forKey: "d") }
      var list = try object.nestedUnkeyedContainer(forKey: "l")
      notes.note(list)
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decode(String.self) }
      for key in ["l", "n", "s", "z", "a"] as [JSONName] {
        notes.attempt { try object.nestedContainer(keyedBy: JSONName.self, forKey: key).allKeys.count }
        notes.attempt { try object.nestedUnkeyedContainer(forKey: key).count ?? -1 }
      }
    }
  }

  @Test(arguments: [#"{"super":{"a":1},"x":[1]}"#, #"{"x":null}"#, #"{"super":null,"x":7}"#, #"{"super":[5],"x":{}}"#])
  func `super decoders have their key`(text: String) {
    expectSameView(text) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      for upper in [
        try object.superDecoder(), try object.superDecoder(forKey: "x"), try object.superDecoder(forKey: "z"),
      ] {
        notes.note(upper.codingPath)
        notes.attempt { try upper.singleValueContainer().decodeNil() }
        notes.attempt { try upper.singleValueContainer().decode(Int.self) }
        notes.attempt { try Int(from: upper) }
        notes.attempt { try [Int](from: upper) }
        notes.attempt { try upper.container(keyedBy: JSONName.self).allKeys.count }
        notes.attempt { try upper.unkeyedContainer().count ?? -1 }
      }
    }
  }
}
