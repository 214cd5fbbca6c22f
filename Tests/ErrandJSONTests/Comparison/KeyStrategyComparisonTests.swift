import ErrandJSON
import Foundation
import Testing

/// Compares the key strategies in Foundation's decoder and in `.fast`.
struct KeyStrategyComparisonTests {
  static func snake(_ decoder: JSONDecoder) { decoder.keyDecodingStrategy = .convertFromSnakeCase }

  @Test(arguments: [
    "user_name", "userName", "_user_name", "__user_name_", "user__name", "USER_NAME", "user_Name", "_", "__", "",
    "a_1_b", "_1",
    "1_a", "aB_cD", "a_é", "É_a", " a_b", "a_ b", "ABC", "___a_b___", "a\\u005fb", "a_b_c_d_e_f", "中_文",
  ]) func `snake case becomes camel case`(key: String) {
    expectSameView("{\"\(key)\":1}", by: Self.snake) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(object)
      for key in object.allKeys {
        notes.attempt { try object.decode(Int.self, forKey: key) }
        notes.attempt { try object.decode(String.self, forKey: key) }
        notes.attempt { try object.decode([String: Int].self, forKey: key) }
        notes.note(object.contains(key))
      }
      notes.note(object.contains("user_name"))
      notes.note(object.contains("userName"))
    }
  }

  struct User: Decodable, Equatable {
    let userName: String, homeTown: Town, lastVisits: [Visit]?, urlTags: [String: [Int]]?
    struct Town: Decodable, Equatable { let zipCode: Int? }
    struct Visit: Decodable, Equatable { let roomNumber: Int }
  }

  @Test(arguments: [
    #"{"user_name":"a","home_town":{"zip_code":1},"last_visits":[{"room_number":2}],"url_tags":{"x_y":[3]}}"#,
    #"{"userName":"a","homeTown":{"zipCode":1}}"#, #"{"other_key":1,"home_town":{},"user_name":"a","x":null}"#,
    #"{"user_name":"a","userName":"b","home_town":{}}"#, #"{"userName":"b","user_name":"a","home_town":{}}"#,
    #"{"user__name":"a","user_name":"c","home_town":{"zip_code":1,"zipCode":2}}"#,
  ]) func `converted keys are found`(text: String) {
    expectSame(User.self, text, by: Self.snake)
    expectSame([User].self, "[\(text),\(text)]", by: Self.snake)
    expectSame([String: User].self, "{\"a_b\":\(text)}", by: Self.snake)
  }

  @Test(arguments: [
    "{}", #"{"user_name":1}"#, #"{"user_name":null}"#, #"{"user_name":"a","home_town":[]}"#,
    #"{"user_name":"a","home_town":{"zip_code":"x"}}"#, #"{"user_name":"a","home_town":{"zip_code":1.5}}"#,
    #"{"user_name":"a","home_town":{},"last_visits":[{"room_number":1},{}]}"#,
    #"{"user_name":"a","home_town":{},"last_visits":[{"room_number":"1"}]}"#,
    #"{"user_name":"a","home_town":{},"url_tags":{"x_y":[1,null]}}"#, #"{"_user_name":"a"}"#,
  ]) func `errors have converted keys`(text: String) {
    expectSameFailure(User.self, text, by: Self.snake)
    expectSameFailure([User].self, "[\(text)]", by: Self.snake)
    expectSameFailure([String: [User]].self, "{\"a_b\":[\(text)]}", by: Self.snake)
  }

  @Test(arguments: [65, 200]) func `many keys are converted`(count: Int) {
    let text = "{\((0..<count).map { "\"key_no_\($0)_x\":\($0)" }.joined(separator: ","))}"
    expectSameView(text, by: Self.snake) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(object)
      for number in [count - 1, 0, count / 2, count] {
        notes.attempt { try object.decode(Int.self, forKey: JSONName("keyNo\(number)X")) }
      }
    }
  }

  /// Converts keys below `upper` to lower case, and removes a leading `@` from all other keys.
  static func custom(_ decoder: JSONDecoder) {
    decoder.keyDecodingStrategy = .custom { path in
      let name = path.last?.stringValue ?? ""
      if path.dropLast().contains(where: { $0.stringValue == "upper" }) { return JSONName(name.lowercased()) }
      return name.hasPrefix("@") ? JSONName(String(name.dropFirst())) : JSONName(name)
    }
  }

  @Test(arguments: [
    #"{"@a":1,"upper":{"AB":2,"CD":{"EF":[{"GH":3}]}},"AB":4,"list":[{"@b":5}]}"#, "{}",
    #"{"upper":{},"@":1,"a":7,"@a":8}"#,
  ]) func `key closures receive the coding path`(text: String) {
    expectSameView(text, by: Self.custom) { notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(object)
      notes.attempt { try object.decode(Int.self, forKey: "a") }
      notes.attempt { try object.decode(String.self, forKey: "AB") }
      let upper = try object.nestedContainer(keyedBy: JSONName.self, forKey: "upper")
      notes.note(upper)
      notes.attempt { try upper.decode(Int.self, forKey: "ab") }
      let inner = try upper.nestedContainer(keyedBy: JSONName.self, forKey: "cd")
      notes.note(inner)
      var list = try inner.nestedUnkeyedContainer(forKey: "ef")
      notes.note(try list.nestedContainer(keyedBy: JSONName.self))
    }
  }

  @Test func `key closures may produce equal keys`() {
    let alike: (JSONDecoder) -> Void = { $0.keyDecodingStrategy = .custom { _ in JSONName("value") } }
    expectSame(JSONBox<Int>.self, #"{"a":1,"b":2}"#, by: alike)
    expectSame(JSONBox<JSONBox<Int>>.self, #"{"a":{"x":1,"y":2},"b":2}"#, by: alike)
    expectSameFailure(JSONBox<JSONBox<Int>>.self, #"{"a":{"x":"1"}}"#, by: alike)
  }

  @Test func `nested containers convert keys`() {
    expectSameView(#"{"an_object":{"a_key":1},"a_list":[{"a_key":2}],"super":{"a_key":3}}"#, by: Self.snake) {
      notes, decoder in
      let object = try decoder.container(keyedBy: JSONName.self)
      notes.note(try object.nestedContainer(keyedBy: JSONName.self, forKey: "anObject"))
      var list = try object.nestedUnkeyedContainer(forKey: "aList")
      notes.note(try list.nestedContainer(keyedBy: JSONName.self))
      notes.note(try object.superDecoder().container(keyedBy: JSONName.self))
      notes.note(try object.superDecoder(forKey: "anObject").codingPath)
      notes.attempt { try object.decode(Int.self, forKey: "an_object") }
    }
  }

  enum Figure: Decodable, Equatable { case bigCircle(outerRadius: Double), smallDot }

  @Test(arguments: [
    #"{"big_circle":{"outer_radius":1}}"#, #"{"small_dot":{}}"#, #"{"bigCircle":{"outerRadius":1}}"#,
    #"{"big_circle":{}}"#,
    #"{"big_dot":{}}"#,
  ]) func `enumeration payloads have converted keys`(text: String) {
    expectAlike([Figure].self, "[\(text)]", by: Self.snake)
  }
}
