import BenchHarness
import Errand
import Foundation

/// bench-json ROUNDS: typed values, any values and shapes read from JSON, by this library and by Foundation.
///
/// All are measured in turns in one process, CPU time alone, and the least of the rounds counts: load by others only adds.
/// Prints one JSON line with the microseconds of each. In a debug build the names begin with `debug-`.
///
///     TEXT-foundation      JSONDecoder
///     TEXT-own             JSONDecoding.fast
///     TEXT-tree            JSONSerialization; TEXT-value: JSONValue
///     TEXT-parse           grammar alone, judged by this library
///     TEXT-shape           a shape checked, parse included
///     TEXT-hand            the structs made of a JSONValue without Decodable, parse included
///
/// TEXT is 200b (8 fields), 10k (68 times 7 fields), posts (half a megabyte of strings, optionals and nesting) or map (two
/// megabytes of doubles).
@main struct JSONBenchmark {
  static func main() {
    guard CommandLine.arguments.count == 2, let rounds = Int(CommandLine.arguments[1]), rounds > 0 else {
      Benchmark.fail("usage: bench-json ROUNDS", status: 64)
    }
    do {
      print(try line(of: run(rounds)))
    } catch {
      Benchmark.fail("bench-json: \(error)", status: 1)
    }
  }

  private static func run(_ rounds: Int) throws -> [JSONMeasure] {
    var measures = typed + shaped + untyped
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

  // MARK: - What is measured

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
    return [
      JSONMeasure("10k-parse", of: JSONTexts.people) { try JSONDecoding.fast.decode(Judged.self, from: $0).size },
      JSONMeasure("10k-shape", of: JSONTexts.people) {
        try shape.check(data: $0)
        return 1
      },
      JSONMeasure("10k-hand", of: JSONTexts.people) {
        try JSONValue(parsing: $0).arrayValue?.compactMap { Person($0) }.count ?? 0
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
}

/// Reads nothing, so that only the text is judged.
private struct Judged: Decodable {
  let size = 1
  init(from decoder: any Decoder) {}
}

extension Person {
  /// Made by hand; nil where a field is missing or of another type.
  fileprivate init?(_ value: JSONValue) {
    guard let id = value["id"]?.intValue, let name = value["name"]?.stringValue,
      let email = value["email"]?.stringValue, let age = value["age"]?.intValue,
      let score = value["score"]?.doubleValue, let active = value["active"]?.boolValue,
      let city = value["city"]?.stringValue
    else { return nil }
    self.init(id: id, name: name, email: email, age: age, score: score, active: active, city: city)
  }
}
