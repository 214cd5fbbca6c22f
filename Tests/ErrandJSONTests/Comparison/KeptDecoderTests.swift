import ErrandSupport
import Dispatch
import ErrandJSON
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Tests decoders and containers that are used after the decoding has ended.
struct KeptDecoderTests {
  /// A value that keeps its decoder, and the results of reading from it during the decoding.
  struct Kept: Decodable, @unchecked Sendable {  // shared on purpose: the tests check that sharing is safe
    let decoder: any Decoder
    let object: KeyedDecodingContainer<JSONName>?
    let list: (any UnkeyedDecodingContainer)?
    let inTime: [String]

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
      object = try? decoder.container(keyedBy: JSONName.self)
      list = try? decoder.unkeyedContainer()
      inTime = Self.lines(of: decoder) + Self.lines(of: object, list)
    }

    /// The results of reading from the decoder now.
    var lines: [String] { Self.lines(of: decoder) + containerLines }
    var containerLines: [String] { Self.lines(of: object, list) }

    private static func lines(of decoder: any Decoder) -> [String] {
      var notes = JSONNotes()
      notes.note(decoder.codingPath)
      notes.attempt { try decoder.singleValueContainer().decodeNil() }
      notes.attempt { try Int(from: decoder) }
      notes.attempt { try [String](from: decoder) }
      notes.attempt { try decoder.container(keyedBy: JSONName.self).decode(Int.self, forKey: "a") }
      return notes.lines
    }

