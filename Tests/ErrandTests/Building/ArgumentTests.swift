import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

struct ArgumentTests {
  static let texts = [
    "中文 空格", "a b", "a+b", "a&b", "a=b", "😀👨‍👩‍👧🇨🇳", "\"quoted\" 'single'", "100%", "%41", "a#b?c", "/path/../x",
    "[x]{y}|\\^`", "é", "\u{65}\u{301}", "\r\n\t\0", "", " ", "~!@$*()_-.,;:<>", "\u{7F}\u{80}\u{FFFD}",
  ]

  /// Names and values as bytes, because Swift considers texts equal that differ in their code points.
  static func bytes(_ pairs: [[String]]) -> [[[UInt8]]] { pairs.map { $0.map { Array($0.utf8) } } }

  @Test(arguments: texts) func `every character survives in queries`(text: String) async throws {
    let sent = try #require(try await ScriptedClient().sent(Sending(arguments: ["k": text, "n\(text)": "v"])))
    #expect(sent.url.string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    #expect(Self.bytes(sent.queryPairs) == Self.bytes([["k", text], ["n\(text)", "v"]]))
  }

  @Test(arguments: texts) func `every character survives in forms`(text: String) async throws {
    let request = Sending(method: .post, arguments: ["k": text, "n\(text)": "v"])
    let sent = try #require(try await ScriptedClient().sent(request))
    #expect(Self.bytes(sent.formPairs) == Self.bytes([["k", text], ["n\(text)", "v"]]))
  }

  @Test(arguments: texts) func `every character survives in JSON`(text: String) async throws {
    let request = Sending(method: .post, arguments: ["k": text, "n\(text)": "v"], argumentFormat: .json)
    let body = try #require(try await ScriptedClient().sent(request)?.body?.data)
    #expect(try JSONDecoder().decode([String: String].self, from: body) == ["k": text, "n\(text)": "v"])
  }

  @Test(arguments: [
    (HTTPMethod.get, true), (.head, true), (.delete, true), (.post, false), (.put, false), (.patch, false),
    ("PROPFIND", false),
  ])
  func `method decides where arguments go`(method: HTTPMethod, inQuery: Bool) async throws {
    let sent = try #require(try await ScriptedClient().sent(Sending(method: method, arguments: ["a": 1])))
    #expect(sent.url.query == (inQuery ? "a=1" : nil))
    #expect(sent.text == (inQuery ? nil : "a=1"))
    #expect(sent.fields[.contentType] == (inQuery ? nil : "application/x-www-form-urlencoded"))
  }

  @Test func `request overrides where arguments go`() async throws {
    let bench = ScriptedClient()
    var request = Sending(method: .post, arguments: ["a": 1], argumentFormat: .query)
    #expect(try await bench.url(request)?.hasSuffix("?a=1") == true)
    #expect(bench.transport.requests.last?.body == nil)
    request.method = .delete
    request.argumentFormat = .form
    #expect(try await bench.sent(request)?.text == "a=1")
    request.argumentFormat = .json
    let sent = try await bench.sent(request)
    #expect(sent?.text == #"{"a":1}"# && sent?.method == .delete && sent?.url.query == nil)
    #expect(sent?.fields[.contentType] == "application/json")
  }

  // MARK: - Values

  enum Colour: String, ArgumentConvertible { case red }
  enum Level: Int, ArgumentConvertible { case low = 3 }

