import ErrandJSON
import Foundation
import Testing

struct JSONDecodingTests {
  struct User: Decodable, Equatable { var name: String, level: UInt8?, kind: Kind? }
  enum Kind: String, Decodable { case gold, iron }
  struct Page: Decodable, Equatable { var users: [User] }

  static let page = Page(users: [User(name: "Ada", level: 3, kind: .gold), User(name: "Bo", level: nil, kind: nil)])
  static let pageText = #"{"users":[{"name":"Ada","level":3,"kind":"gold"},{"name":"Bo","x":[1]}]}"#

  @Test(
    arguments: [
      (pageText, nil), ("{\"code\":0,\"data\":\(pageText)}", "data"), ("[0,[1],\(pageText)]", "[2]"),
      ("{\"a.b\":[[{\"c\":\(pageText)}]]}", "$[\"a.b\"][0][0].c"), ("\u{FEFF}\(pageText)", "$"),
    ] as [(String, JSONPath?)]) func `values are read at paths`(text: String, path: JSONPath?) throws
  {
    #expect(try JSONDecoding.standard.decode(Page.self, from: Data(text.utf8), at: path) == Self.page)
    let wide = try #require(text.data(using: .utf32))
    #expect(try JSONDecoding.standard.decode(Page.self, from: wide, at: path) == Self.page)
  }