    private static func lines(
      of object: KeyedDecodingContainer<JSONName>?, _ list: (any UnkeyedDecodingContainer)?
    ) -> [String] {
      var notes = JSONNotes()
      if let object {
        notes.note(object)
        for key in ["a", "z", "list", "b", "a", "nope"] as [JSONName] {
          notes.attempt { try object.decode(Int.self, forKey: key) }
          notes.attempt { try object.decode([Int].self, forKey: key) }
          notes.attempt { try object.decodeIfPresent(String.self, forKey: key) }
          notes.attempt { try object.superDecoder(forKey: key).singleValueContainer().decodeNil() }
        }
      }
      if var list {
        notes.note(list)
        notes.attempt { try list.decode([Int].self) }
        notes.attempt { try list.decode(String.self) }
        notes.attempt { try list.superDecoder().codingPath.count }
      }
      return notes.lines
    }
  }

  static let manyKeys = "{\((0..<100).map { "\"k\($0)\":\($0)," }.joined())\"a\":5}"
  static let texts = [
    #"{"a":1,"b":"x","list":[1,2,3],"z":null}"#, #"{"z":{},"list":[],"b":2,"a":"y","a":3}"#, "[[1],2]", "[\"a\",\"b\"]",
    "7",
    "null", manyKeys, #"{"\u0061":9,"b":"\n"}"#,
  ]

  @Test(arguments: texts) func `kept containers can be read later`(text: String) {
    let snake: (JSONDecoder) -> Void = { $0.keyDecodingStrategy = .convertFromSnakeCase }
    expectSame(Kept.self, text, seenAs: \.containerLines)
    expectSame([Kept].self, "[\(text),\(text)]") { $0.map(\.containerLines) }
    expectSame([String: Kept].self, "{\"a\":\(text),\"b c\":\(text)}") { $0.mapValues(\.containerLines) }
    expectSame([Kept].self, "[\(text)]", by: snake) { $0.map(\.containerLines) }
    expectSame([Kept].self, "[\(text)]") { $0.map(\.inTime) }
  }

  /// There is no comparison with Foundation's decoder, which shows the whole document after its decoding has ended.
  @Test(arguments: texts) func `kept decoders keep their coding path`(text: String) throws {
    let kept = try JSONDecoding.fast.decode([String: [Kept]].self, from: Data("{\"up\":[\(text),\(text)]}".utf8))["up"]
    #expect(kept?.count == 2)
    for one in kept ?? [] { #expect(one.lines == one.inTime) }
  }

  @Test func `kept decoders survive later decodings`() throws {
    var kept: [Kept] = []
    for round in 0..<200 {
      let text = Self.texts[round % Self.texts.count]
      kept += try JSONDecoding.fast.decode([Kept].self, from: Data("[\(text)]".utf8))
    }
    for one in kept { #expect(one.lines == one.inTime) }
  }

  @Test(arguments: texts) func `kept decoders are thread-safe`(text: String) throws {
    let all = try JSONDecoding.fast.decode([String: [Kept]].self, from: Data("{\"up\":[\(text)]}".utf8))
    let kept = try #require(all["up"]?.first)
    let wrong = Locked(0)
    // Threads run in parallel, which tasks may not do.
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<(isSanitized ? 10 : 50) where kept.lines != kept.inTime { wrong.withLock { $0 += 1 } }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func `kept decoders work in concurrent tasks`() async throws {
    let data = Data("[\(Self.texts.joined(separator: ","))]".utf8)
    let kept = try JSONDecoding.fast.decode([Kept].self, from: data)
    let due = kept.map(\.inTime)
    await withTaskGroup(of: [[String]].self) { group in
      for _ in 0..<16 { group.addTask { kept.map(\.lines) } }
      for await lines in group { #expect(lines == due) }
    }
  }

  @Test func `one decoding is thread-safe`() throws {
    struct Item: Decodable, Equatable, Sendable { let value: Int }
    struct Page: Decodable, Equatable, Sendable { let items: [Item], names: [String: [String]], at: Date? }
    let text = Data(#"{"items":[{"value":1},{"value":2}],"names":{"a b":["x","\n"]},"at":"2020-01-01T00:00:00Z"}"#.utf8)
    let decoding = JSONDecoding.fast(dates: .iso8601, keys: .convertFromSnakeCase)
    let due = try JSONDecoding(dates: .iso8601, keys: .convertFromSnakeCase).decode(Page.self, from: text)
    let wrong = Locked(0)
    // Threads run in parallel, which tasks may not do.
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<(isSanitized ? 20 : 100) {
        let isRight = (try? decoding.decode(Page.self, from: text)) == due
        let fails = (try? decoding.decode([Page].self, from: text)) == nil
        if !isRight || !fails { wrong.withLock { $0 += 1 } }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func `decoding can be nested`() throws {
    struct Packed: Decodable, Equatable {
      let inner: [Int]
      init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        inner = try JSONDecoding.fast.decode([Int].self, from: Data(text.utf8))
      }
    }
    let text = Data(#"{"a":["[1,2]","[3]"],"b":["[]"]}"#.utf8)
    let packed = try JSONDecoding.fast.decode([String: [Packed]].self, from: text)
    #expect(packed["a"]?.map(\.inner) == [[1, 2], [3]] && packed["b"]?.map(\.inner) == [[]])
    let error = #expect(throws: JSONDecodingError.self) {
      try JSONDecoding.fast.decode([Packed].self, from: Data(#"["[1]","[1,]"]"#.utf8))
    }
    #expect(error?.kind == .other && error?.path == "[1]" && error?.underlying is JSONDecodingError)
  }

  @Test func `kept object is read in any order`() async throws {
    struct Inner: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) throws { self.decoder = decoder }
    }
    let members = (0..<50).map { "\"k\($0)\":[\($0),\"\($0)\"]" }
    let text = Data("{\(members.joined(separator: ","))}".utf8)
    let decoder = try JSONDecoding.fast.decode(Inner.self, from: text).decoder
    let source = SharedDecoder(decoder)
    await withTaskGroup { tasks in
      for start in 0..<8 {
        tasks.addTask { source.sum(from: start) }
      }
      for await sum in tasks { #expect(sum == 1_225) }
    }
  }

  /// One decoder for several tasks.
  private struct SharedDecoder: @unchecked Sendable {  // shared on purpose: the test checks that sharing is safe
    private let decoder: any Decoder

    init(_ decoder: any Decoder) { self.decoder = decoder }

    /// The sum of the first elements of all keys, read in an order that depends on `start`; -1 if one is missing.
    func sum(from start: Int) -> Int {
      (0..<50).reduce(0) { sum, step in
        let key = JSONName("k\((step * 7 + start) % 50)")
        guard let object = try? decoder.container(keyedBy: JSONName.self),
          var list = try? object.nestedUnkeyedContainer(forKey: key), let number = try? list.decode(Int.self)
        else { return -1 }
        return sum + number
      }
    }
  }
}
