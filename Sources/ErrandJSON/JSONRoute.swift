import Foundation

/// The steps through a document that a decoder follows to the value to decode.
struct JSONRoute {
  /// The steps, after the decoder's key strategy has converted the keys.
  let steps: [JSONPath.Step]
  /// Records where decoding fails; nil while no diagnosis is needed.
  var trace: JSONTrace?

  /// The steps as coding keys.
  var codingKeys: [any CodingKey] {
    steps.map { step in
      switch step {
      case .key(let name): AnyKey(name)
      case .index(let index): AnyKey(intValue: index)
      }
    }
  }

  /// Follows the steps from the root and decodes the value at the last step.
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
      return try container.superDecoder(forKey: key)  // for a missing key, this decoder reads null
    case .index(let index):
      var container = try decoder.unkeyedContainer()
      while !container.isAtEnd, container.currentIndex < index { _ = try container.decode(Skipped.self) }
      guard !container.isAtEnd else { throw missing(AnyKey(intValue: index), below: decoder.codingPath) }
      return try container.superDecoder()
    }
  }

  private static func missing(_ key: AnyKey, below path: [any CodingKey]) -> DecodingError {
    .keyNotFound(
      key, DecodingError.Context(codingPath: path, debugDescription: "The document has no value at this path."))
  }
}

/// A wrapper type that decodes the value at the end of a ``JSONRoute``.
struct RoutedValue<T: Decodable>: DecodableWithConfiguration {
  /// The route, and the requested type, which may be a subclass of `T`.
  struct DecodingConfiguration {
    let route: JSONRoute
    let type: T.Type
  }

  let value: T

  init(from decoder: any Decoder, configuration: DecodingConfiguration) throws {
    value = try configuration.route.decode(configuration.type, from: decoder)
  }
}

/// Skips an array element without reading it.
private struct Skipped: Decodable {
  init(from decoder: any Decoder) {}
}

/// Marks `Optional`: an optional type reads as nil if its value is missing.
private protocol MissingReadsAsNil {}
extension Optional: MissingReadsAsNil {}

/// A coding key that is created at run time: the name of a member or the index of an element.
struct AnyKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(stringValue: String) { self.init(stringValue) }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }
}
