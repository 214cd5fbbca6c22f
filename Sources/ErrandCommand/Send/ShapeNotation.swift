import Errand
import ErrandJSON
import Foundation

/// Parses a shape from a short text: JSON that looks like the response, with types in place of values.
///
/// ```
/// {"nick": "string", "tags": ["string"], "age": "integer?", "kind": "=a|=b", "home|null?": {"city": "string"}}
/// ```
///
/// - A text contains alternatives, separated by `|`: the types `string`, `number`, `integer`, `bool`, `null`, `any`,
///   `array` and `object`, and constants: `=a` or `"a"` is the text a, `3` and `true` are themselves.
/// - `?` at the end of a text means that the key may be missing.
/// - A key may itself end in `|null` and `?`, for values that are objects or arrays. `??` is a literal question mark.
/// - An array contains the shape of every element; several shapes are alternatives, and none allows anything.
/// - Numbers, `true`, `false` and `null` match only themselves.
enum ShapeNotation {
  /// Why a text is not a shape: the path of the wrong value and the cure.
  struct Failure: Error, Equatable, CustomStringConvertible {
    let path: JSONPath
    let reason: String
    var description: String { path == .root ? reason : "at \(path): \(reason)" }
  }

  private struct Reading {
    var shape: JSONShape
    var isOptional = false
    /// The shape, made optional if the key may be missing.
    var whole: JSONShape { isOptional ? .optional(shape) : shape }
  }

  /// Parses a text.
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
          path: place, reason: "? marks keys that may be missing; write |null for elements that may be null")
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
        throw Failure(path: place, reason: "the key is given twice")
      }
    }
    return .object(fields)
  }

  /// Splits the marks off a key: `|null`, `?`, both, or neither.
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

  /// Splits at bars, except inside quotation marks.
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
      reason: "\(reason); use string, number, integer, bool, null, any, array, object, or =\(word) for this text")
  }

  private static func union(_ shapes: [JSONShape]) -> JSONShape {
    shapes.count == 1 ? shapes[0] : .anyOf(shapes)
  }

  private static let types: [String: JSONShape] = [
    "any": .any, "string": .string, "number": .number, "integer": .integer, "bool": .bool, "array": .array(of: .any),
    "object": .object([:]),
  ]
}