  static let kinds: [(Arguments, String)] = [
    (["a": "x"], "a=x"), (["a": Substring("x")], "a=x"), (["a": true, "b": false], "a=true&b=false"),
    (["a": 1], "a=1"), (["a": Int8.min], "a=-128"), (["a": Int16.max], "a=32767"), (["a": Int32.min], "a=-2147483648"),
    (["a": Int64.min], "a=-9223372036854775808"), (["a": UInt.max], "a=18446744073709551615"),
    (["a": UInt8.max], "a=255"), (["a": UInt16.max], "a=65535"), (["a": UInt32.max], "a=4294967295"),
    (["a": UInt64.max], "a=18446744073709551615"), (["a": 1.5], "a=1.5"), (["a": 2.0], "a=2"),
    (["a": Float(0.1)], "a=0.1"),
    (["a": 1e300], "a=1e%2B300"), (["a": -0.0], "a=0"),
    (["a": Date(timeIntervalSince1970: 0)], "a=1970-01-01T00%3A00%3A00Z"),
    (["a": UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))], "a=00000000-0000-0000-0000-000000000001"),
    (["a": Optional<Int>.none, "b": Optional(1)], "b=1"), (["a": Colour.red, "b": Level.low], "a=red&b=3"),
    (["a": [1, 2]], "a=1&a=2"), (["a": Set([2, 1])], "a=1&a=2"), (["a": ["z": 1, "b": 2]], "a%5Bb%5D=2&a%5Bz%5D=1"),
    (["a": [String]()], ""), (["a": ["b": [1, 2]]], "a%5Bb%5D=1&a%5Bb%5D=2"), (["a": ArgumentValue.null], "a="),
    (["a": 1, "a": 2], "a=1&a=2"), (["a": ["b": 1, "c": ["d": 2]] as Arguments], "a%5Bb%5D=1&a%5Bc%5D%5Bd%5D=2"),
    (["中": ["文 ": 1]], "%E4%B8%AD%5B%E6%96%87%20%5D=1"), ([:], ""),
  ]

  @Test(arguments: kinds) func `each type of value is encoded`(arguments: Arguments, query: String) async throws {
    let sent = try await ScriptedClient().sent(Sending(arguments: arguments))
    #expect(sent?.url.query ?? "" == query)
  }

  @Test func `URL can be an argument`() async throws {
    let url = try #require(URL(string: "http://o/a?b=c"))
    #expect(try await ScriptedClient().sent(Sending(arguments: ["u": url]))?.queryPairs == [["u", "http://o/a?b=c"]])
  }

  static let styles: [(ArgumentStyle, Arguments, String)] = [
    (ArgumentStyle(arrays: .brackets), ["a": [1, 2]], "a[]=1&a[]=2"),
    (ArgumentStyle(arrays: .indexed), ["a": [1, 2]], "a[0]=1&a[1]=2"),
    (ArgumentStyle(arrays: .commas), ["a": [1, 2]], "a=1,2"),
    (ArgumentStyle(arrays: .commas), ["a": ["x", "y z"]], "a=x,y z"),
    (ArgumentStyle(arrays: .commas), ["a": [Optional(1), nil, 3]], "a=1,3"),
    (ArgumentStyle(), ["a": [Optional(1), nil, 3]], "a=1&a=3"),
    (ArgumentStyle(arrays: .indexed), ["a": [Optional(1), nil, 3]], "a[0]=1&a[1]=3"),
    (ArgumentStyle(arrays: .indexed, nulls: .omitted), ["a": [.null, .bool(true)] as [ArgumentValue]], "a[0]=true"),
    (ArgumentStyle(arrays: .indexed), ["a": [["b": 1], ["b": 2]]], "a[0][b]=1&a[1][b]=2"),
    (ArgumentStyle(arrays: .brackets, objects: .dots), ["a": ["b": [1]]], "a.b[]=1"),
    (ArgumentStyle(objects: .dots), ["a": ["b": ["c": 1]]], "a.b.c=1"),
    (ArgumentStyle(booleans: .digits), ["a": true, "b": [false]], "a=1&b=0"),
    (ArgumentStyle(dates: .seconds), ["a": Date(timeIntervalSince1970: 1.9)], "a=1"),
    (ArgumentStyle(dates: .seconds), ["a": Date(timeIntervalSince1970: -0.5)], "a=-1"),
    (ArgumentStyle(dates: .milliseconds), ["a": Date(timeIntervalSince1970: 1.5)], "a=1500"),
    (ArgumentStyle(), ["a": Date(timeIntervalSince1970: 1.5)], "a=1970-01-01T00:00:01.500Z"),
    (
      ArgumentStyle(), ["a": 999_999_999_999_999.0, "b": 1e15, "c": 1_738_324_800_123_456.0, "d": -1e18, "e": 1e19],
      "a=999999999999999&b=1000000000000000&c=1738324800123456&d=-1000000000000000000&e=1e+19"
    ),
    (ArgumentStyle(nulls: .omitted), ["a": ArgumentValue.null, "b": 1], "b=1"),
    (ArgumentStyle(nulls: .word), ["a": ArgumentValue.null], "a=null"),
    (ArgumentStyle(nulls: .empty), ["a": ArgumentValue.null], "a="),
  ]

  @Test(arguments: styles) func `argument style belongs to the request`(
    style: ArgumentStyle, arguments: Arguments, expected: String
  ) async throws {
    let bench = ScriptedClient()
    let query = try await bench.sent(Sending(arguments: arguments, argumentStyle: style))?.url.query
    #expect(query?.removingPercentEncoding == expected)
    let form = try await bench.sent(Sending(method: .post, arguments: arguments, argumentStyle: style))?.text
    #expect(form?.replacing("+", with: " ").removingPercentEncoding == expected)
  }

  @Test func `style decides how spaces are encoded`() async throws {
    let bench = ScriptedClient()
    #expect(try await bench.sent(Sending(arguments: ["a b": "c d"]))?.url.query == "a%20b=c%20d")
    let plus = Sending(arguments: ["a": "c d+e%20"], argumentStyle: ArgumentStyle(spaces: .plus))
    #expect(try await bench.sent(plus)?.url.query == "a=c+d%2Be%2520")
    let form = Sending(method: .post, arguments: ["a b": "c d+e%20"])
    #expect(try await bench.sent(form)?.formPairs == [["a b", "c d+e%20"]])
  }

  @Test func `spaces in names follow the style`() async throws {
    let bench = ScriptedClient()
    let arguments: Arguments = ["a b": ["c d+": "e f"]]
    #expect(try await bench.sent(Sending(arguments: arguments))?.url.query == "a%20b%5Bc%20d%2B%5D=e%20f")
    let plus = Sending(arguments: arguments, argumentStyle: ArgumentStyle(spaces: .plus))
    #expect(try await bench.sent(plus)?.url.query == "a+b%5Bc+d%2B%5D=e+f")
    #expect(try await bench.sent(Sending(method: .post, arguments: arguments))?.text == "a+b%5Bc+d%2B%5D=e+f")
    let wrong = await bench.failure(of: Sending(method: .post, arguments: ["a b+": Double.nan]))
    #expect(wrong?.message.hasPrefix("The argument \"a b+\" cannot be sent") == true)
  }

  @Test func `JSON keeps types and nesting`() async throws {
    let arguments: Arguments = [
      "i": 1, "u": UInt64.max, "d": 1.5, "b": true, "s": "x", "n": ArgumentValue.null, "o": Optional<Int>.none,
      "l": [1, 2], "m": ["k": ["x"]], "t": Date(timeIntervalSince1970: 0),
    ]
    let body = try #require(
      try await ScriptedClient().sent(Sending(method: .put, arguments: arguments, argumentFormat: .json))?.body?.data)
    let expected: JSONValue = [
      "i": 1, "u": .unsigned(.max), "d": 1.5, "b": true, "s": "x", "n": .null, "l": [1, 2], "m": ["k": ["x"]],
      "t": "1970-01-01T00:00:00Z",
    ]
    #expect(try JSONValue(parsing: body) == expected)
  }

  @Test func `JSON lists leave nil out`() async throws {
    let arguments: Arguments = [
      "a": [Optional(1), nil, 3], "b": ["c": [Optional<Int>.none]], "d": [.null, .omitted] as [ArgumentValue],
    ]
    let sent = try await ScriptedClient().sent(Sending(method: .post, arguments: arguments, argumentFormat: .json))
    #expect(sent?.text == #"{"a":[1,3],"b":{"c":[]},"d":[null]}"#)
  }

  @Test func `dates keep their milliseconds`() async throws {
    let texts = (0..<1000).map { "2025-06-30T12:00:00" + String(format: $0 == 0 ? "Z" : ".%03dZ", $0) }
    let moments = try texts.enumerated().map { index, text in
      try Date.ISO8601FormatStyle(includingFractionalSeconds: index > 0).parse(text)
    }
    let numbers = (0..<1000).map { "\(1_751_284_800_000 + $0)" }
    for (dates, expected) in [(ArgumentStyle.Dates.iso8601, texts), (.milliseconds, numbers)] {
      let style = ArgumentStyle(arrays: .commas, dates: dates)
      let request = Sending(method: .post, arguments: ["at": moments], argumentStyle: style)
      let form = try #require(try await ScriptedClient().sent(request)?.formPairs)
      #expect(form == [["at", expected.joined(separator: ",")]])
    }
  }

  @Test func `decimal keeps its digits`() async throws {
    let prices = ["19.99", "0.1", "-3", "12345678901234567890.123456789"].compactMap { Decimal(string: $0) }
    let sent = try #require(try await ScriptedClient().sent(Sending(arguments: ["p": prices])))
    #expect(sent.queryPairs.map { $0[1] } == ["19.99", "0.1", "-3", "12345678901234567890.123456789"])
    let request = Sending(method: .post, arguments: ["p": prices[0]], argumentFormat: .json)
    #expect(try await ScriptedClient().sent(request)?.text == #"{"p":19.99}"#)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `non-finite number names its argument`(number: Double) async {
    let bench = ScriptedClient()
    let sentence = "cannot be sent: the value is not a finite number; pass a finite value."
    let error = await bench.failure(of: Sending(arguments: ["ok": 1, "价格": number]))
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == "The argument \"价格\" \(sentence)")
    let form = await bench.failure(of: Sending(method: .post, arguments: ["a": ["b": number]]))
    #expect(form?.message == "The argument \"a[b]\" \(sentence)")
    let json = await bench.failure(of: Sending(method: .post, arguments: ["a": [number]], argumentFormat: .json))
    #expect(json?.message == "The argument \"a\" \(sentence)")
    #expect(bench.transport.requests.isEmpty)
  }

  @Test(arguments: [ArgumentFormat.query, .form, .json])
  func `decimal NaN names its argument`(format: ArgumentFormat) async {
    let bench = ScriptedClient()
    let request = Sending(method: .post, arguments: ["price": Decimal.nan], argumentFormat: format)
    let error = await bench.failure(of: request)
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasPrefix("The argument \"price\" cannot be sent: the value is not a finite number") == true)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test(arguments: [ArgumentStyle.Dates.iso8601, .seconds, .milliseconds])
  func `invalid date names its argument`(dates: ArgumentStyle.Dates) async {
    for format in [ArgumentFormat.query, .form, .json] {
      let moment = Date(timeIntervalSince1970: .nan)
      let request = Sending(
        arguments: ["from": moment], argumentFormat: format, argumentStyle: ArgumentStyle(dates: dates))
      #expect(
        await ScriptedClient().failure(of: request)?.message.hasPrefix("The argument \"from\" cannot be sent") == true)
    }
  }

  @Test(arguments: [1_767_225_600_000.0, 1e14, -1e13, 253_402_300_800, -62_167_219_201, 1e300])
  func `distant date names its argument`(seconds: Double) async {
    let bench = ScriptedClient()
    let moment = Date(timeIntervalSince1970: seconds)
    for format in [ArgumentFormat.query, .form, .json] {
      let error = await bench.failure(of: Sending(arguments: ["from": moment], argumentFormat: format))
      #expect(error?.code == .invalidArgument)
      #expect(
        error?.message == "The argument \"from\" cannot be sent: the date is not in the years 0 to 9999; check whether "
          + "a number of milliseconds was taken for seconds.")
    }
    #expect(bench.transport.requests.isEmpty)
  }

  @Test(arguments: [ArgumentFormat.query, .form, .json], [ArgumentStyle.Dates.seconds, .milliseconds])
  func `number of date does not overflow`(format: ArgumentFormat, dates: ArgumentStyle.Dates) async {
    let moments = [1e19, -1e19, 1e300].map { Date(timeIntervalSince1970: $0) }
    for moment in moments {
      let request = Sending(
        arguments: ["from": moment], argumentFormat: format, argumentStyle: ArgumentStyle(dates: dates))
      #expect(await ScriptedClient().failure(of: request)?.message.contains("years 0 to 9999") == true)
    }
  }

  @Test func `whole range of years is sent`() async throws {
    let moments = [Date.distantPast, Date.distantFuture, Date(timeIntervalSince1970: 253_402_300_799)]
    let sent = try #require(try await ScriptedClient().sent(Sending(arguments: ["at": moments])))
    #expect(sent.queryPairs.map { $0[1] } == ["0001-01-01T00:00:00Z", "4001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
  }

  @Test(
    arguments: [
      (["tags": ["a", "b"]], .empty, "tags=a,b"), (["a": ["x,y", "z"]], .empty, "a=x%2Cy,z"),
      (["a": ["x", "y", "z"], "b": 1], .empty, "a=x,y,z&b=1"), (["a": [String](), "b": 1], .empty, "b=1"),
      (["a": [.integer(1), .null, .integer(3)] as [ArgumentValue]], .omitted, "a=1,3"),
      (["a": [.integer(1), .null, .integer(3)] as [ArgumentValue]], .empty, "a=1,,3"),
      (["a": [.integer(1), .null, .integer(3)] as [ArgumentValue]], .word, "a=1,null,3"),
      (["a": [.null] as [ArgumentValue], "b": 1], .omitted, "b=1"),
    ] as [(Arguments, ArgumentStyle.Nulls, String)])
  func `commas separate list members`(arguments: Arguments, nulls: ArgumentStyle.Nulls, expected: String) async throws {
    let bench = ScriptedClient()
    let style = ArgumentStyle(arrays: .commas, nulls: nulls)
    #expect(try await bench.sent(Sending(arguments: arguments, argumentStyle: style))?.url.query == expected)
    let form = Sending(method: .post, arguments: arguments, argumentStyle: style)
    #expect(try await bench.sent(form)?.text == expected)
  }

  @Test func `list inside a comma list is refused`() async {
    let style = ArgumentStyle(arrays: .commas)
    #expect(
      await ScriptedClient().failure(of: Sending(arguments: ["a": [[1]]], argumentStyle: style))?.code
        == .invalidArgument)
  }

  // MARK: - The collection

  @Test func `setting replaces all values of a name`() {
    var arguments: Arguments = ["a": 1, "b": 2, "a": 3]
    arguments["a"] = 9
    #expect(arguments == ["a": 9, "b": 2])
    arguments["b"] = Optional<Int>.none
    #expect(arguments == ["a": 9])
    arguments["a"] = nil
    #expect(arguments.isEmpty)
    arguments["c"] = "x"
    arguments.append("c", "y")
    #expect(arguments.entries.map(\.name) == ["c", "c"])
  }

  /// Swift considers these two names equal; servers do not.
  static let (one, other) = ("\u{e9}", "e\u{301}")

  @Test func `names and values compare by bytes`() {
    let (one, other) = (Self.one, Self.other)
    var arguments: Arguments = [one: 1, other: 2]
    #expect(arguments[other]?.argumentValue == .integer(2))
    arguments[other] = nil
    #expect(arguments == [one: 1])
    arguments[other] = 3
    #expect(arguments == [one: 1, other: 3])
    let common: Arguments = [one: 4, other: 5]
    #expect(([one: 1] as Arguments).merged(over: common) == [other: 5, one: 1])
    let all: Set<Arguments> = [[one: 1], [other: 1], ["a": one], ["a": other]]
    #expect(all.count == 4)
  }

  @Test(arguments: [(one, "the name occurs twice"), (other, "another name differs only in how its accents")])
  func `JSON names must be unique`(name: String, reason: String) async {
    let request = Sending(method: .post, arguments: [Self.one: 1, name: 2], argumentFormat: .json)
    let error = await ScriptedClient().failure(of: request)
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("cannot be sent: \(reason)") == true, "\(error?.message ?? "")")
  }

  @Test func `both forms of a name are sent`() async throws {
    let bench = ScriptedClient { $0.additions.bodyArguments = { [Self.other: 3] } }
    let sent = try #require(try await bench.sent(Sending(method: .post, arguments: [Self.one: 1])))
    #expect(Self.bytes(sent.formPairs) == Self.bytes([[Self.other, "3"], [Self.one, "1"]]))
  }
}
