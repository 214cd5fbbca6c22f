import ErrandSupport
import Foundation
import Testing

@testable import ErrandJSON

struct JSONReadableTests {
  struct Person: JSONReadable, Equatable {
    let name: String, age: Int, score: Double, isActive: Bool
    let born: Date?, tags: [String]
    let friend: [Person]

    init(json: JSONValue) throws {
      name = try json.read("name")
      age = try json.read("age")
      score = try json.read("score")
      isActive = try json.read("active")
      born = try json.readIfPresent("born")
      tags = try json.readIfPresent("tags") ?? []
      friend = try json.readIfPresent("friends") ?? []
      if age < 0 { throw TooYoung() }
    }
  }

  struct TooYoung: Error, CustomStringConvertible { let description = "nobody is younger than nought" }

  struct Team: Decodable {
    let lead: Person, others: [Person], byRole: [String: Person]?
  }

  static let ada = #"{"name":"Ada","age":36,"score":1.5,"active":true}"#

  static let decodings: [(String, JSONDecoding)] = [("standard", .standard), ("fast", .fast)]

  private func person(_ fields: String = "") -> Data { Data((Self.ada.dropLast() + fields + "}").utf8) }

  /// A value that contains a value of its own type.
  struct Nest: JSONReadable {
    let depth: Int

    init(json: JSONValue) throws {
      depth = try json.readIfPresent("inner", as: Nest.self).map { $0.depth + 1 } ?? 0
    }
  }

