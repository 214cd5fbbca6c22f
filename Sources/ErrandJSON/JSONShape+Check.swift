public import Foundation

extension JSONShape {
  /// Accepts a value that has this shape.
  /// - Throws: ``JSONShapeMismatch`` for the first place that differs, keys taken in the order of their characters.
  public func check(_ value: JSONValue) throws(JSONShapeMismatch) {
    let place: TapeDecoder
    do throws(JSONError) {
      place = try value.inText()
    } catch {
      throw JSONShapeMismatch(error, expected: description)
    }
    try check(place.source.document, at: place.index)
  }

  /// Accepts a body whose JSON has this shape. An empty body passes only if the shape is ``optional(_:)``.
  /// - Throws: ``JSONShapeMismatch``, its kind telling an empty body, a body that is not JSON and a wrong shape apart.
  public func check(data: Data) throws(JSONShapeMismatch) {
    let parsed: ParsedJSON
    do throws(JSONError) {
      parsed = try ParsedJSON(data)
    } catch .empty where mayBeMissing {
      return
    } catch {
      throw JSONShapeMismatch(error, expected: description)
    }
    try check(parsed)
  }

  /// Accepts a body whose JSON has this shape.
  package func check(_ parsed: ParsedJSON) throws(JSONShapeMismatch) {
    try check(parsed.document, at: 0)
  }

  private func check(_ document: JSONDocument, at index: Int) throws(JSONShapeMismatch) {
    guard difference(in: document, at: index, keys: .asInText) != nil else { return }
    // Found so, a difference need not be the first one.
    if let difference = difference(in: document, at: index, keys: .sorted) { throw JSONShapeMismatch(difference) }
  }

  /// In which order the keys of an object are looked at.
  private enum KeyOrder {
    /// In that of their characters, by which the first difference is told.
    case sorted
    /// In a list in the order in which its first object has them, as the others do as a rule: so each is found where it
    /// is looked for.
    case asInText
  }

  /// Whether a key of this shape may be left out.
  private var mayBeMissing: Bool {
    switch rule {
    case .optional: true
    case .nullable(let shape): shape.mayBeMissing
    case .anyOf(let shapes): shapes.contains(where: \.mayBeMissing)
    default: false
    }
  }

  /// The first place where a value differs; nil if it has the shape.
  private func difference(in document: JSONDocument, at index: Int, keys: KeyOrder) -> ShapeDifference? {
    let word = document.word(index)
    if accepts(word, in: document) { return nil }
    switch rule {
    case .optional(let shape): return shape.difference(in: document, at: index, keys: keys)
    case .nullable where word.isKind(.null): return nil
    case .nullable(let shape): return shape.difference(in: document, at: index, keys: keys, named: self)
    case .array(let shape) where word.isKind(.array):
      return shape.difference(inElementsOf: word, in: document, at: index, keys: keys)
    case .object(let fields) where word.isObject:
      return Self.difference(of: fields, in: document, at: index, keys: keys)
    case .constants(let constants) where constants.contains(document.value(at: index)): return nil
    case .anyOf(let shapes) where shapes.contains { $0.difference(in: document, at: index, keys: keys) == nil }:
      return nil
    default: return ShapeDifference(expected: description, found: JSONValue.inText(document, at: index))
    }
  }

  /// The same, but a difference of the value itself is told in this other shape's words.
  private func difference(
    in document: JSONDocument, at index: Int, keys: KeyOrder, named shape: JSONShape
  ) -> ShapeDifference? {
    guard var difference = difference(in: document, at: index, keys: keys) else { return nil }
    if difference.stepsUpward.isEmpty { difference.expected = shape.description }
    return difference
  }

  /// How many elements are worth a look at the order of their keys.
  private static let manyElements = 4

  private func difference(
    inElementsOf array: JSONWord, in document: JSONDocument, at index: Int, keys: KeyOrder
  ) -> ShapeDifference? {
    let first = index + 2
    let isReordered = keys == .asInText && array.length >= Self.manyElements
    let shape = isReordered ? ordered(by: first, in: document) : self
    var number = 0
    var here = first
    while here < array.place {
      if let difference = shape.difference(in: document, at: here, keys: keys) {
        return difference.below(.index(number))
      }
      number += 1
      here = document.end(of: here)
    }
    return nil
  }

  /// The same shape with its keys in the order in which one object has them.
  private func ordered(by object: Int, in document: JSONDocument) -> JSONShape {
    guard case .object(let fields) = rule, document.word(object).isKind(.object) else { return self }
    let places = fields.map { ($0, document.index(ofMember: $0.key, in: object) ?? .max) }
    return JSONShape(rule: .object(places.sorted { $0.1 < $1.1 }.map(\.0)))
  }

  private static func difference(
    of fields: [Field], in document: JSONDocument, at object: Int, keys: KeyOrder
  ) -> ShapeDifference? {
    var guess = object + 2
    for field in fields {
      if let member = document.index(ofMember: field.key, in: object, guess: guess) {
        if let difference = field.shape.difference(in: document, at: member, keys: keys) {
          return difference.below(.key(field.key))
        }
        guess = document.end(of: member)
      } else if !field.shape.mayBeMissing {
        return ShapeDifference(expected: field.shape.description, found: nil).below(.key(field.key))
      }
    }
    return nil
  }

  /// Whether a value passes a rule that does not look inside it.
  @inline(__always) private func accepts(_ word: JSONWord, in document: JSONDocument) -> Bool {
    switch rule {
    case .any: true
    case .null: word.isKind(.null)
    case .bool: word.isKind(.yes) || word.isKind(.no)
    case .string: word.isString
    case .number: word.isNumber
    case .integer: word.isKind(.integer) || word.isKind(.decimal) && document.isWhole(word)
    default: false
    }
  }
}

extension JSONDocument {
  /// Whether a number that is written as a fraction or with an exponent is whole.
  fileprivate func isWhole(_ word: JSONWord) -> Bool {
    guard let number = double(word) else { return false }
    return number.rounded() == number
  }
}

/// A place where a value differs from its shape, collected on the way up from it.
struct ShapeDifference {
  var stepsUpward: [JSONPath.Step] = []
  var expected: String
  let found: JSONValue?

  init(expected: String, found: JSONValue?) {
    self.expected = expected
    self.found = found
  }

  func below(_ step: JSONPath.Step) -> ShapeDifference {
    var copy = self
    copy.stepsUpward.append(step)
    return copy
  }
}
