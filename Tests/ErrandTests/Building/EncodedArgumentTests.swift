import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Arguments made from `Encodable` values and from dictionaries.
struct EncodedArgumentTests {
  struct Filter: Encodable, Sendable {
    enum Order: String, Encodable, Sendable { case newest }
    struct Range: Encodable, Sendable { let from: Int; let to: Int? }
    enum CodingKeys: String, CodingKey { case text = "q", since, order, tags, ranges, inner, isNew, data }

    var text = "tea & milk"
    var since = Date(timeIntervalSince1970: 0)
    var order = Order.newest
    var tags = ["a", "b"]
    var ranges = [Range(from: 1, to: nil)]
    var inner = Range(from: 1, to: 2)
    var isNew: Bool?
    var data = Data([1, 2, 3])
  }

  private static let pairs = [
    ["q", "tea & milk"], ["since", "1970-01-01T00:00:00Z"], ["order", "newest"], ["tags", "a"], ["tags", "b"],
    ["ranges[from]", "1"], ["inner[from]", "1"], ["inner[to]", "2"], ["data", "AQID"],
  ]

  @Test func `encoded value is a query`() async throws {
    let request = Sending(arguments: Arguments(encoding: Filter()))
    #expect(try await ScriptedClient().sent(request)?.queryPairs == Self.pairs)
  }

  @Test func `encoded value is a form`() async throws {
    let arguments = Arguments(encoding: Filter())
    #expect(try await ScriptedClient().sent(Sending(method: .post, arguments: arguments))?.formPairs == Self.pairs)
    let body = Sending(method: .post, body: .form(arguments))
    #expect(try await ScriptedClient().sent(body)?.formPairs == Self.pairs)
  }

  @Test func `style applies to encoded values`() async throws {
    var filter = Filter()
    filter.isNew = true
    let style = ArgumentStyle(arrays: .brackets, objects: .dots, booleans: .digits, dates: .seconds)
    let pairs = try await ScriptedClient().sent(
      Sending(arguments: Arguments(encoding: filter), argumentStyle: style))?.queryPairs
    #expect(pairs?.contains(["since", "0"]) == true && pairs?.contains(["isNew", "1"]) == true)
    #expect(pairs?.contains(["tags[]", "a"]) == true && pairs?.contains(["inner.to", "2"]) == true)
  }

  @Test func `encoded value is JSON`() async throws {
    let arguments = Arguments(encoding: ["b": Filter.Range(from: 1, to: 2), "a": Filter.Range(from: 3, to: nil)])
    #expect(arguments.entries.map(\.name) == ["a", "b"])
    let sent = try await ScriptedClient().sent(
      Sending(method: .post, arguments: arguments, argumentFormat: .json))
    #expect(sent?.text == #"{"a":{"from":3},"b":{"from":1,"to":2}}"#)
  }

  struct Event: Encodable, Sendable {
    struct Seat: Encodable, Sendable { let seatNumber = 7 }
    let startsAt = Date(timeIntervalSince1970: 0.5)
    let rawBytes = Data([255])
    let seats = ["frontRow": [Seat()]]
  }

  /// A key strategy that shows the whole coding path.
  private static let paths = JSONEncoder.KeyEncodingStrategy.custom { path in
    PathKey(stringValue: path.map { key in key.intValue.map { "\($0)" } ?? key.stringValue }.joined(separator: "/"))
  }

  private struct PathKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private static let encoded: [(JSONEncoding, String)] = [
    (
      .fast(dates: .secondsSince1970, keys: .convertToSnakeCase, data: .deferredToData),
      #"{"raw_bytes":[255],"seats":{"frontRow":[{"seat_number":7}]},"starts_at":0.5}"#
    ),
    (
      JSONEncoding(dates: .millisecondsSince1970, keys: paths),
      #"{"rawBytes":"/w==","seats":{"frontRow":[{"seats/frontRow/0/seatNumber":7}]},"startsAt":500}"#
    ),
  ]

  @Test(arguments: encoded) func `JSON arguments follow the JSON encoding`(
    rules: JSONEncoding, text: String
  ) async throws {
    let arguments = Sending(
      method: .post, arguments: Arguments(encoding: Event()), argumentFormat: .json, jsonEncoding: rules)
    #expect(try await ScriptedClient().sent(arguments)?.text == text)
  }

