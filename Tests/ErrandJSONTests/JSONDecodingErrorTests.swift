import ErrandJSON
import Foundation
import Testing

struct JSONDecodingErrorTests {
  struct Item: Decodable {
    var name: String
    var level: UInt8?
    var at: Date?
    var kind: Kind?
    var link: URL?
    var password: Kind?
    var flags: [Bool]?
  }
  enum Kind: String, Decodable { case gold, iron }
  struct Page: Decodable { var users: [Item] }

  static func fail(_ text: String, at path: JSONPath? = nil, by decoding: JSONDecoding? = nil) -> JSONDecodingError? {
    #expect(throws: JSONDecodingError.self) {
      try (decoding ?? JSONDecoding(dates: .iso8601)).decode(Page.self, from: Data(text.utf8), at: path)
    }
  }

  static let users: [(String, JSONDecodingError.Kind, String)] = [
    ("{}", .missingKey, "$.users[1].name: the key \"name\" is missing, in {}"),
    (
      #"{"name":null}"#, .unexpectedNull,
      #"$.users[1].name: expected a string, found null, in {"name":null}; "#
        + "if this value may be null, declare its type as an optional"
    ),
    (#"{"name":7}"#, .wrongType, #"$.users[1].name: expected a string, found a number, in {"name":7}"#),
    (#"{"name":{}}"#, .wrongType, #"$.users[1].name: expected a string, found an object, in {"name":{}}"#),
    (
      #"{"name":"b","level":300}"#, .numberOutOfRange,
      #"$.users[1].level: the number 300 does not fit UInt8, in {"level":300,"name":"b"}"#
    ),
    (
      #"{"name":"b","level":-1}"#, .numberOutOfRange,
      #"$.users[1].level: the number -1 does not fit UInt8, in {"level":-1,"name":"b"}"#
    ),
    (
      #"{"name":"b","level":1.5}"#, .numberOutOfRange,
      #"$.users[1].level: the number 1.5 does not fit UInt8, in {"level":1.5,"name":"b"}"#
    ),
    (
      #"{"name":"b","level":"3"}"#, .wrongType,
      #"$.users[1].level: expected an integer, found a string, in {"level":"3","name":"b"}"#
    ),
    (
      #"{"name":"b","level":true}"#, .wrongType,
      #"$.users[1].level: expected an integer, found true or false, in {"level":true,"name":"b"}"#
    ),
    (#"{"name":"b","level":1e400}"#, .numberOutOfRange, "$.users[1].level: the number 1e400 is too large"),
    (
      #"{"name":"b","flags":[true,1]}"#, .wrongType,
      #"$.users[1].flags[1]: expected true or false, found a number, in [true,1]"#
    ),
    (
      #"{"name":"b","flags":{}}"#, .wrongType,
      #"$.users[1].flags: expected an array, found an object, in {"flags":{},"name":"b"}"#
    ),
    ("[]", .wrongType, #"$.users[1]: expected an object, found an array, in [{"name":"a"},[]]"#),
  ]

  @Test(arguments: users) func `errors have path and reason`(
    user: String, kind: JSONDecodingError.Kind, line: String
  ) {
    let error = Self.fail("{\"users\":[{\"name\":\"a\"},\(user)]}")
    #expect(error?.kind == kind)
    #expect(error?.description == line)
    let inEnvelope = Self.fail("{\"data\":[{\"users\":[{\"name\":\"a\"},\(user)]}]}", at: "data[0]")
    #expect(inEnvelope?.description == line.replacingOccurrences(of: "$.", with: "$.data[0]."))
  }

  @Test(arguments: [
    (#"{"name":"b","at":"yesterday"}"#, "$.users[0].at"), (#"{"name":"b","kind":"tin"}"#, "$.users[0].kind"),
    (#"{"name":"b","link":""}"#, "$.users[0].link"),
  ]) func `errors locate invalid values`(user: String, path: String) {
    let error = Self.fail("{\"users\":[\(user)]}")
    #expect(error?.kind == .invalidValue)
    #expect(error?.path.description == path)
    #expect(error?.reason.isEmpty == false && error?.excerpt == JSONValueText.sorted(user))
  }

  @Test(arguments: [
    ("", JSONDecodingError.Kind.empty), ("  ", .empty), ("{\"users\":", .notJSON), ("{\"users\":[]} x", .notJSON),
    ("oops", .notJSON),
    (String(repeating: "[", count: 100_000), .notJSON), ("{\"users\":\"\\ud800\"}", .notJSON),
  ]) func `unreadable texts have their error kind`(text: String, kind: JSONDecodingError.Kind) {
    let error = Self.fail(text)
    #expect(error?.kind == kind && error?.path == .root && error?.excerpt == "")
    #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode(JSONValue.self, from: Data(text.utf8)) }
  }

  @Test(arguments: [JSONDecoding.standard, .fast]) func `errors locate integers of 128 bits`(decoding: JSONDecoding) {
    struct Account: Decodable { let id: Int128, level: UInt8, past: [UInt128] }
    func path(_ text: String) -> JSONPath? {
      let error = #expect(throws: JSONDecodingError.self) {
        try decoding.decode(Account.self, from: Data(text.utf8))
      }
      return error?.path
    }
    #expect(path(#"{"id":1,"level":300,"past":[]}"#) == "level")
    #expect(path(#"{"id":1.5,"level":3,"past":[]}"#) == "id")
    #expect(path(#"{"id":1,"level":3,"past":[2,-1]}"#) == "past[1]")
  }

  @Test func `lenient JSONDecoder keeps its own error`() throws {
    let text = Data(#"[{"nme":"tea"},]"#.utf8)
    let missing = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.standard.decode([Item].self, from: text)
    }
    #expect(missing?.kind == .missingKey && missing?.path == "[0].name")
    guard case .keyNotFound? = missing?.underlying as? DecodingError else {
      Issue.record("\(String(describing: missing?.underlying))")
      return
    }
    #expect(Self.fail("[1,]")?.description == "$: expected an object, found an array, in [1]")
    let lenient = JSONDecoding.foundation(JSONDecoder())
    let unknown = Data(#"[{"name":"a","kind":"tin",},]"#.utf8)
    let invalid = #expect(throws: JSONDecodingError.self) { try lenient.decode([Item].self, from: unknown) }
    #expect(invalid?.kind == .invalidValue && invalid?.path == "[0].kind")
  }

  @Test(arguments: [JSONDecoding.standard, .fast]) func `too large numbers hide no other error`(decoding: JSONDecoding)
  {
    struct Named: Decodable { let name: String }
    func fail(_ text: String) -> JSONDecodingError? {
      #expect(throws: JSONDecodingError.self) { try decoding.decode(Named.self, from: Data(text.utf8)) }
    }
    let line = #"$.name: expected a string, found a number, in {"big":1e400,"name":7}"#
    #expect(fail(#"{"big":1e400,"name":7}"#)?.description == line)
    #expect(fail(#"{"big":1e400}"#)?.description == #"$.name: the key "name" is missing, in {"big":1e400}"#)
    let value = #expect(throws: JSONDecodingError.self) {
      try decoding.decode(JSONValue.self, from: Data(#"{"big":1e400,"a":{}}"#.utf8), at: "a.b")
    }
    #expect(value?.path == "a.b" && value?.excerpt == "{}")
    let list = #expect(throws: JSONDecodingError.self) {
      try decoding.decode(JSONValue.self, from: Data(#"{"big":1e400}"#.utf8), at: "small")
    }
    #expect(list?.excerpt == #"{"big":1e400}"#)
  }

  /// Numbers at which Foundation's decoder ends the process if it reads them as an integer.
  static let longNumbers = [
    "0.\(String(repeating: "0", count: 128))1e145", "-0.\(String(repeating: "0", count: 129))1E+146",
    "1\(String(repeating: "0", count: 200))e-184", "1.\(String(repeating: "0", count: 200))e16",
  ]

  struct Holder: Decodable { let value: JSONValue, count: Int? }
  struct Counted: Decodable { let count: Int }

  @Test(arguments: longNumbers, [JSONDecoding.standard, .fast, JSONDecoding(keys: .convertFromSnakeCase)])
  func `long numbers are safe`(number: String, decoding: JSONDecoding) throws {
    let error = #expect(throws: JSONDecodingError.self) {
      try decoding.decode([Int8].self, from: Data("[1,\(number)]".utf8))
    }
    #expect(error?.kind == .numberOutOfRange && error?.path == "[1]")
    let value = number.hasPrefix("-") ? -1e16 : 1e16
    #expect(try decoding.decode([Double].self, from: Data("[\(number)]".utf8)) == [value])
    let holder = try decoding.decode(Holder.self, from: Data("{\"value\":[\(number)]}".utf8))
    #expect(holder.value == [.number(value)])
    let text = Data("{\"a\":[{\"value\":1,\"count\":\(number)}]}".utf8)
    if number.hasPrefix("1.") {
      #expect(try decoding.decode(Int?.self, from: text, at: "a[0].count") == 10_000_000_000_000_000)
    } else {
      let atPath = #expect(throws: JSONDecodingError.self) {
        try decoding.decode(Int?.self, from: text, at: "a[0].count")
      }
      #expect(atPath?.kind == .numberOutOfRange && atPath?.path == "a[0].count")
      let inType = #expect(throws: JSONDecodingError.self) { try decoding.decode(Holder.self, from: text, at: "a[0]") }
      #expect(inType?.kind == .numberOutOfRange && inType?.path == "a[0].count")
    }
  }

  @Test(arguments: longNumbers.dropLast()) func `long numbers in lenient texts are errors`(number: String) throws {
    // Foundation's decoder accepts each of these members if it is not read.
    for member in ["[1,]", #""\x""#, #""\uabc\""#, #""\"\u0000\\""#, "01"] {
      let text = Data("{\"x\":\(member),\"count\":\(number)}".utf8)
      #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode(Counted.self, from: text) }
      #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode(Int.self, from: text, at: "count") }
    }
    // The text is read again for the error, as a `JSONValue`.
    let lenient = Data("[true,[1,],\(number)]".utf8)
    #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode([Bool].self, from: lenient) }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let error = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.fast(by: decoder).decode([Int].self, from: Data("[\(number)]".utf8))
    }
    #expect(error?.kind == .numberOutOfRange)
  }

  @Test func `strings with long numbers stay strings`() throws {
    let text = Data("[\"\(Self.longNumbers[0])\",]".utf8)
    #expect(try JSONDecoding.standard.decode([String].self, from: text) == [Self.longNumbers[0]])
  }

  @Test func `invalid UTF-8 is not JSON`() {
    let bytes = Data("{\"users\":[{\"name\":\"".utf8) + [0xFF] + Data("\"}]}".utf8)
    let error = #expect(throws: JSONDecodingError.self) { try JSONDecoding.standard.decode(Page.self, from: bytes) }
    #expect(error?.kind == .notJSON)
  }

  @Test func `excerpt shows start of markup`() {
    let error = Self.fail("\n <!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>\n<body>secret</body>")
    #expect(error?.kind == .notJSON)
    #expect(error?.excerpt == "<!DOCTYPE html><html><head><title>502 Bad Gat…")
  }

  @Test(arguments: [
    ("data.user", "$.data.user", #"{"items":[]}"#), ("data.items[0]", "$.data.items[0]", "[]"),
    ("nope.deeper[1]", "$.nope", #"{"data":{"items":[]}}"#),
  ]) func `error names the first missing step`(path: String, told: String, excerpt: String) throws {
    let text = #"{"data":{"items":[]}}"#
    let place = try JSONPath(parsing: path)
    let error = Self.fail(text, at: place)
    #expect(error?.kind == .missingKey && error?.path.description == told && error?.excerpt == excerpt)
    let value = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.standard.decode(JSONValue.self, from: Data(text.utf8), at: place)
    }
    #expect(value?.kind == .missingKey && value?.path.description == told && value?.excerpt == excerpt)
  }

  @Test func `error names a scalar inside the path`() {
    #expect(
      Self.fail(#"{"data":7}"#, at: "data.user")?.description
        == #"$.data: expected an object, found a number, in {"data":7}"#)
    #expect(Self.fail(#"{"data":null}"#, at: "data")?.kind == .unexpectedNull)
  }

  @Test func `errors use keys of the text`() {
    struct Visit: Decodable { var lastVisit: Inner; struct Inner: Decodable { var roomNumber: Int } }
    let decoding = JSONDecoding(keys: .convertFromSnakeCase)
    for (number, kind) in [("\"x\"", JSONDecodingError.Kind.wrongType), ("1.5", .numberOutOfRange)] {
      let text = Data("{\"the_data\":{\"last_visit\":{\"room_number\":\(number)}}}".utf8)
      let error = #expect(throws: JSONDecodingError.self) {
        try decoding.decode(Visit.self, from: text, at: "the_data")
      }
      #expect(error?.path == "the_data.last_visit.room_number" && error?.kind == kind)
    }
  }

  @Test func `secrets are masked`() {
    let long = String(repeating: "s", count: 25)
    let secret = Self.fail(
      #"{"users":[{"name":7,"password":"hunter2","note":"\#(long)","api_key":[1,2],"ok":"shown"}]}"#)
    #expect(secret?.excerpt == #"{"api_key":"…","name":7,"note":"…","ok":"shown","password":"…"}"#)
    let wrong = Self.fail(#"{"users":[{"name":"a","password":"hunter2"}]}"#)
    #expect(wrong?.path == "users[0].password" && wrong?.description.contains("hunter2") == false)
    let kind = Self.fail(#"{"users":[{"name":"a","kind":"\#(long)"}]}"#)
    #expect(kind?.kind == .invalidValue && kind?.description.contains(long) == false)
    var dumped = ""
    dump(kind, to: &dumped)
    #expect(!dumped.contains(long) && dumped.contains("users"))
    #expect(String(reflecting: kind).contains(long) == false)
  }

  @Test func `excerpts are short`() {
    let many = (0..<500).map { "\"k\($0)\":\"é\($0)\"" }.joined(separator: ",")
    let error = Self.fail("{\"users\":[{\(many)}]}")
    #expect(error?.excerpt.utf8.count ?? 999 <= 120 && error?.excerpt.hasSuffix("…") == true)
    let atPlace = Self.fail("{\"users\":[{\"name\":[1],\(many)}]}")
    #expect(atPlace?.excerpt == "[1]")
    let big = Self.fail("{\"users\":[{\"name\":[\"\(String(repeating: "x", count: 1 << 20))\"]}]}")
    #expect(big?.excerpt == #"{"name":["…"]}"#)
  }

  @Test func `errors locate custom errors`() {
    struct Refusal: Error {}
    struct Even: Decodable {
      init(from decoder: any Decoder) throws {
        guard try decoder.singleValueContainer().decode(Int.self).isMultiple(of: 2) else { throw Refusal() }
      }
    }
    let error = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.standard.decode([String: [Even]].self, from: Data("{\"a\":[2,3]}".utf8))
    }
    #expect(error?.kind == .other && error?.path == "a[1]" && error?.underlying is Refusal)
    #expect(error?.reason == "the type's own code threw Refusal()")
  }

  @Test(arguments: [JSONDecoding.standard, .fast]) func `localized errors are quoted`(by rules: JSONDecoding) {
    struct Odd: LocalizedError { var errorDescription: String? { "the number is odd" } }
    struct Even: Codable {
      init() {}
      init(from decoder: any Decoder) throws { throw Odd() }
      func encode(to encoder: any Encoder) throws { throw Odd() }
    }
    let error = #expect(throws: JSONDecodingError.self) { try rules.decode(Even.self, from: Data("1".utf8)) }
    #expect(error?.reason == "the type's own code threw the number is odd")
    for encoding in [JSONEncoding.standard, .fast] {
      let error = #expect(throws: JSONEncodingError.self) { try encoding.encode(Even()) }
      #expect(error?.reason == "the type's own code threw the number is odd")
    }
  }

  @Test(arguments: [true, false]) func `errors quote numbers as written`(isFast: Bool) {
    let decoding = isFast ? JSONDecoding() : .foundation(JSONDecoder())
    let long = String(repeating: "9", count: 60)
    let numerals = ["3E+2", "300.0", "-0.5", "256", "18446744073709551616", "1.50", "1e-7", "2.56e2", long]
    for numeral in numerals {
      let text = #"{"list":[{"level":\#(numeral)}]}"#
      let error = #expect(throws: JSONDecodingError.self) {
        try decoding.decode([String: [[String: UInt8]]].self, from: Data(text.utf8))
      }
      let shown = numeral.count > 40 ? String(numeral.prefix(40)) + "…" : numeral
      let said = error.map { "\($0)" } ?? ""
      let isNamed = said.contains("the number \(shown) ") && said.contains(":\(shown)}")
      #expect(isNamed, "\(numeral): \(said)")
    }
  }
}

/// Normalised JSON texts for comparison.
enum JSONValueText {
  static func sorted(_ text: String) -> String? {
    (try? JSONValue(parsing: Data(text.utf8)))?.description
  }
}
