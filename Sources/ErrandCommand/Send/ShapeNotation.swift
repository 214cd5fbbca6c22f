import Errand
import ErrandJSON
import Foundation

/// Parses the value of `--shape`: a JSON text that looks like the expected response, with types in place of values.
///
/// ```
/// {"nick": "string", "tags": ["string"], "age": "integer?", "kind": "=a|=b", "home|null?": {"city": "string"}}
/// ```
///
/// - A JSON string contains alternatives, separated by `|`. Each alternative is a type or a constant. The types are
///   `string`, `number`, `integer`, `bool`, `null`, `any`, `array` and `object`. Constants are `=a` or `"a"` for the
///   text a, `3` for the number 3, and `true` for the Boolean true.
/// - `?` at the end of a JSON string means that the key may be missing.
/// - An object or an array cannot contain these marks. So `|null` and `?` are at the end of the key. A key that itself
///   ends in a question mark is written with `??`.
/// - An array contains the shape of every element; several shapes are alternatives. An empty array allows any elements.
/// - A number, `true`, `false` or `null` that is not in a JSON string matches only the same value.
enum ShapeNotation {
  /// The reason why a text is not a shape: the path of the wrong value, the mistake and the cure.
  struct Failure: Error, Equatable, CustomStringConvertible {
    let path: JSONPath
    let reason: String
    var description: String { path == .root ? reason : "at \(path): \(reason)" }
  }

  private struct Reading {
    var shape: JSONShape
    var isOptional = false
    /// The shape that was read. If the key may be missing, the result is an optional shape.
    var whole: JSONShape { isOptional ? .optional(shape) : shape }
  }

  /// Parses the notation of a shape, such as `{"nick": "string"}`.
  static func shape(of text: String) throws(Failure) -> JSONShape {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: Data(text.utf8))
    } catch {
      throw Failure(path: .root, reason: #"the shape must be JSON, such as {"nick": "string"}, but \#(error.clause)"#)
    }
    return try read(value, at: .root).whole
  }

  private static func read(_ value: JSONValue, at path: JSONPath) throws(Failure) -> Reading {
    switch value.content {
    case .string(let text): return try alternatives(text, at: path)
    case .array(let elements): return Reading(shape: try array(elements, at: path))
    case .object(let members): return Reading(shape: try object(members, at: path))
    case .null: return Reading(shape: .null)
    case .bool, .integer, .unsigned, .number: return Reading(shape: .oneOf(value))
    }
  }

  private static func array(_ elements: [JSONValue], at path: JSONPath) throws(Failure) -> JSONShape {
    var shapes: [JSONShape] = []
    for (index, element) in elements.enumerated() {
      let place = path.appending(index: index)
      let reading = try read(element, at: place)
      guard !reading.isOptional else {
        throw Failure(
          path: place,
          reason: "? means that a key may be missing, and elements have no key; write |null if an element may be null"
        )
      }
      shapes.append(reading.shape)
    }
    return .array(of: shapes.isEmpty ? .any : union(shapes))
  }

  private static func object(_ members: [String: JSONValue], at path: JSONPath) throws(Failure) -> JSONShape {
    var fields: [String: JSONShape] = [:]
    for (written, value) in members.sorted(by: { $0.key < $1.key }) {
      let (key, isNullable, isOptional) = marks(of: written)
      let place = path.appending(key: key)
      var reading = try read(value, at: place)
      if isNullable { reading.shape = .nullable(reading.shape) }
      reading.isOptional = reading.isOptional || isOptional
      guard fields.updateValue(reading.whole, forKey: key) == nil else {
        throw Failure(path: place, reason: "the key is given twice; remove one of the two members")
      }
    }
    return .object(fields)
  }

  /// Separates a key from the marks `|null` and `?` at its end.
  private static func marks(of written: String) -> (key: String, isNullable: Bool, isOptional: Bool) {
    if written.hasSuffix("??") { return (String(written.dropLast()), false, false) }
    let isOptional = written.hasSuffix("?")
    let key = isOptional ? written.dropLast() : written[...]
    let isNullable = key.hasSuffix("|null")
    return (String(isNullable ? key.dropLast(5) : key), isNullable, isOptional)
  }

  // MARK: - Alternatives

  private static func alternatives(_ text: String, at path: JSONPath) throws(Failure) -> Reading {
    let trimmed = text.trimmingCharacters(in: .whitespaces)
    let isOptional = trimmed.hasSuffix("?")
    var constants: [JSONValue] = []
    var shapes: [JSONShape] = []
    var isNullable = false
    for part in parts(of: isOptional ? String(trimmed.dropLast()) : trimmed) {
      let word = part.trimmingCharacters(in: .whitespaces)
      if word == "null" {
        isNullable = true
      } else if let type = types[word] {
        shapes.append(type)
      } else {
        constants.append(try constant(word, at: path))
      }
    }
    if !constants.isEmpty { shapes.insert(.oneOf(constants), at: 0) }
    guard !shapes.isEmpty else { return Reading(shape: .null, isOptional: isOptional) }
    let shape = union(shapes)
    return Reading(shape: isNullable ? .nullable(shape) : shape, isOptional: isOptional)
  }

  /// Splits a text with alternatives at its bars (`|`), except inside quotation marks.
  private static func parts(of text: String) -> [String] {
    var parts = [""]
    var isQuoted = false
    var isEscaped = false
    for character in text {
      if character == "\"", !isEscaped { isQuoted.toggle() }
      isEscaped = character == "\\" && !isEscaped
      if character == "|", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }

  private static func constant(_ word: String, at path: JSONPath) throws(Failure) -> JSONValue {
    if word.hasPrefix("=") { return .string(String(word.dropFirst())) }
    if let value = try? JSONValue(parsing: Data(word.utf8)), value.arrayValue == nil, value.objectValue == nil {
      return value
    }
    let reason = word.isEmpty ? "a type is missing" : "“\(word)” is not a type"
    throw Failure(
      path: path,
      reason: "\(reason); use string, number, integer, bool, null, any, array or object; "
        + "=\(word) means the text “\(word)”"
    )
  }

  private static func union(_ shapes: [JSONShape]) -> JSONShape {
    shapes.count == 1 ? shapes[0] : .anyOf(shapes)
  }

  private static let types: [String: JSONShape] = [
    "any": .any, "string": .string, "number": .number, "integer": .integer, "bool": .bool, "array": .array(of: .any),
    "object": .object([:]),
  ]
}