  @Test func `JSON arguments equal a JSON body`() async throws {
    let rules = JSONEncoding.fast(dates: .secondsSince1970, keys: .convertToSnakeCase)
    let arguments = Sending(
      method: .post, arguments: Arguments(encoding: Event()), argumentFormat: .json, jsonEncoding: rules)
    let body = Sending(method: .post, body: .json(Event()), jsonEncoding: rules)
    let text = try await ScriptedClient().sent(arguments)?.text
    #expect(try await ScriptedClient().sent(body)?.text == text)
  }

  @Test func `names in a literal are kept in JSON`() async throws {
    let rules = JSONEncoding.fast(dates: .secondsSince1970, keys: .convertToSnakeCase)
    let arguments: Arguments = [
      "startsAt": Date(timeIntervalSince1970: 0), "innerPart": ["fullName": 1] as Arguments, "anEvent": ["theKey": 2],
    ]
    let request = Sending(method: .post, arguments: arguments, argumentFormat: .json, jsonEncoding: rules)
    #expect(
      try await ScriptedClient().sent(request)?.text
        == #"{"anEvent":{"theKey":2},"innerPart":{"fullName":1},"startsAt":0}"#)
  }

  @Test func `style writes dates without a JSON strategy`() async throws {
    let rules = JSONEncoding.fast(keys: .convertToSnakeCase)
    let request = Sending(
      method: .post, arguments: Arguments(encoding: Event()), argumentFormat: .json,
      argumentStyle: ArgumentStyle(dates: .milliseconds), jsonEncoding: rules)
    #expect(try await ScriptedClient().sent(request)?.text?.hasSuffix(#""starts_at":500}"#) == true)
  }

  @Test func `queries ignore the JSON encoding`() async throws {
    let rules = JSONEncoding.fast(dates: .secondsSince1970, keys: .convertToSnakeCase, data: .deferredToData)
    let request = Sending(arguments: Arguments(encoding: Event()), jsonEncoding: rules)
    let pairs = try await ScriptedClient().sent(request)?.queryPairs
    #expect(pairs?.first == ["startsAt", "1970-01-01T00:00:00.500Z"])
    #expect(pairs?.contains(["rawBytes", "/w=="]) == true)
  }

  @Test func `converted name replaces a common argument`() async throws {
    let bench = ScriptedClient {
      $0.additions.bodyArguments = { ["starts_at": "common", "v": 1] }
      $0.formats.jsonEncoding = .fast(dates: .secondsSince1970, keys: .convertToSnakeCase)
    }
    struct Start: Encodable, Sendable { let startsAt = Date(timeIntervalSince1970: 0) }
    let request = Sending(method: .post, arguments: Arguments(encoding: Start()), argumentFormat: .json)
    #expect(try await bench.sent(request)?.text == #"{"starts_at":0,"v":1}"#)
  }

