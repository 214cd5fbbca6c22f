import Dispatch
import ErrandJSON
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Decoders and containers that live longer than the decoding.
@Suite struct KeptDecoderTests {
  /// Keeps what it was decoded from.
  struct Kept: Decodable, @unchecked Sendable {  // shared on purpose: that is what is tested
    let decoder: any Decoder
    let object: KeyedDecodingContainer<JSONName>?

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
      object = try? decoder.container(keyedBy: JSONName.self)
    }

    /// What can be read of it, line by line.
    var lines: [String] {
      var notes = JSONNotes()
      notes.note(decoder.codingPath)
      notes.attempt { try Int(from: decoder) }
      notes.attempt { try [String](from: decoder) }
      notes.attempt { try [String: Int](from: decoder).count }
      if let object {
        notes.note(object)
        for key in ["a", "z", "list", "b", "a", "nope"] as [JSONName] {
          notes.attempt { try object.decode(Int.self, forKey: key) }
          notes.attempt { try object.decode([Int].self, forKey: key) }
          notes.attempt { try object.decodeIfPresent(String.self, forKey: key) }
          notes.attempt { try object.superDecoder(forKey: key).singleValueContainer().decodeNil() }
        }
      }
      notes.attempt {
        var list = try decoder.unkeyedContainer()
        return try list.nestedUnkeyedContainer().codingPath.count
      }
      return notes.lines
    }
  }

  static let crowd = "{\((0..<100).map { "\"k\($0)\":\($0)," }.joined())\"a\":5}"
  static let texts = [
    #"{"a":1,"b":"x","list":[1,2,3],"z":null}"#, #"{"z":{},"list":[],"b":2,"a":"y","a":3}"#, "[[1],2]", "[\"a\",\"b\"]",
    "7",
    "null", crowd, #"{"\u0061":9,"b":"\n"}"#,
  ]

  @Test(arguments: texts) func `a kept decoder reads on`(text: String) {
    expectSame(Kept.self, text, seenAs: \.lines)
    expectSame([Kept].self, "[\(text),\(text)]") { $0.map(\.lines) }
    expectSame([String: Kept].self, "{\"a\":\(text),\"b c\":\(text)}") { $0.mapValues(\.lines) }
    let snake: (JSONDecoder) -> Void = { $0.keyDecodingStrategy = .convertFromSnakeCase }
    expectSame([Kept].self, "[\(text)]", by: snake) { $0.map(\.lines) }
  }

  @Test func `kept decoders outlive others`() throws {
    var kept: [Kept] = []
    for round in 0..<200 {
      let text = Self.texts[round % Self.texts.count]
      kept += try JSONDecoding.fast.decode([Kept].self, from: Data("[\(text)]".utf8))
    }
    for (round, one) in kept.enumerated() {
      let text = Self.texts[round % Self.texts.count]
      let due = try JSONDecoder().decode([Kept].self, from: Data("[\(text)]".utf8))
      #expect(one.lines == due[0].lines)
    }
  }

  @Test(arguments: texts) func `kept decoders serve many threads`(text: String) throws {
    let data = Data("{\"up\":[\(text)]}".utf8)
    let due = try #require(try JSONDecoder().decode([String: [Kept]].self, from: data)["up"]?.first).lines
    let kept = try #require(try JSONDecoding.fast.decode([String: [Kept]].self, from: data)["up"]?.first)
    let wrong = Mutex(0)
    // Threads that really run at once, as tasks need not.
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<(isSanitized ? 10 : 50) where kept.lines != due { wrong.withLock { $0 += 1 } }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func `kept decoders serve many tasks`() async throws {
    let data = Data("[\(Self.texts.joined(separator: ","))]".utf8)
    let due = try JSONDecoder().decode([Kept].self, from: data).map(\.lines)
    let kept = try JSONDecoding.fast.decode([Kept].self, from: data)
    await withTaskGroup(of: [[String]].self) { group in
      for _ in 0..<16 { group.addTask { kept.map(\.lines) } }
      for await lines in group { #expect(lines == due) }
    }
  }

  @Test func `one decoding serves many threads`() throws {
    struct Item: Decodable, Equatable, Sendable { let value: Int }
    struct Page: Decodable, Equatable, Sendable { let items: [Item], names: [String: [String]], at: Date? }
    let text = Data(#"{"items":[{"value":1},{"value":2}],"names":{"a b":["x","\n"]},"at":"2020-01-01T00:00:00Z"}"#.utf8)
    let decoding = JSONDecoding.fast(dates: .iso8601, keys: .convertFromSnakeCase)
    let due = try JSONDecoding(dates: .iso8601, keys: .convertFromSnakeCase).decode(Page.self, from: text)
    let wrong = Mutex(0)
    // Threads that really run at once, as tasks need not.
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<(isSanitized ? 20 : 100) {
        let isRight = (try? decoding.decode(Page.self, from: text)) == due
        let fails = (try? decoding.decode([Page].self, from: text)) == nil
        if !isRight || !fails { wrong.withLock { $0 += 1 } }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func `decoding may happen inside decoding`() throws {
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
}
