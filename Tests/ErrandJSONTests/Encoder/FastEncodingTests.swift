@testable import ErrandJSON
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Compares Errand's own encoder with Foundation's.
struct FastEncodingTests {
  @Test(arguments: EncodingSample.all) func `both encoders write the same text`(sample: EncodingSample) throws {
    let foundation = sample.encoder(sortedKeys: false)
    let due = EncodingOutcome { try foundation.encode(sample.value) }
    let outcome = EncodingOutcome { try JSONEncoding.fast(by: foundation).encode(sample.value) }
    if let value = due.value { #expect(outcome.value == value) } else { #expect(outcome == due) }
    let sorting = sample.encoder(sortedKeys: true)
    let sorted = EncodingOutcome { try sorting.encode(sample.value) }
    #expect(EncodingOutcome { try JSONEncoding.fast(by: sorting).encode(sample.value) } == sorted)
  }

  @Test(arguments: EncodingSample.all) func `Foundation encodes only what requires it`(sample: EncodingSample) {
    let streams = JSONStreams(rules: JSONEncodingRules(of: sample.encoder(sortedKeys: false), sortsAll: false))
    let text = try? streams.text(of: sample.value) ?? Data()
    #expect((text?.isEmpty ?? false) == sample.isHandedOver)
  }

  @Test func `at least 100 samples exist`() {
    #expect(EncodingSample.all.count >= 100)
    #expect(Set(EncodingSample.all.map(\.name)).count == EncodingSample.all.count)
  }

  @Test func `members are sorted unless declined`() throws {
    struct Body: Encodable { var zebra = 1, apple = ["b": 2, "a": [1: "x"].count], mango: Int?, kiwi = "k" }
    let text = try JSONEncoding.fast(sortedKeys: false).encode(Body())
    #expect(String(decoding: text, as: UTF8.self) == #"{"zebra":1,"apple":{"a":1,"b":2},"kiwi":"k"}"#)
    let sorted = try JSONEncoding.fast.encode(Body())
    #expect(String(decoding: sorted, as: UTF8.self) == #"{"apple":{"a":1,"b":2},"kiwi":"k","zebra":1}"#)
    #expect(try sorted == JSONEncoding.standard.encode(Body()))
  }

  @Test func `equal dictionaries give equal bytes`() throws {
    let names = (0..<40).map { "name \($0)\($0 % 3 == 0 ? "\n" : "")" }
    let forward = Dictionary(uniqueKeysWithValues: names.map { ($0, [$0.count: 1]) })
    var backward: [String: [Int: Int]] = [:]
    for name in names.reversed() { backward[name] = [name.count: 1] }
    #expect(try JSONEncoding.fast.encode(forward) == JSONEncoding.fast.encode(backward))
  }

  /// `JSONEncoder` alone would write the dictionaries in the order of their hashes.
  @Test func `handed over values have fixed bytes`() throws {
    let names = Dictionary(uniqueKeysWithValues: (0..<20).map { ("n/\($0 + 10)", $0) })
    let twice = Encoded.object { container in
      try container.encode(names, forKey: .b)
      try container.encode(1, forKey: .a)
      try container.encode(names, forKey: .b)
    }
    let sorted = (0..<20).map { "\"n/\($0 + 10)\":\($0)" }.joined(separator: ",")
    for encoding in [JSONEncoding.fast, .fast(sortedKeys: false), .fast(by: JSONEncoder())] {
      #expect(try encoding.encode(twice) == Data("{\"a\":1,\"b\":{\(sorted)}}".utf8))
    }
  }

  @Test func `handed over values follow the encoder`() throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .secondsSince1970
    encoder.dataEncodingStrategy = .deferredToData
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    struct Body: Encodable { let roomNumber = Double.infinity, at = Date(timeIntervalSince1970: 1), raw = Data([255]) }
    let twice = Encoded.object { container in
      for _ in 0..<2 { try container.encode(Body(), forKey: .b) }
    }
    let text = try JSONEncoding.fast(by: encoder).encode(twice)
    #expect(String(decoding: text, as: UTF8.self) == #"{"b":{"at":1,"raw":[255],"room_number":"inf"}}"#)
  }

  /// `JSONEncoder` ends the process at these dates.
  @Test(arguments: [Double.infinity, -.infinity, .nan])
  func `infinite ISO 8601 date is an error`(_ seconds: Double) {
    let dates = ["x": [Date(timeIntervalSinceReferenceDate: seconds)]]
    let error = #expect(throws: JSONEncodingError.self) { try JSONEncoding.fast(dates: .iso8601).encode(dates) }
    #expect(error?.path.description == "$.x[0]")
  }

