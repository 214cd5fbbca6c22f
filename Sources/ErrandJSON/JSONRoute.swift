import Foundation

/// The way through a document to the value that is to be decoded.
struct JSONRoute {
  /// The steps, keys as the decoder shows them.
  let steps: [JSONPath.Step]
  /// Notes where decoding fails, if anyone wants to know.
  var trace: JSONTrace?

  /// Walks from the root and decodes what lies at the end.
  func decode<T: Decodable>(_ type: T.Type, from root: any Decoder) throws -> T {
    var here = root
    for (number, step) in steps.enumerated() {
      let mayBeMissing = number == steps.count - 1 && type is any MissingReadsAsNil.Type
      here = try Self.follow(step, from: here, mayBeMissing: mayBeMissing)
    }
    guard let trace else { return try here.singleValueContainer().decode(type) }
    return try TracingDecoder(here, trace).singleValueContainer().decode(type)
  }

  private static func follow(
    _ step: JSONPath.Step, from decoder: any Decoder, mayBeMissing: Bool
  ) throws -> any Decoder {
    switch step {
    case .key(let name):
      let container = try decoder.container(keyedBy: AnyKey.self)
      let key = AnyKey(name)
      guard mayBeMissing || container.contains(key) else { throw missing(key, below: decoder.codingPath) }
      return try container.superDecoder(forKey: key)  // of a missing key: a decoder on null
    case .index(let index):
      var container = try decoder.unkeyedContainer()
      while !container.isAtEnd, container.currentIndex < index { _ = try container.decode(Skipped.self) }
      guard !container.isAtEnd else { throw missing(AnyKey(intValue: index), below: decoder.codingPath) }
      return try container.superDecoder()
    }
  }

  private static func missing(_ key: AnyKey, below path: [any CodingKey]) -> DecodingError {
    .keyNotFound(key, DecodingError.Context(codingPath: path, debugDescription: "There is no such place."))
  }
}

/// A value at the end of a route.
struct Located<T: Decodable>: DecodableWithConfiguration {
  /// The way, and the type that is asked for: of a class it may be one below `T`.
  struct Goal {
    let route: JSONRoute
    let type: T.Type
  }

  let value: T

  init(from decoder: any Decoder, configuration: Goal) throws {
    value = try configuration.route.decode(configuration.type, from: decoder)
  }
}

/// An element that is passed over.
private struct Skipped: Decodable {
  init(from decoder: any Decoder) {}
}

/// Marks `Optional`, the type that can stand for a value that is not there.
private protocol MissingReadsAsNil {}
extension Optional: MissingReadsAsNil {}
