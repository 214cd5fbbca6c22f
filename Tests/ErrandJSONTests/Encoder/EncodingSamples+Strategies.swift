@testable import ErrandJSON
import Foundation

extension EncodingSample {
  private struct Dated: Encodable, Sendable {
    var createdAt = Date(timeIntervalSince1970: 1_763_740_800.25), all = [Date(timeIntervalSince1970: -1.5)]
    var named = ["epoch": Date(timeIntervalSince1970: 0)], none: Date?
  }

  private struct Blob: Encodable, Sendable {
    var bytes = Data([0, 1, 254, 255, 63]), none = Data(), list = [Data("a/b?c>".utf8)]
  }

  private struct Named: Encodable, Sendable {
    var someURLName = 1, anotherName = ["innerKey": ["deepKey": Encoded.Person()]], ID = 2, aB1Cd = 3, _x = 4
    var people = [Encoded.Person()], named = [Encoded.Name.firstName: 1], numbers = [1: 2]
  }

  static let strategies: [EncodingSample] = [
    EncodingSample("dates as they encode themselves", Dated()),
    EncodingSample("seconds", Dated()) { $0.dateEncodingStrategy = .secondsSince1970 },
    EncodingSample("milliseconds", Dated()) { $0.dateEncodingStrategy = .millisecondsSince1970 },
    EncodingSample("ISO 8601", Dated()) { $0.dateEncodingStrategy = .iso8601 },
    EncodingSample("ISO 8601 at the top", Date(timeIntervalSince1970: 0)) { $0.dateEncodingStrategy = .iso8601 },
    EncodingSample(
      "ISO 8601 at the bounds",
      [-12_219_292_801, -12_219_292_800, -0.5, 0.999, 951_782_400, 253_402_300_799.9, 253_402_300_800, 1e12]
        .map { Date(timeIntervalSince1970: $0) }
    ) { $0.dateEncodingStrategy = .iso8601 },
    EncodingSample(
      "ISO 8601 through the years", (0..<3_000).map { Date(timeIntervalSince1970: Double($0) * 86_400 * 97.3 - 1e10) }
    ) { $0.dateEncodingStrategy = .iso8601 },
    EncodingSample("dates by a closure", Dated()) {
      $0.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.container(keyedBy: Encoded.Keys.self)
        try container.encode(date.timeIntervalSince1970, forKey: .a)
        try container.encode(encoder.codingPath.count, forKey: .b)
      }
    },
    EncodingSample("dates that are not written", Dated()) { $0.dateEncodingStrategy = .custom { _, _ in } },
    EncodingSample("a date that is not written at the top", Date()) { $0.dateEncodingStrategy = .custom { _, _ in } },
    EncodingSample("data in Base64", Blob()),
    EncodingSample("data as it encodes itself", Blob()) { $0.dataEncodingStrategy = .deferredToData },
    EncodingSample("data by a closure", Blob()) {
      $0.dataEncodingStrategy = .custom { data, encoder in try data.count.encode(to: encoder) }
    },
    EncodingSample("snake case", Named()) { $0.keyEncodingStrategy = .convertToSnakeCase },
    EncodingSample(
      "snake case in nested containers",
      Encoded.object { container in
        var inner = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .someURLName)
        try inner.encode(1, forKey: .someURLName)
      }
    ) { $0.keyEncodingStrategy = .convertToSnakeCase },
    EncodingSample("snake case of a superclass", Encoded.Cat()) { $0.keyEncodingStrategy = .convertToSnakeCase },
    EncodingSample(
      "keys that become the same",
      Encoded.By { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: AnyKey("aB"))
        try container.encode(2, forKey: AnyKey("a_b"))
      }, isHandedOver: true
    ) { $0.keyEncodingStrategy = .convertToSnakeCase },
    EncodingSample("keys by a closure", Encoded.Person(friends: [Encoded.Person()])) {
      $0.keyEncodingStrategy = .custom { path in AnyKey(path.map(\.stringValue).joined(separator: ".")) }
    },
    EncodingSample("dictionaries with keys by a closure", ["a": ["b": 1]]) {
      $0.keyEncodingStrategy = .custom { _ in AnyKey("x") }
    },
    EncodingSample("infinite numbers as strings", [Double.infinity, -.infinity, .nan, 1]) {
      $0.nonConformingFloatEncodingStrategy = words
    },
    EncodingSample("floats as strings", ["a": Float.nan]) { $0.nonConformingFloatEncodingStrategy = words },
    EncodingSample("infinite dates as strings", [Date(timeIntervalSinceReferenceDate: .infinity)]) {
      $0.nonConformingFloatEncodingStrategy = words
    },
  ]

  private static let words = JSONEncoder.NonConformingFloatEncodingStrategy.convertToString(
    positiveInfinity: "+∞", negativeInfinity: "-∞", nan: "NaN")

  /// Values for which both encoders throw the same error with the same path.
  static let refusals: [EncodingSample] = [
    EncodingSample("nan at the top", Double.nan), EncodingSample("an infinite float", Float.infinity),
    EncodingSample("nan in an array", ["a": [1.0, .nan]]), EncodingSample("nan in arrays", [[1.0], [2, -.infinity]]),
    EncodingSample("nan in a float array", [Float(1), .nan]), EncodingSample("nan in a dictionary", ["5": Double.nan]),
    EncodingSample("nan in a dictionary, by strategy", ["5": Double.nan]) {
      $0.keyEncodingStrategy = .convertToSnakeCase
    },
    EncodingSample("nan in a struct", Encoded.Person(friends: [.init(), .init(height: .nan)])),
    EncodingSample("nan in a single value", Encoded.single { try $0.encode(Double.nan) }),
    EncodingSample(
      "nan as an element",
      Encoded.array { container in
        try container.encode(1)
        try container.encode(Double.nan)
      }),
    EncodingSample("an infinite date", ["x": [Date(timeIntervalSince1970: .infinity)]]),
    EncodingSample("infinite seconds", ["x": Date(timeIntervalSince1970: .infinity)]) {
      $0.dateEncodingStrategy = .secondsSince1970
      $0.nonConformingFloatEncodingStrategy = words
    },
    EncodingSample("infinite milliseconds", ["x": Date(timeIntervalSince1970: .infinity)]) {
      $0.dateEncodingStrategy = .millisecondsSince1970
    },
    EncodingSample("nothing at the top", Encoded.nothing), EncodingSample("a type's own error", Encoded.broken),
    EncodingSample("a type's own error inside", [["a": Encoded.broken]]),
    EncodingSample("a strategy's own error", [Date()]) {
      $0.dateEncodingStrategy = .custom { _, _ in throw Encoded.Refusal() }
    },
  ]
}