  @Test(arguments: decodings) func `nested types find numbers beyond Double`(
    name: String, decoding: JSONDecoding
  ) throws {
    func text(_ list: String, _ after: String = "0") -> Data {
      let start = String(repeating: #"{"inner":"#, count: 200)
      return Data("\(start){\"list\":\(list)}\(String(repeating: ",\"x\":\(after)}", count: 200))".utf8)
    }
    let numbers = Array(repeating: "1e2", count: 2_000).joined(separator: ",")
    #expect(try decoding.decode(Nest.self, from: text("[\(numbers)]")).depth == 200)
    let inside = #expect(throws: JSONDecodingError.self) {
      try decoding.decode(Nest.self, from: text("[\(numbers),1e400,1e500]"))
    }
    #expect(inside?.kind == .numberOutOfRange && inside?.reason.contains("1e400") == true)
    let after = #expect(throws: JSONDecodingError.self) { try decoding.decode(Nest.self, from: text("[]", "-1e400")) }
    #expect(after?.kind == .numberOutOfRange && after?.reason.contains("-1e400") == true)
  }

  @Test func `numbers beyond Double are searched once`() throws {
    let long = String(repeating: "9", count: 400)
    let document = try JSONDocument(Data("[1,[1e400,2],{\"a\":{\"b\":\(long)}},1e5,[3]]".utf8))
    #expect(document.known.withLock { $0.vastNumbers } == nil)
    #expect(document.numberBeyondDoubles(at: 0) == "1e400")
    let numbers = try #require(document.known.withLock { $0.vastNumbers })
    #expect(numbers.map { document.numeral(document.word(Int($0))) } == ["1e400", long])
    for (path, number) in [
      ("[0]", nil), ("[1]", "1e400"), ("[1][0]", "1e400"), ("[1][1]", nil), ("[2]", long), ("[2].a.b", long),
      ("[3]", nil), ("[4]", nil),
    ] as [(String, String?)] {
      let index = try #require(document.index(at: try JSONPath(parsing: path)))
      #expect(document.numberBeyondDoubles(at: index) == number.map { JSONDocument.shortened($0) }, "\(path)")
    }
    let plain = try JSONDocument(Data("[1,2.5]".utf8))
    #expect(plain.numberBeyondDoubles(at: 0) == nil && plain.known.withLock { $0.vastNumbers } == nil)
  }

  @Test(arguments: decodings) func `type is created from JSON`(name: String, decoding: JSONDecoding) throws {
    let ada = try decoding.decode(Person.self, from: person(#","tags":["a","b"],"friends":[\#(Self.ada)]"#))
    #expect(ada.name == "Ada" && ada.age == 36 && ada.score == 1.5 && ada.isActive && ada.born == nil)
    #expect(ada.tags == ["a", "b"] && ada.friend.map(\.name) == ["Ada"])
  }

  @Test(arguments: decodings) func `arrays and dictionaries contain it`(name: String, decoding: JSONDecoding) throws {
    let list = Data("[\(Self.ada),\(Self.ada)]".utf8)
    #expect(try decoding.decode([Person].self, from: list).count == 2)
    #expect(try decoding.decode([String: Person].self, from: Data("{\"a\":\(Self.ada)}".utf8))["a"]?.age == 36)
    let nested = try decoding.decode([[Person?]].self, from: Data("[[null,\(Self.ada)]]".utf8))
    #expect(nested[0].map { $0?.age } == [nil, 36])
    #expect(try decoding.decode(Person?.self, from: Data("null".utf8)) == nil)
    #expect(try decoding.decode([Person].self, from: Data("{\"x\":[\(Self.ada)]}".utf8), at: "x").count == 1)
  }

  @Test(arguments: decodings) func `other types contain it`(name: String, decoding: JSONDecoding) throws {
    let text = #"{"lead":\#(Self.ada),"others":[\#(Self.ada)],"byRole":{"x":\#(Self.ada)}}"#
    let team = try decoding.decode(Team.self, from: Data(text.utf8))
    #expect(team.lead.name == "Ada" && team.others == [team.lead] && team.byRole == ["x": team.lead])
  }

  @Test(arguments: [JSONDecoding(dates: .secondsSince1970), .fast(dates: .secondsSince1970)])
  func `strategies apply inside the type`(decoding: JSONDecoding) throws {
    let ada = try decoding.decode(Person.self, from: person(#","born":1000"#))
    #expect(ada.born == Date(timeIntervalSince1970: 1000))
  }

  @Test(arguments: [JSONDecoding(dates: .secondsSince1970), .fast(dates: .secondsSince1970)])
  func `strategies apply inside other types`(decoding: JSONDecoding) throws {
    let text = #"{"lead":\#(Self.ada.dropLast()),"born":1000},"others":[\#(Self.ada)]}"#
    let team = try decoding.decode(Team.self, from: Data(text.utf8))
    #expect(team.lead.born == Date(timeIntervalSince1970: 1000))
  }

  @Test(arguments: decodings) func `errors inside other types have paths`(
    name: String, decoding: JSONDecoding
  ) throws {
    for (member, path) in [
      (#"{"name":7}"#, "others[1].name"), (#"{"name":"Ada","age":1.5}"#, "others[1].age"),
      (Self.ada.dropLast() + #","friends":[{}]}"#, "others[1].friends[0].name"),
    ] {
      let text = #"{"lead":\#(Self.ada),"others":[\#(Self.ada),\#(member)]}"#
      let error = #expect(throws: JSONDecodingError.self) { try decoding.decode(Team.self, from: Data(text.utf8)) }
      #expect(error?.path.description == "$.\(path)", "\(name): \(String(describing: error))")
    }
  }

  @Test func `key strategies do not apply`() throws {
    struct Order: JSONReadable {
      let number: Int
      init(json: JSONValue) throws { number = try json.read("order_number") }
    }
    let decoding = JSONDecoding.fast(keys: .convertFromSnakeCase)
    #expect(try decoding.decode(Order.self, from: Data(#"{"order_number":7}"#.utf8)).number == 7)
  }

  static let failures: [(String, String, JSONDecodingError.Kind, String)] = [
    (#"{"name":"Ada"}"#, "$[1].age", .missingKey, "the key \"age\" is missing"),
    (#"{"name":7}"#, "$[1].name", .wrongType, "expected a string, found a number"),
    (#"{"name":null}"#, "$[1].name", .unexpectedNull, "expected a string, found null"),
    (#"{"name":"Ada","age":1.5}"#, "$[1].age", .invalidValue, "The number 1.5 does not fit in Int"),
    (#"{"name":"Ada","age":1,"score":true}"#, "$[1].score", .wrongType, "expected a number, found true or false"),
    (
      ada.replacingOccurrences(of: "true", with: "1"), "$[1].active", .wrongType,
      "expected true or false, found a number"
    ),
    (ada.dropLast() + #","tags":["a",1]}"#, "$[1].tags[1]", .wrongType, "expected a string, found a number"),
    (ada.dropLast() + #","friends":[{}]}"#, "$[1].friends[0].name", .missingKey, "the key \"name\" is missing"),
    (#"[1]"#, "$[1]", .wrongType, "expected an object, found an array"),
    (#""x""#, "$[1]", .wrongType, "expected an object, found a string"),
    (
      ada.replacingOccurrences(of: "36", with: "-1"), "$[1]", .other,
      "the type's own code threw nobody is younger than nought"
    ),
  ]

  @Test(arguments: decodings, failures) func `errors have path and reason`(
    decoding: (String, JSONDecoding), failure: (String, String, JSONDecodingError.Kind, String)
  ) throws {
    let (text, path, kind, reason) = failure
    let error = #expect(throws: JSONDecodingError.self, "\(decoding.0) \(text)") {
      try decoding.1.decode([Person].self, from: Data("[\(Self.ada),\(text)]".utf8))
    }
    #expect(error?.path.description == path && error?.kind == kind, "\(String(describing: error))")
    #expect(error?.reason == reason)
  }

  @Test func `values created in code are read`() throws {
    let value: JSONValue = ["name": "Ada", "age": 36, "score": 1.5, "active": true, "tags": ["a"], "born": nil]
    #expect(try value.read(as: Person.self).tags == ["a"])
    #expect(try Person(json: value).age == 36)
    #expect(try value.read("tags", as: [String].self) == ["a"])
    #expect(try value.readIfPresent("born", as: Date.self) == nil)
    #expect(throws: DecodingError.self) { try value.read("nobody") as String }
    #expect(throws: DecodingError.self) { try value.read("age") as String }
    #expect(throws: DecodingError.self) { try JSONValue(7).read("age") as Int }
    #expect(throws: DecodingError.self) { try JSONValue(7).readIfPresent("age", as: Int.self) }
    #expect(throws: DecodingError.self) { try JSONValue.number(.nan).read(as: Double.self) }
  }

  @Test func `parsed values are read with paths`() throws {
    let value = try JSONValue(parsing: Data(#"{"a":{"price":1.10,"at":null,"n":[1,2]}}"#.utf8))
    #expect(try value["a"]?.read("price", as: Decimal.self) == Decimal(string: "1.10"))
    #expect(try value["a"]?.readIfPresent("at", as: Int.self) == .some(nil))
    #expect(try value["a"]?["n"]?.read(as: [Int].self) == [1, 2])
    let error = #expect(throws: DecodingError.self) { try value["a"]?.read("n", as: [String].self) }
    guard case .typeMismatch(_, let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["a", "n", "Index 0"])
  }

  @Test func `Swift values become JSON`() throws {
    struct Item: Encodable { let at: Date, name: String }
    let item = Item(at: Date(timeIntervalSinceReferenceDate: 5), name: "x")
    #expect(try JSONValue(encoding: [item]) == [["at": 5, "name": "x"]])
    #expect(try JSONValue(encoding: item, by: .fast(dates: .iso8601))["at"] == "2001-01-01T00:00:05Z")
    #expect(throws: JSONEncodingError.self) { try JSONValue(encoding: [Double.nan]) }
  }

  @Test func `other decoders can read it`() throws {
    #expect(try JSONDecoder().decode(Person.self, from: person()).name == "Ada")
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["name": "Ada", "age": 3, "score": 1.5, "active": true], format: .xml, options: 0)
    #expect(try PropertyListDecoder().decode(Person.self, from: list).age == 3)
  }
}
