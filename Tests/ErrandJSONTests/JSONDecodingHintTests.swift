import ErrandJSON
import Foundation
import Testing

/// The setting that an error names if it reads the text.
struct JSONDecodingHintTests {
  struct User: Decodable { let userName: String }
  struct Upper: Decodable { let userID: Int }
  struct Keyed: Decodable {
    enum CodingKeys: String, CodingKey { case userName = "user_name" }
    let userName: String
  }
  struct Post: Decodable { let at: Date }
  struct Holder: Decodable { let user: User }

  private func hint<T: Decodable>(
    _ type: T.Type, _ text: String, _ decoding: JSONDecoding = .fast, at path: JSONPath? = nil
  ) -> String? {
    let error = #expect(throws: JSONDecodingError.self) {
      try decoding.decode(type, from: Data(text.utf8), at: path)
    }
    if let hint = error?.hint { #expect(error?.description.hasSuffix("; " + hint) == true) }
    return error?.hint
  }

  @Test(arguments: [false, true]) func `similar keys are named`(isFoundation: Bool) {
    let plain: JSONDecoding = isFoundation ? .standard : .fast
    let snake: JSONDecoding =
      isFoundation ? JSONDecoding(keys: .convertFromSnakeCase) : .fast(keys: .convertFromSnakeCase)
    #expect(
      hint(User.self, #"{"user_name":"a"}"#, plain)
        == #"to read "user_name", set `jsonDecoding` of the `formats` to `.fast(keys: .convertFromSnakeCase)`"#)
    #expect(
      hint(Upper.self, #"{"user_id":1}"#, plain) == #"the text has the key "user_id"; declare it in `CodingKeys`"#)
    #expect(
      hint(Upper.self, #"{"user_id":1}"#, snake)
        == #"the key strategy reads "user_id" as "userId"; declare this name in `CodingKeys`"#)
    #expect(
      hint(Keyed.self, #"{"user_name":"a"}"#, snake)
        == #"the key strategy reads "user_name" as "userName"; declare this name in `CodingKeys`"#)
    #expect(hint(Holder.self, #"{"user":{"user_name":"a"}}"#, plain)?.contains("convertFromSnakeCase") == true)
  }

  @Test(arguments: [
    (#"{"data":{"userName":"a"}}"#, #""data""#), (#"{"meta":{},"payload":{"userName":"a"}}"#, #""payload""#),
    (#"{"data":{"user":{"userName":"a"}}}"#, #""data.user""#), (#"{"a.b":{"userName":"a"}}"#, ##"#"["a.b"]"#"##),
    (#"{"a":{"userName":"x"},"result":{"userName":"a"}}"#, #""result""#),
  ])
  func `envelope is named`(text: String, path: String) {
    #expect(
      hint(User.self, text)
        == "the key is inside \(path): set `envelope` of the `validation` to `Envelope(value: \(path))`")
  }

  @Test func `list inside an object is named`() {
    #expect(
      hint([User].self, #"{"total":1,"items":[]}"#)
        == #"the array is inside "items": set `envelope` of the `validation` to `Envelope(value: "items")`"#)
    #expect(
      hint([User].self, #"{"data":{"list":[]}}"#, at: "data")
        == #"the array is inside "data.list": set `envelope` of the `validation` to `Envelope(value: "data.list")`"#)
  }

  @Test(arguments: [
    (#""2026-11-27T16:00:00Z""#, ".iso8601"), ("1764259200", ".secondsSince1970"),
    ("1764259200123", ".millisecondsSince1970"),
  ])
  func `date strategy is named`(value: String, strategy: String) {
    let rules: [JSONDecoding] =
      strategy == ".iso8601"
      ? [.fast, .standard, .fast(dates: .secondsSince1970)] : [.fast(dates: .iso8601), JSONDecoding(dates: .iso8601)]
    for rules in rules {
      #expect(
        hint(Post.self, #"{"at":\#(value)}"#, rules)
          == "to read this date, set `jsonDecoding` of the `formats` to `.fast(dates: \(strategy))`")
    }
  }

  @Test func `other date texts need a closure`() {
    for rules in [JSONDecoding.fast, .fast(dates: .iso8601)] {
      #expect(hint(Post.self, #"{"at":"27.11.2026"}"#, rules)?.contains(".custom") == true)
    }
  }

  @Test(arguments: [#"{"at":true}"#, #"{"when":1}"#]) func `other errors have no hint`(text: String) {
    #expect(hint(Post.self, text) == nil)
  }

  @Test func `null needs an optional`() {
    let hint = "if this value may be null, declare its type as an optional"
    #expect(self.hint(Post.self, #"{"at":null}"#) == hint)
    #expect(self.hint(User.self, #"{"userName":null}"#, .standard) == hint)
  }

  // MARK: - Dates that are read in the wrong year

  @Test(arguments: [
    (#"[{"at":1764259200}]"#, "2056", ".secondsSince1970"),
    (#"[{"at":1764259200123},{"at":1764259200999}]"#, "57908", ".millisecondsSince1970"),
  ])
  func `seconds since 1970 are noticed`(text: String, year: String, strategy: String) {
    for decoding in [JSONDecoding.fast, .standard] {
      let found = decoding.epochDates(of: [Post].self, in: Data(text.utf8), at: .root)
      guard case .wrong(let path, let read, let named) = found else {
        Issue.record("\(found)")
        continue
      }
      #expect("\(path)" == "$[0].at" && "\(read)" == year && named == strategy)
    }
  }

  @Test(arguments: ["0", "-62135596800", "63113904000", "473385600", "786000000"])
  func `each date is judged alone`(other: String) {
    let (suspect, neutral) = (#"{"at":1764259200}"#, #"{"at":\#(other)}"#)
    for (text, place) in [("[\(neutral),\(suspect)]", 1), ("[\(suspect),\(neutral)]", 0)] {
      let found = JSONDecoding.fast.epochDates(of: [Post].self, in: Data(text.utf8), at: .root)
      guard case .wrong(let path, 2056, ".secondsSince1970") = found, "\(path)" == "$[\(place)].at" else {
        Issue.record("\(text): \(found)")
        continue
      }
    }
  }

  @Test func `seconds since 2001 are right`() {
    for text in [#"[{"at":786000000}]"#, #"[{"at":786000000},{"at":1000000000}]"#, #"[{"at":63113904000}]"#] {
      let found = JSONDecoding.fast.epochDates(of: [Post].self, in: Data(text.utf8), at: .root)
      if case .wrong = found { Issue.record("\(text)") }
    }
    #expect(JSONDecoding.fast.epochDates(of: [Post].self, in: Data("[]".utf8), at: .root) == .none)
    #expect(JSONDecoding.fast.epochDates(of: [Int].self, in: Data("[1764259200]".utf8), at: .root) == .right)
    let seconds = JSONDecoding.fast(dates: .secondsSince1970)
    #expect(seconds.epochDates(of: [Post].self, in: Data(#"[{"at":1764259200}]"#.utf8), at: .root) == .none)
  }
}