  /// Both keys are equal as Swift strings.
  @Test func `snake case keeps the bytes of keys`() throws {
    struct Member: Encodable {
      let name: String

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: AnyKey(name))
      }
    }
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let encoding = JSONEncoding.fast(keys: .convertToSnakeCase)
    for name in ["caf\u{e9}Name", "cafe\u{301}Name"] {
      #expect(try encoding.encode(Member(name: name)) == encoder.encode(Member(name: name)))
    }
  }

  @Test func `common arguments are merged`() throws {
    let text = try JSONEncoding.fast.encode(Encoded.Dog(), adding: ["version": "2", "legs": 5])
    #expect(try JSONValue(parsing: text) == ["name": "Rex", "legs": 4, "version": "2"])
    let error = #expect(throws: JSONEncodingError.self) { try JSONEncoding.fast.encode([1], adding: ["a": 1]) }
    #expect(error?.reason == "Expected a JSON object, found an array.")
  }

  @Test func `strategies are applied`() throws {
    struct Body: Encodable { var roomNumber = 7, at = Date(timeIntervalSince1970: 0), raw = Data([255]) }
    let text = try JSONEncoding.fast(dates: .iso8601, keys: .convertToSnakeCase, data: .deferredToData).encode(Body())
    #expect(
      String(decoding: text, as: UTF8.self) == #"{"at":"1970-01-01T00:00:00Z","raw":[255],"room_number":7}"#)
  }

  @Test func `JSON values ignore strategies`() throws {
    let value: JSONValue = ["b": 1, "a": [1.5, nil]]
    #expect(try JSONEncoding.fast.encode(value) == value.serialized())
    #expect(try JSONEncoding.fast.encode([value]) == JSONValue.array([value]).serialized())
  }

  /// Foundation keeps the output of the failed value, and may end the process.
  @Test func `failed member leaves no output`() throws {
    let body = Encoded.object { container in
      try? container.encode(Encoded.broken, forKey: .a)
      try? container.encode([Double.nan], forKey: .b)
      try container.encode(["x": 1], forKey: .c)
      try container.encode(2, forKey: .a)
    }
    #expect(String(decoding: try JSONEncoding.fast.encode(body), as: UTF8.self) == #"{"a":2,"c":{"x":1}}"#)
    let list = Encoded.array { container in
      try container.encode(1)
      try? container.encode(Encoded.broken)
      try? container.encode(Double.nan)
      try container.encode(container.count)
    }
    #expect(String(decoding: try JSONEncoding.fast.encode(list), as: UTF8.self) == "[1,1]")
    let single = Encoded.single { container in
      try? container.encode(Encoded.broken)
      try container.encode("x")
    }
    #expect(String(decoding: try JSONEncoding.fast.encode([single]), as: UTF8.self) == #"["x"]"#)
  }

  /// `JSONEncoder` ends the process in the first three cases.
  @Test func `misuse is an error`() throws {
    let misuses: [Encoded.By] = [
      Encoded.single { container in
        try container.encode(1)
        try container.encode(2)
      },
      Encoded.By { encoder in
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        var object = encoder.container(keyedBy: Encoded.Keys.self)
        try object.encode(1, forKey: .a)
      },
      Encoded.By { encoder in
        try 1.encode(to: encoder)
        var object = encoder.container(keyedBy: Encoded.Keys.self)
        try? object.encode(1, forKey: .a)
      },
      Encoded.single { try $0.encode(Decimal.nan) },
    ]
    for misuse in misuses {
      #expect(throws: JSONEncodingError.self) { try JSONEncoding.fast.encode(["a": misuse]) }
    }
    #expect(try JSONEncoding.fast.encode([1]) == Data("[1]".utf8))
  }

  @Test func `nesting is limited`() throws {
    let fast = JSONEncoding.fast
    #expect(try fast.encode(Encoded.Nest(depth: 511)).count == 1_022)
    for depth in [512, 600, 5_000] {
      let error = #expect(throws: JSONEncodingError.self) { try fast.encode(Encoded.Nest(depth: depth)) }
      #expect(error?.path == .root)
      #expect(error?.reason == "Arrays and objects are nested deeper than 511 levels.")
    }
    struct Endless: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self)
      }
    }
    // With a sanitizer, each level needs several times as much stack.
    if !isSanitized {
      let error = #expect(throws: JSONEncodingError.self) { try fast.encode(Endless()) }
      #expect(error?.reason == "Values are nested deeper than 1024 levels.")
    }
    let deep = (0..<505).reduce(JSONValue.null) { value, _ in [value] }
    #expect(try fast.encode([deep]).count == 4 + 2 * 506)
    let error = #expect(throws: JSONEncodingError.self) { try fast.encode([[[[[[[[[[deep]]]]]]]]]]) }
    #expect(error?.reason == "Arrays and objects are nested deeper than 512 levels.")
  }

  /// In a nested container, `JSONEncoder` loses the keys of the outer containers.
  @Test func `nested containers report complete paths`() throws {
    let body = Encoded.object { container in
      var list = container.nestedUnkeyedContainer(forKey: .a)
      try list.encode(1)
      var inner = list.nestedContainer(keyedBy: Encoded.Keys.self)
      try inner.encode(Double.nan, forKey: .b)
    }
    let error = #expect(throws: JSONEncodingError.self) { try JSONEncoding.fast.encode(["x": body]) }
    #expect(error?.path == "x.a[1].b")
    let payload = #expect(throws: JSONEncodingError.self) {
      try JSONEncoding.fast.encode([Encoded.Shape.circle(radius: .nan)])
    }
    #expect(payload?.path == "[0].circle.radius")
    let value = #expect(throws: JSONEncodingError.self) {
      try JSONEncoding.fast.encode(["x": ["a": [1, .number(.nan)]] as JSONValue])
    }
    #expect(value?.path == "x.a[1]")
  }

  @Test func `kept encoder fails safely`() throws {
    final class Keeper: Encodable, @unchecked Sendable {  // used by one test on one thread
      var kept: (any Encoder)?

      func encode(to encoder: any Encoder) throws {
        kept = encoder
        try [1, 2].encode(to: encoder)
      }
    }
    let (fast, keeper) = (JSONEncoding.fast(), Keeper())
    #expect(try fast.encode(["a": keeper]) == Data(#"{"a":[1,2]}"#.utf8))
    let kept = try #require(keeper.kept)
    #expect(kept.codingPath.isEmpty)
    #expect(throws: (any Error).self) { try 5.encode(to: kept) }
    var list = kept.unkeyedContainer()
    #expect(throws: (any Error).self) { try list.encode(1) }
    #expect(try fast.encode(["a": 1]) == Data(#"{"a":1}"#.utf8))
  }

  @Test func `one encoding works in concurrent tasks`() async throws {
    let fast = JSONEncoding.fast(keys: .convertToSnakeCase)
    let people = (0..<40).map { Encoded.Person(age: $0, friends: (0..<$0 % 5).map { Encoded.Person(age: $0) }) }
    let due = try people.map { try fast.encode($0) }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<16 {
        group.addTask {
          try people.indices.allSatisfy { index in
            let place = (index + task) % people.count
            return try fast.encode(people[place]) == due[place]
          }
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
  }

  @Test func `encoding can be nested`() async throws {
    struct Outer: Encodable, Sendable {
      var depth: Int

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard depth > 0 else { return try container.encode("end") }
        let inner = try JSONEncoding.fast.encode([Outer(depth: depth - 1)])
        try container.encode([String(decoding: inner, as: UTF8.self)])
      }
    }
    let once = try JSONEncoding.fast.encode(Outer(depth: 4))
    await withTaskGroup(of: Data?.self) { group in
      for _ in 0..<16 { group.addTask { try? JSONEncoding.fast.encode(Outer(depth: 4)) } }
      for await text in group { #expect(text == once) }
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func `random values survive a round trip`(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let fast = JSONEncoding.fast()
    for _ in 0..<(isSanitized ? 50 : 400) {
      let tree = Tree(&random, depth: 0)
      let text = try fast.encode(tree)
      #expect(try JSONDecoder().decode(Tree.self, from: text) == tree)
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func `random doubles match JSONEncoder's text`(seed: UInt64)
    throws
  {
    var random = SeededNumbers(seed: seed)
    let numbers = (0..<(isSanitized ? 500 : 5_000)).map { _ in Tree.number(&random) }
    #expect(try JSONEncoding.fast.encode(numbers) == JSONEncoder().encode(numbers))
  }
}
