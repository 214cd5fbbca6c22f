import Foundation
import Testing

/// Compares the unkeyed containers of Foundation's decoder and of `.fast`.
struct UnkeyedComparisonTests {
  @Test(arguments: ["[]", "[ ]", "[1]", "[1,2,3]", "[ 1 , 2 ]", "[1,1,1]"]) func `integer arrays are read`(
    text: String
  ) {
    expectSame([Int].self, text)
    expectSame([UInt8].self, text)
    expectSame([Double].self, text)
    expectSame([Decimal].self, text)
    expectSame(ContiguousArray<Int>.self, text)
    expectSame(Set<Int>.self, text)
    expectSame(JSONBox<Set<Int>?>.self, "{\"value\":\(text)}")
    expectSame([[Int]].self, "[\(text),\(text)]")
    expectSame([[[Int]]].self, "[[\(text)],[]]")
    expectSame([String: [Int]].self, "{\"a\":\(text)}")
  }

  @Test(arguments: ["{}", "1", "\"x\"", "true", "null", "{\"0\":1}"]) func `other types are not arrays`(text: String) {
    expectSameFailure([Int].self, text)
    expectSameFailure([String].self, text)
    expectSameFailure([[Int]].self, "[[],\(text)]")
    expectSameFailure([String: [Int]].self, "{\"a\":\(text)}")
    expectSameFailure(Set<String>.self, text)
    expectSameFailure(JSONBox<[Bool]>.self, "{\"value\":\(text)}")
  }

  @Test(arguments: ["[1,\"x\"]", "[null]", "[1,2,[3]]", "[{}]", "[1.5]", "[true]"])
  func `errors name the wrong element`(
    text: String
  ) {
    expectSameFailure([Int].self, text)
    expectSameFailure([[Int]].self, "[[1],\(text)]")
    expectSameFailure([String: [Int]].self, "{\"a\":\(text)}")
    expectSameFailure(Set<Int>.self, text)
    expectSameFailure(JSONBox<ContiguousArray<Int>>.self, "{\"value\":\(text)}")
  }

  @Test func `containers count their elements`() {
    expectSameView("[1,2,3]") { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.note(list)
      while !list.isAtEnd {
        notes.attempt { try list.decode(Int.self) }
        notes.note(list)
      }
    }
    expectSameView("[]") { notes, decoder in notes.note(try decoder.unkeyedContainer()) }
  }

