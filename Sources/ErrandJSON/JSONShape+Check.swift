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
    if let difference = difference(in: document, at: index) { throw JSONShapeMismatch(difference) }
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
  private func difference(in document: JSONDocument, at index: Int) -> ShapeDifference? {
    let word = document.word(index)
    switch rule {
    case .optional(let shape): return shape.difference(in: document, at: index)
    case .nullable where word.kind == .null: return nil
    case .nullable(let shape): return shape.difference(in: document, at: index, named: self)
    case .array(let shape) where word.kind == .array:
      return shape.difference(inElementsOf: word, in: document, at: index)
    case .object(let fields) where word.isObject: return Self.difference(of: fields, in: document, at: index)
    case .constants(let constants) where constants.contains(document.value(at: index)): return nil
    case .anyOf(let shapes) where shapes.contains { $0.difference(in: document, at: index) == nil }: return nil
    default: break
    }
    if accepts(word, in: document) { return nil }
    return ShapeDifference(expected: description, found: JSONValue.inText(document, at: index))
  }

  /// As ``difference(in:at:)``, but a difference of the value itself is told in this other shape's words.
  private func difference(in document: JSONDocument, at index: Int, named shape: JSONShape) -> ShapeDifference? {
    guard var difference = difference(in: document, at: index) else { return nil }
    if difference.stepsUpward.isEmpty { difference.expected = shape.description }
    return difference
  }

  private func difference(
    inElementsOf array: JSONWord, in document: JSONDocument, at index: Int
  ) -> ShapeDifference? {
    var number = 0
    var here = index + 2
    while here < array.place {
      if let difference = difference(in: document, at: here) { return difference.below(.index(number)) }
      number += 1
      here = document.end(of: here)
    }
    return nil
  }

  private static func difference(of fields: [Field], in document: JSONDocument, at object: Int) -> ShapeDifference? {
    for field in fields {
      if let member = document.index(ofMember: field.key, in: object) {
        if let difference = field.shape.difference(in: document, at: member) {
          return difference.below(.key(field.key))
        }
      } else if !field.shape.mayBeMissing {
        return ShapeDifference(expected: field.shape.description, found: nil).below(.key(field.key))
      }
    }
    return nil
  }

  /// Whether a value passes a rule that does not look inside it.
  private func accepts(_ word: JSONWord, in document: JSONDocument) -> Bool {
    switch rule {
    case .any: true
    case .null: word.kind == .null
    case .bool: word.kind == .yes || word.kind == .no
    case .string: word.isString
    case .number: word.isNumber
    case .integer: word.kind == .integer || word.kind == .decimal && document.isWhole(word)
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
