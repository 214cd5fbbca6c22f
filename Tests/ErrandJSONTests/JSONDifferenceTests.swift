import ErrandJSON
import Foundation
import Testing

struct JSONDifferenceTests {
  private struct User: Decodable {
    let nick: String
    let level: Int
    let home: Home?
    let tags: [String]
  }

  private struct Home: Decodable {
    let city: String
    let since: Date
  }

  private struct Node: Decodable {
    let name: String
    let kids: [Node]?
  }

  private enum Kind: String, Decodable { case one, two }
  private struct Kinded: Decodable { let a: Int, kind: Kind, z: Int }
  private struct Odd: Decodable { let link: URL, id: UUID, extra: JSONValue, map: [String: Int] }

  private func lines<T: Decodable>(
    _ type: T.Type, _ text: String, at path: JSONPath = .root, by decoding: JSONDecoding = .standard
  ) -> [String] {
    decoding.differences(of: type, in: Data(text.utf8), at: path).map { difference in
      "\(difference.kind) \(difference.path) \(difference.count): \(difference.reason)"
    }
  }

  @Test func `matching text has no differences`() {
    #expect(lines(User.self, #"{"nick":"a","level":1,"tags":[]}"#).isEmpty)
    #expect(lines(User.self, #"{"nick":"a","level":1,"tags":["x"],"home":{"city":"b","since":1}}"#).isEmpty)
    #expect(lines(JSONValue.self, #"{"a":1}"#).isEmpty)
    let odd = #"{"link":"http://h/","id":"00000000-0000-0000-0000-000000000001","extra":{"a":[{"b":1}]},"map":{"c":1}}"#
    #expect(lines(Odd.self, odd).isEmpty)
  }

  @Test func `all differences are found at once`() {
    #expect(
      lines(User.self, #"{"nick":7,"home":{"city":null,"zip":"1"},"tags":["x",2],"new":{"a":1}}"#) == [
        "otherType $.nick 1: expected a string, found a number",
        "missing $.level 1: the key \"level\" is missing",
        "otherType $.home.city 1: expected a string, found null",
        "missing $.home.since 1: the key \"since\" is missing",
        "otherType $.tags[1] 1: expected a string, found a number",
        "notRead $.home.zip 1: the type has no property for this member (a string)",
        "notRead $.new 1: the type has no property for this member (an object)",
      ])
  }

  @Test func `missing object is reported once`() {
    struct Strict: Decodable { let home: Home }
    #expect(lines(Strict.self, "{}") == ["missing $.home 1: the key \"home\" is missing"])
  }

  @Test func `equal differences are counted`() {
    let text = #"[{"name":"a","x":1},{"name":"b","x":2,"kids":[{"x":1}]},{"x":3}]"#
    #expect(
      lines([Node].self, text) == [
        "missing $[1].kids[0].name 1: the key \"name\" is missing",
        "missing $[2].name 1: the key \"name\" is missing",
        "notRead $[0].x 3: the type has no property for this member (a number)",
        "notRead $[1].kids[0].x 1: the type has no property for this member (a number)",
      ])
  }

  @Test func `unrepairable value ends the search`() {
    let found = lines(Kinded.self, #"{"kind":"three","new":1}"#)
    #expect(found.count == 2)
    #expect(found.first == "missing $.a 1: the key \"a\" is missing")
    #expect(found.last?.hasPrefix("otherType $.kind 1:") == true)
    #expect(found.last?.hasSuffix("; the rest of the document was not compared, so fix this difference first") == true)
  }

  @Test func `only the value at the path is compared`() {
    let text = #"{"code":0,"data":{"name":"a","x":1},"ts":5}"#
    #expect(
      lines(Node.self, text, at: "data") == ["notRead $.data.x 1: the type has no property for this member (a number)"])
    #expect(lines(Node.self, #"{"code":0}"#, at: "data").first?.hasPrefix("missing $.data 1:") == true)
  }

  @Test func `differences use keys of the text`() {
    struct Snake: Decodable { let userName: String, lastSeen: Date }
    let decoding = JSONDecoding(dates: .iso8601, keys: .convertFromSnakeCase)
    #expect(
      lines(Snake.self, #"{"user_name":1,"last_seen":"soon","user_id":7}"#, by: decoding).map { $0.prefix(24) } == [
        "otherType $.user_name 1:", "otherType $.last_seen 1:", "notRead $.user_id 1: the",
      ])
  }

  @Test func `invalid JSON is unreadable`() {
    #expect(lines(User.self, "<html>").first?.hasPrefix("unreadable $ 1:") == true)
    #expect(lines(User.self, "").first?.hasPrefix("unreadable $ 1:") == true)
    #expect(lines(User.self, "[]").count == 1)
  }
}