  @Test func `reads after the end fail`() {
    expectSameView("[1]") { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decode(String.self) }
      notes.attempt { try list.decode(Bool.self) }
      notes.attempt { try list.decode(Double.self) }
      notes.attempt { try list.decode(UInt8.self) }
      notes.attempt { try list.decode([Int].self) }
      notes.attempt { try list.decode([String: Int].self) }
      notes.attempt { try list.decode(Date.self) }
      notes.attempt { try list.decode(Int?.self) }
      notes.attempt { try list.decodeNil() }
      notes.attempt { try list.nestedContainer(keyedBy: JSONName.self).allKeys.count }
      notes.attempt { try list.nestedUnkeyedContainer().count ?? -1 }
      notes.attempt { try list.superDecoder().codingPath.count }
      notes.note(list)
    }
    expectSameView("[]") { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.attempt { try list.decode(JSONView.self) }
      // Foundation advances here, so the position of the container is not compared.
      notes.attempt { try list.decodeIfPresent(Int.self) }
      notes.note(list.isAtEnd)
    }
  }

  @Test func `failed read does not advance`() {
    expectSameView(#"[1,"x",{"a":"y"},[true]]"#) { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.attempt { try list.decode(String.self) }
      notes.attempt { try list.decode([Int].self) }
      notes.note(list)
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decodeIfPresent(Int.self) }
      notes.attempt { try list.decode(UUID.self) }
      notes.note(list)
      notes.attempt { try list.decode(String.self) }
      notes.attempt { try list.decode([String: Int].self) }
      notes.attempt { try list.nestedUnkeyedContainer().count ?? -1 }
      notes.note(list)
      notes.attempt { try list.decode([String: String].self).count }
      notes.attempt { try list.decode([Int].self) }
      notes.attempt { try list.nestedContainer(keyedBy: JSONName.self).allKeys.count }
      notes.note(list)
      notes.attempt { try list.decode([Bool].self) }
      notes.note(list)
    }
  }

  @Test func `only reading null advances past it`() {
    expectSameView("[null,1,null,null,null]") { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.attempt { try list.decodeNil() }
      notes.note(list)
      notes.attempt { try list.decodeNil() }
      notes.note(list)
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decode(Int.self) }
      notes.attempt { try list.decode(Int?.self) }
      notes.note(list)
      notes.attempt { try list.decodeIfPresent(String.self) }
      notes.note(list)
      notes.attempt { try list.nestedContainer(keyedBy: JSONName.self).allKeys.count }
      notes.attempt { try list.nestedUnkeyedContainer().count ?? -1 }
      notes.note(list)
      notes.attempt { try list.superDecoder().singleValueContainer().decodeNil() }
      notes.note(list)
    }
  }

  @Test func `present elements are read`() {
    expectSameView(#"[1,"x",true,1.5,[2],{"a":3},null]"#) { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.attempt { try list.decodeIfPresent(Int.self) }
      notes.attempt { try list.decodeIfPresent(String.self) }
      notes.attempt { try list.decodeIfPresent(Bool.self) }
      notes.attempt { try list.decodeIfPresent(Double.self) }
      notes.attempt { try list.decodeIfPresent([Int].self) }
      notes.attempt { try list.decodeIfPresent([String: Int].self) }
      notes.attempt { try list.decodeIfPresent(Float.self) }
      notes.note(list)
    }
  }

  @Test func `elements of every type are read`() {
    expectSameView(#"[1,"x",true,1.5,[2],{"a":3},null,"AQI=",0,"http://h/",7.25]"#) { notes, decoder in
      var list = try decoder.unkeyedContainer()
      notes.attempt { try list.decode(Int8.self) }
      notes.attempt { try list.decode(String.self) }
      notes.attempt { try list.decode(Bool.self) }
      notes.attempt { try list.decode(Float.self) }
      notes.attempt { try list.decode([UInt64].self) }
      notes.attempt { try list.decode([String: UInt16].self) }
      notes.attempt { try list.decode(Bool?.self) }
      notes.attempt { try list.decode(Data.self).count }
      notes.attempt { try list.decode(Date.self).timeIntervalSinceReferenceDate }
      notes.attempt { try list.decode(URL.self) }
      notes.attempt { try list.decode(Decimal.self) }
      notes.note(list)
    }
  }

  @Test func `unkeyed containers can be nested`() {
    expectSameView(#"[{"a":[1,{"b":2}]},[[3],4],5]"#) { notes, decoder in
      var list = try decoder.unkeyedContainer()
      let object = try list.nestedContainer(keyedBy: JSONName.self)
      notes.note(object)
      var inner = try object.nestedUnkeyedContainer(forKey: "a")
      notes.note(inner)
      notes.attempt { try inner.decode(Int.self) }
      notes.attempt { try inner.nestedContainer(keyedBy: JSONName.self).decode(String.self, forKey: "b") }
      notes.note(inner)
      var next = try list.nestedUnkeyedContainer()
      notes.attempt { try next.nestedUnkeyedContainer().count ?? -1 }
      notes.attempt { try next.decode(String.self) }
      notes.note(next)
      notes.note(list)
      // Two containers of one array are independent of each other.
      var again = try decoder.unkeyedContainer()
      notes.note(again)
      notes.attempt { try again.decode([String: JSONView].self).count }
      notes.attempt { try list.decode(Int.self) }
      notes.note(list)
    }
  }

  @Test func `super decoder advances by one element`() {
    expectSameView(#"[{"a":1},[2],null,3]"#) { notes, decoder in
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        let upper = try list.superDecoder()
        notes.note(upper.codingPath)
        notes.note(list)
        notes.attempt { try upper.container(keyedBy: JSONName.self).decode(Int.self, forKey: "a") }
        notes.attempt { try upper.unkeyedContainer().count ?? -1 }
        notes.attempt { try upper.singleValueContainer().decode(Int.self) }
        notes.attempt { try upper.singleValueContainer().decodeNil() }
      }
    }
  }

  @Test func `container copies are independent`() {
    expectSameView("[1,2,3]") { notes, decoder in
      var one = try decoder.unkeyedContainer()
      notes.attempt { try one.decode(Int.self) }
      var other = one
      notes.attempt { try other.decode(Int.self) }
      notes.attempt { try other.decode(Int.self) }
      notes.note(other)
      notes.attempt { try one.decode(Int.self) }
      notes.note(one)
    }
  }

  @Test(arguments: [0, 1, 63, 64, 65, 1_000, 10_000]) func `arrays of any length are read`(count: Int) {
    expectSame([Int].self, "[\((0..<count).map { "\($0)" }.joined(separator: ","))]")
    expectSame([[String]].self, "[\((0..<count).map { "[\"\($0)\"]" }.joined(separator: ","))]")
    expectSame([JSONBox<Int?>].self, "[\((0..<count).map { "{\"value\":\($0)}" }.joined(separator: ",\n"))]")
  }
}