  @Test func `failed date strategy names its argument`() async {
    struct Closed: Error, CustomStringConvertible { let description = "the shop is closed" }
    let rules = JSONEncoding.fast(dates: .custom { _, _ in throw Closed() })
    let request = Sending(
      method: .post, arguments: ["from": Date(timeIntervalSince1970: 0)], argumentFormat: .json, jsonEncoding: rules)
    let error = await ScriptedClient().failure(of: request)
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasPrefix("The argument \"from\" cannot be sent: ") == true)
    #expect(error?.message.hasSuffix("the shop is closed.") == true)
  }

  /// A type that uses every kind of container.
  struct Manual: Encodable, Sendable {
    enum Key: CodingKey { case list, inner, nothing, base, big }
    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: Key.self)
      var list = members.nestedUnkeyedContainer(forKey: .list)
      try list.encode(1)
      try list.encodeNil()
      var pair = list.nestedContainer(keyedBy: Key.self)
      try pair.encode("x", forKey: .inner)
      var inner = members.nestedContainer(keyedBy: Key.self, forKey: .inner)
      try inner.encode(1.5, forKey: .base)
      try inner.encode(2.5, forKey: .base)
      try members.encodeNil(forKey: .nothing)
      try ["y"].encode(to: members.superEncoder(forKey: .base))
      try members.encode(UInt64.max, forKey: .big)
    }
  }

  @Test func `every container is encoded`() {
    let entries = Arguments(encoding: Manual()).entries
    #expect(entries.map(\.name) == ["list", "inner", "nothing", "base", "big"])
    #expect(
      entries.map(\.value) == [
        .array([.integer(1), .null, .object(["inner": "x"])]), .object(["base": 2.5]), .null,
        .array([.string("y")]), .unsigned(.max),
      ])
  }

  struct Huge: Encodable, Sendable {
    struct Wrapped: Encodable, Sendable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Int128(-7))
      }
    }

    let large = UInt128.max
    let list: [Int128] = [1, 2]
    let missing: Int128? = nil
    let small: Int128? = 3
    let wrapped = Wrapped()
  }

  @Test func `integers of 128 bits are encoded`() async throws {
    let arguments = Arguments(encoding: Huge())
    let digits = "340282366920938463463374607431768211455"
    let query = try await ScriptedClient().sent(Sending(arguments: arguments))?.queryPairs
    #expect(query == [["large", digits], ["list", "1"], ["list", "2"], ["small", "3"], ["wrapped", "-7"]])
    let json = Sending(method: .post, arguments: arguments, argumentFormat: .json)
    #expect(
      try await ScriptedClient().sent(json)?.text == #"{"large":"\#(digits)","list":[1,2],"small":3,"wrapped":-7}"#)
  }

  struct Broken: Encodable, Sendable {
    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        "MARKER", EncodingError.Context(codingPath: [], debugDescription: "it is empty"))
    }
  }

  @Test(arguments: [HTTPMethod.get, .post]) func `value that cannot be encoded is an error`(
    method: HTTPMethod
  ) async {
    for arguments in [Arguments(encoding: Broken()), Arguments(encoding: Broken()).merged(over: ["a": 1])] {
      for format in [ArgumentFormat.byMethod, .json] {
        let bench = ScriptedClient { $0.additions.arguments = { ["common": 1] } }
        let error = await bench.failure(of: Sending(method: method, arguments: arguments, argumentFormat: format))
        #expect(error?.code == .invalidArgument && bench.transport.requests.isEmpty)
        #expect(
          error?.message.hasPrefix("No arguments can be made from a value of the type Broken: ") == true)
        #expect(error?.message.contains("it is empty") == true && error?.message.contains("MARKER") == false)
      }
    }
    let number = await ScriptedClient().failure(of: Sending(arguments: Arguments(encoding: 7)))
    #expect(number?.message.contains("a type with properties or a dictionary is needed") == true)
  }

  @Test func `dictionaries are sorted arguments`() async throws {
    let texts = ["b": "1", "a": "2"]
    let mixed: [String: any ArgumentConvertible] = ["b": 1, "a": "2", "c": String?.none]
    #expect(try await ScriptedClient().url(Sending(arguments: Arguments(texts))) == "http://h.example/p?a=2&b=1")
    #expect(try await ScriptedClient().url(Sending(arguments: Arguments(mixed))) == "http://h.example/p?a=2&b=1")
  }

  /// A member of a set that has no order of its own.
  struct Slot: Encodable, Hashable, Sendable { let at: Date }

  @Test func `dates of a set are sorted by milliseconds`() async throws {
    let slots = Set((1...9).map { Slot(at: Date(timeIntervalSince1970: 1_750_000_000 + Double($0) / 1000)) })
    let sent = try await ScriptedClient().sent(Sending(arguments: Arguments(encoding: ["slots": slots])))
    #expect(sent?.queryPairs == (1...9).map { ["slots[at]", "2025-06-15T15:06:40.00\($0)Z"] })
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan])
  func `infinite date in a dictionary is refused`(seconds: Double) async {
    let dates: [Filter.Order: Slot] = [.newest: Slot(at: Date(timeIntervalSince1970: seconds))]
    let error = await ScriptedClient().failure(of: Sending(arguments: Arguments(encoding: ["at": dates])))
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("the value is not a finite number") == true)
  }
}
