import Foundation
import Testing

/// Compares the single value containers and the decoders of Foundation and of `.fast`.
struct SingleValueComparisonTests {
  @Test(arguments: [
    "null", "true", "false", "1", "-1", "1.5", "300", "\"x\"", "\"\"", "[]", "[1]", "[\"x\"]", "{}", #"{"a":1}"#,
    #"{"a":[null]}"#, "\"AQI=\"", "\"http://h/\"", "\"00000000-0000-0000-0000-000000000001\"",
  ]) func `every type is read from every value`(text: String) {
    expectSameView(text) { notes, decoder in
      let single = try decoder.singleValueContainer()
      notes.note(single.codingPath)
      notes.note(single.decodeNil())
      notes.attempt { try single.decode(Bool.self) }
      notes.attempt { try single.decode(String.self) }
      notes.attempt { try single.decode(Int.self) }
      notes.attempt { try single.decode(Int8.self) }
      notes.attempt { try single.decode(Int16.self) }
      notes.attempt { try single.decode(Int32.self) }
      notes.attempt { try single.decode(Int64.self) }
      notes.attempt { try single.decode(Int128.self) }
      notes.attempt { try single.decode(UInt.self) }
      notes.attempt { try single.decode(UInt8.self) }
      notes.attempt { try single.decode(UInt16.self) }
      notes.attempt { try single.decode(UInt32.self) }
      notes.attempt { try single.decode(UInt64.self) }
      notes.attempt { try single.decode(UInt128.self) }
      notes.attempt { try single.decode(Double.self) }
      notes.attempt { try single.decode(Float.self) }
      notes.attempt { try single.decode(Decimal.self) }
      notes.attempt { try single.decode(Date.self).timeIntervalSinceReferenceDate }
      notes.attempt { try single.decode(Data.self).count }
      notes.attempt { try single.decode(URL.self) }
      notes.attempt { try single.decode(UUID.self) }
      notes.attempt { try single.decode([Int].self) }
      notes.attempt { try single.decode([String].self) }
      notes.attempt { try single.decode([String: Int].self).count }
      notes.attempt { try single.decode(Int?.self) }
      notes.attempt { try single.decode(JSONBox<Int?>.self) }
      notes.attempt { try decoder.container(keyedBy: JSONName.self).allKeys.count }
      notes.attempt { try decoder.unkeyedContainer().count ?? -1 }
    }
  }

  @Test(arguments: ["1", "[1,2]", #"{"a":[1]}"#, "null"]) func `types are initialised from the decoder`(text: String) {
    expectSameView(text) { notes, decoder in
      notes.note(decoder.codingPath)
      notes.attempt { try Int(from: decoder) }
      notes.attempt { try String(from: decoder) }
      notes.attempt { try [Int](from: decoder) }
      notes.attempt { try [String: [Int]](from: decoder).count }
      notes.attempt { try Int?(from: decoder) }
      notes.attempt { try Date(from: decoder).timeIntervalSinceReferenceDate }
      notes.attempt { try URL(from: decoder) }
      notes.attempt { try Decimal(from: decoder) }
      notes.attempt { try Data(from: decoder).count }
    }
  }

  @Test func `one decoder gives many containers`() {
    expectSameView(#"{"a":1,"b":{"c":2}}"#) { notes, decoder in
      let one = try decoder.container(keyedBy: JSONName.self)
      let two = try decoder.container(keyedBy: JSONName.self)
      notes.attempt { try two.decode(Int.self, forKey: "a") }
      notes.attempt { try one.decode([String: Int].self, forKey: "b").count }
      notes.attempt { try decoder.singleValueContainer().decode(JSONBox<Int?>.self) }
      notes.attempt { try decoder.unkeyedContainer().count ?? -1 }
      notes.attempt { try one.decode(Int.self, forKey: "a") }
      notes.attempt { try two.nestedContainer(keyedBy: JSONName.self, forKey: "b").decode(Int.self, forKey: "c") }
    }
  }

  @Test func `user info reaches each level`() throws {
    let key = try #require(CodingUserInfoKey(rawValue: "unit"))
    expectSameView(#"{"a":[{}]}"#, by: { $0.userInfo[key] = "metre" }) { notes, decoder in
      notes.note("\(decoder.userInfo[key] ?? "-") \(decoder.userInfo.count)")
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(try object.superDecoder(forKey: "a").userInfo[key] ?? "-")
      var list = try object.nestedUnkeyedContainer(forKey: "a")
      notes.note(try list.superDecoder().userInfo[key] ?? "-")
      notes.note(try object.superDecoder().userInfo[key] ?? "-")
    }
  }

  @Test func `several types are tried in turn`() {
    enum Either: Decodable, Equatable {
      case number(Int), text(String), list([Either]), object([String: Either]), fraction(Double), nothing

      init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
          self = .nothing
        } else if let value = try? single.decode(Int.self) {
          self = .number(value)
        } else if let value = try? single.decode(Double.self) {
          self = .fraction(value)
        } else if let value = try? single.decode(String.self) {
          self = .text(value)
        } else if let value = try? single.decode([Either].self) {
          self = .list(value)
        } else {
          self = .object(try single.decode([String: Either].self))
        }
      }
    }
    let text = #"{"a":[1,1.5,"x",null,{"b":[[],{}]}],"c":1e300,"d":-0.5,"e":{"f":"g"}}"#
    expectSame(Either.self, text)
    expectSame([Either].self, "[\(text),1,\"x\"]")
    expectSameFailure(Either.self, #"{"a":[1,[{"b":true}]]}"#)
  }

  @Test func `last tried type determines the error`() {
    struct Loose: Decodable, Equatable {
      let value: String
      init(from decoder: any Decoder) throws {
        if let number = try? decoder.container(keyedBy: JSONName.self).decode(Int.self, forKey: "n") {
          value = "\(number)"
        } else if let list = try? [Int](from: decoder) {
          value = "\(list)"
        } else {
          value = try decoder.singleValueContainer().decode(String.self)
        }
      }
    }
    expectSame([Loose].self, #"[{"n":1},[1,2],"x"]"#)
    expectSameFailure([Loose].self, #"[{"n":"1"}]"#)
    expectSameFailure([String: Loose].self, #"{"a":[1,"x"]}"#)
    expectSameFailure([Loose].self, "[\"x\",true]")
  }
}