  @Test func `scalars are read at paths`() throws {
    let text = Data(#"{"data":{"n":7,"list":["a","b"],"none":null}}"#.utf8)
    let decoding = JSONDecoding.standard
    #expect(try decoding.decode(Int.self, from: text, at: "data.n") == 7)
    #expect(try decoding.decode(String.self, from: text, at: "data.list[1]") == "b")
    #expect(try decoding.decode([String].self, from: text, at: "data.list") == ["a", "b"])
    #expect(try decoding.decode(Int?.self, from: text, at: "data.n") == 7)
    #expect(try decoding.decode(Int?.self, from: text, at: "data.none") == nil)
    #expect(try decoding.decode(Int?.self, from: text, at: "data.missing") == nil)
    #expect(try decoding.decode(JSONValue.self, from: text, at: "data.list[0]") == "a")
    #expect(try decoding.decode([String: JSONValue].self, from: text, at: "data")["n"] == 7)
  }

  @Test func `strategies apply at paths`() throws {
    struct Visit: Decodable, Equatable { var visitedAt: Date, rawData: Data }
    let text = Data(
      #"{"the_data":{"last_visit":{"visited_at":"1970-01-01T00:00:05Z","raw_data":"AQI="}},"at":"1970-01-01T00:00:09Z"}"#
        .utf8)
    let decoding = JSONDecoding(dates: .iso8601, keys: .convertFromSnakeCase)
    let visit = try decoding.decode(Visit.self, from: text, at: "the_data.last_visit")
    #expect(visit == Visit(visitedAt: Date(timeIntervalSince1970: 5), rawData: Data([1, 2])))
    #expect(try decoding.decode(Date.self, from: text, at: "at") == Date(timeIntervalSince1970: 9))
    #expect(try decoding.decode(Date?.self, from: text, at: "at") == Date(timeIntervalSince1970: 9))
  }

  @Test(arguments: [JSONDecoding(keys: .convertFromSnakeCase), .fast(keys: .convertFromSnakeCase)])
  func `paths use keys of the text`(decoding: JSONDecoding) throws {
    let text = Data(#"{"user_data":{"name":"Ada"},"n":1}"#.utf8)
    #expect(try decoding.decode(User?.self, from: text, at: "user_data")?.name == "Ada")
    #expect(try decoding.decode(User?.self, from: text, at: "userData") == nil)
    let missing = #expect(throws: JSONDecodingError.self) {
      try decoding.decode(User.self, from: text, at: "userData")
    }
    #expect(missing?.kind == .missingKey && missing?.path == "userData")
    let inTheWay = #expect(throws: JSONDecodingError.self) { try decoding.decode(User?.self, from: text, at: "n.x") }
    #expect(inTheWay?.kind == .wrongType && inTheWay?.path == "n")
  }

  @Test(arguments: [JSONDecoding(keys: .convertFromSnakeCase), .fast(keys: .convertFromSnakeCase)])
  func `paths tell keys with equal names apart`(decoding: JSONDecoding) throws {
    let (snake, camel) = (#""user_data":{"name":"Ada","level":1}"#, #""userData":{"name":"Bo","level":300}"#)
    for members in ["\(snake),\(camel)", "\(camel),\(snake)"] {
      let text = Data("[0,{\"x\":[],\(members)}]".utf8)
      #expect(try decoding.decode(User.self, from: text, at: "[1].user_data").name == "Ada")
      #expect(try decoding.decode(Kept.self, from: text, at: "[1].userData").name == "Bo")
      let error = #expect(throws: JSONDecodingError.self) {
        try decoding.decode(User.self, from: text, at: "[1].userData")
      }
      #expect(error?.kind == .numberOutOfRange && error?.path == "[1].userData.level")
      let missing = #expect(throws: JSONDecodingError.self) {
        try decoding.decode(Page.self, from: text, at: "[1].user_data")
      }
      #expect(missing?.kind == .missingKey && missing?.path == "[1].user_data.users")
      #expect(
        decoding.differences(of: User.self, in: text, at: "[1].userData").map(\.path) == ["[1].userData.level"])
    }
  }

  struct Kept: Decodable { let name: String }

  @Test func `key closures receive the whole path`() throws {
    let decoder = JSONDecoder()
    // Adds the depth to each key: `name` in the outermost object becomes `1name`.
    decoder.keyDecodingStrategy = .custom { path in
      DepthKey(stringValue: "\(path.count)\(path.last?.stringValue ?? "")")
    }
    struct Deep: Decodable {
      let name: String, level: Int
      enum CodingKeys: String, CodingKey { case name = "4name", level = "4level" }
    }
    let text = Data(#"{"list":[0,{"user":{"name":"Ada","level":1}}]}"#.utf8)
    let wrong = Data(#"{"list":[0,{"user":{"name":"Ada","level":"x"}}]}"#.utf8)
    for decoding in [JSONDecoding.foundation(decoder), .fast(by: decoder)] {
      #expect(try decoding.decode(Deep.self, from: text, at: "list[1].user").name == "Ada")
      #expect(try decoding.decode(Int.self, from: text, at: "list[1].user.level") == 1)
      let error = #expect(throws: JSONDecodingError.self) {
        try decoding.decode(Deep.self, from: wrong, at: "list[1].user")
      }
      #expect(error?.kind == .wrongType && error?.path == "list[1].user.level")
      #expect(decoding.differences(of: Deep.self, in: text, at: "list[1].user").isEmpty)
    }
  }

  struct DepthKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test func `custom decoder is used`() throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let decoding = JSONDecoding.foundation(decoder)
    #expect(try decoding.decode([Double].self, from: Data("[1,\"inf\"]".utf8)) == [1, .infinity])
  }

  @Test func `fast and Foundation decodings differ`() {
    let decoder = JSONDecoder()
    #expect(JSONDecoding.fast(by: decoder).isSame(as: .fast(by: decoder)))
    #expect(!JSONDecoding.fast(by: decoder).isSame(as: .foundation(decoder)))
    #expect(!JSONDecoding.fast.isSame(as: .standard))
  }

  @Test func `one decoding works in concurrent tasks`() async throws {
    let decoding = JSONDecoding(keys: .convertFromSnakeCase)
    let text = Data("{\"data\":\(Self.pageText)}".utf8)
    try await withThrowingTaskGroup { group in
      for _ in 0..<50 {
        group.addTask { try decoding.decode(Page.self, from: text, at: "data") }
      }
      for try await page in group { #expect(page == Self.page) }
    }
  }
}
