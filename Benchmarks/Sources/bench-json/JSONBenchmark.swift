import BenchHarness
import Errand
import Foundation

/// bench-json ROUNDS: typed values, dynamic values and shapes decoded from JSON, by this library and by Foundation.
/// bench-json texts FOLDER: writes each text as TEXT.json, so that programs in other languages can read the same texts.
///
/// All operations are measured in turn in one process. Only CPU time counts, and the minimum of the rounds is taken,
/// because other load on the machine only adds time. Prints one JSON line with the microseconds of each operation. In a
/// debug build the names begin with `debug-`.
///
///     TEXT-foundation      JSONDecoder
///     TEXT-own             JSONDecoding.fast
///     TEXT-tree            JSONSerialization; TEXT-value: JSONValue
///     TEXT-parse           the syntax check of this library
///     TEXT-shape           a shape check, including the parse
///     TEXT-readable        structs that decode themselves from a JSONValue (JSONReadable), including the parse
///     TEXT-write-foundation, TEXT-write-own   the structs encoded by JSONEncoder, and by JSONEncoding.fast
///     TEXT-write-unsorted  the structs encoded by JSONEncoding.fast(sortedKeys: false)
///
/// TEXT is 200b (8 fields), 10k (68 times 7 fields), posts (half a megabyte of strings, optionals and nesting) or map
/// (two megabytes of doubles).
@main struct JSONBenchmark {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    do {
      if arguments.count == 2, arguments.first == "texts", let folder = arguments.last {
        try write(into: URL(filePath: folder))
      } else if arguments.count == 1, let rounds = arguments.first.flatMap({ Int($0) }), rounds > 0 {
        print(try line(of: run(rounds)))
      } else {
        Benchmark.fail("usage: bench-json ROUNDS, or bench-json texts FOLDER", status: 64)
      }
    } catch {
      Benchmark.fail("bench-json: \(error)", status: 1)
    }
  }

  private static func write(into folder: URL) throws {
    for (name, text) in JSONTexts.all { try text.write(to: folder.appending(path: "\(name).json")) }
  }

  private static func run(_ rounds: Int) throws -> [JSONMeasure] {
    var measures = try typed + shaped + untyped + written
    for _ in 0..<rounds {
      for index in measures.indices { try measures[index].run() }
    }
    return measures
  }

  private static func line(of measures: [JSONMeasure]) throws -> String {
    #if DEBUG
      let build = "debug-"
    #else
      let build = ""
    #endif
    let figures = measures.map { "\"\(build)\($0.name)\":\(String(format: "%.3f", $0.microseconds))" }
    return "{\"cpu_us\":{\(figures.joined(separator: ","))}}"
  }

  // MARK: - Measurements

  private static var typed: [JSONMeasure] {
    both("200b", JSONTexts.account, Account.self, \.id) + both("10k", JSONTexts.people, [Person].self, \.count)
      + both("posts", JSONTexts.posts, [Post].self, \.count) + both("map", JSONTexts.map, Map.self, \.features.count)
  }

  private static func both<Value: Decodable>(
    _ name: String, _ text: Data, _ type: Value.Type, _ size: @escaping (Value) -> Int
  ) -> [JSONMeasure] {
    let decoder = JSONDecoder()
    return [
      JSONMeasure("\(name)-foundation", of: text) { size(try decoder.decode(type, from: $0)) },
      JSONMeasure("\(name)-own", of: text) { size(try JSONDecoding.fast.decode(type, from: $0)) },
    ]
  }

  private static var shaped: [JSONMeasure] {
    let shape: JSONShape = [
      [
        "id": .integer, "name": .string, "email": .string, "age": .integer, "score": .number, "active": .bool,
        "city": .string,
      ]
    ]
    let parses = JSONTexts.all.map { name, text in
      JSONMeasure("\(name)-parse", of: text) { try JSONDecoding.fast.decode(Judged.self, from: $0).size }
    }
    return parses + [
      JSONMeasure("10k-shape", of: JSONTexts.people) {
        try shape.check(data: $0)
        return 1
      },
      JSONMeasure("10k-readable", of: JSONTexts.people) {
        try JSONDecoding.standard.decode([ReadablePerson].self, from: $0).count
      },
    ]
  }

  private static var untyped: [JSONMeasure] {
    [("10k", JSONTexts.people), ("posts", JSONTexts.posts), ("map", JSONTexts.map)].flatMap { name, text in
      [
        JSONMeasure("\(name)-tree", of: text) {
          let tree = try JSONSerialization.jsonObject(with: $0)
          return (tree as? [Any])?.count ?? (tree as? [String: Any])?.count ?? 0
        },
        JSONMeasure("\(name)-value", of: text) {
          let value = try JSONValue(parsing: $0)
          return value.arrayValue?.count ?? value.objectValue?.count ?? 0
        },
      ]
    }
  }

  private static var written: [JSONMeasure] {
    get throws {
      try bothWritten("200b", JSONTexts.account, Account.self) + bothWritten("10k", JSONTexts.people, [Person].self)
        + bothWritten("posts", JSONTexts.posts, [Post].self)
    }
  }

  private static func bothWritten<Value: Codable & Sendable>(
    _ name: String, _ text: Data, _ type: Value.Type
  ) throws -> [JSONMeasure] {
    let value = try JSONDecoding.fast.decode(type, from: text)
    let (encoder, unsorted) = (JSONEncoder(), JSONEncoding.fast(sortedKeys: false))
    return [
      JSONMeasure("\(name)-write-foundation", of: text) { _ in try encoder.encode(value).count },
      JSONMeasure("\(name)-write-own", of: text) { _ in try JSONEncoding.fast.encode(value).count },
      JSONMeasure("\(name)-write-unsorted", of: text) { _ in try unsorted.encode(value).count },
    ]
  }
}

/// Decodes nothing, so that only the text is validated.
private struct Judged: Decodable {
  let size = 1
  init(from decoder: any Decoder) {}
}

/// A ``Person`` that decodes itself from a JSON value.
private struct ReadablePerson: JSONReadable {
  let id: Int
  let name: String
  let email: String
  let age: Int
  let score: Double
  let active: Bool
  let city: String

  init(json: JSONValue) throws {
    id = try json.read("id")
    name = try json.read("name")
    email = try json.read("email")
    age = try json.read("age")
    score = try json.read("score")
    active = try json.read("active")
    city = try json.read("city")
  }
}
