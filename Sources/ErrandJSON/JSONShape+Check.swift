public import Foundation

extension JSONShape {
  /// Checks that a value has this shape.
  /// - Throws: ``JSONShapeMismatch`` for the first difference, in the order of the keys' characters.
  package func check(_ value: JSONValue) throws(JSONShapeMismatch) {
    let place: TapeDecoder
    do throws(JSONError) {
      place = try value.inText()
    } catch {
      throw JSONShapeMismatch(error, expected: description)
    }
    try check(place.source.document, at: place.index)
  }

  /// Checks that a body is JSON of this shape. An empty body passes only if the shape is ``optional(_:)``.
  /// - Throws: ``JSONShapeMismatch``, whose kind distinguishes an empty body, a body that is not JSON, and a wrong
  ///   shape.
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

  /// Checks that a parsed body has this shape.
  package func check(_ parsed: ParsedJSON) throws(JSONShapeMismatch) {
    try check(parsed.document, at: 0)
  }

  private func check(_ document: JSONDocument, at index: Int) throws(JSONShapeMismatch) {
    guard difference(in: document, at: index, keys: .asInText) != nil else { return }
    // The first search used the fastest order of keys and found a difference. The error must name the first difference
    // in the order of the keys' characters, so a second search is needed.
    if let difference = difference(in: document, at: index, keys: .sorted) { throw JSONShapeMismatch(difference) }
  }

  /// The order in which the keys of an object are checked.
  private enum KeyOrder {
    /// The keys are checked in the order of their characters. Errors report the difference that is found first in this
    /// order.
    case sorted
    /// The keys of the objects in an array are checked in the order in which the first object has them. The other
    /// objects usually have the same order, so each key is usually found at the first position that is tried.
    case asInText
  }

  /// Whether an object may omit the key of a value with this shape.
  private var mayBeMissing: Bool {
    switch rule {
    case .optional: true
    case .nullable(let shape): shape.mayBeMissing
    case .anyOf(let shapes): shapes.contains(where: \.mayBeMissing)
    default: false
    }
  }

  /// The first difference between a value and this shape. Nil if the value has this shape.
  private func difference(in document: JSONDocument, at index: Int, keys: KeyOrder) -> ShapeDifference? {
    let word = document.word(index)
    if accepts(word, in: document) { return nil }
    switch rule {
    case .optional(let shape): return shape.difference(in: document, at: index, keys: keys)
    case .nullable where word.isKind(.null): return nil
    case .nullable(let shape): return shape.difference(in: document, at: index, keys: keys, describedAs: self)
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

  /// The first difference between a value and this shape, which belongs to the larger shape `shape`. If the value
  /// itself has the wrong type, the difference names `shape` as the expected value. If an element or member of the
  /// value is wrong, the difference names the shape of the element or member.
  private func difference(
    in document: JSONDocument, at index: Int, keys: KeyOrder, describedAs shape: JSONShape
  ) -> ShapeDifference? {
    guard var difference = difference(in: document, at: index, keys: keys) else { return nil }
    if difference.stepsUpward.isEmpty { difference.expected = shape.description }
    return difference
  }

  /// The minimum number of elements of an array for which the keys of the elements' shape are reordered. For fewer
  /// elements, reordering the keys takes more time than it saves.
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

  /// This shape, with its keys in the order in which the given object has them.
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

  /// Whether a value passes a rule that needs only the value's own ``JSONWord``, not the value's members.
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
  /// Whether a number that is written with a fraction or an exponent is an integer, and within the range of `Double`.
  /// The digits of the text decide, because a `Double` may be rounded to an integer.
  fileprivate func isWhole(_ word: JSONWord) -> Bool {
    guard double(word) != nil else { return false }
    let numeral = UnsafeBufferPointer(start: text + word.place, count: word.length)
    let mark = numeral.firstIndex { $0 | 0x20 == UInt8(ascii: "e") }
    let digits = numeral[..<(mark ?? word.length)]
    guard let last = digits.lastIndex(where: { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }) else { return true }
    let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
    // The power of ten of the last digit that is not zero.
    let power = last < point ? point - 1 - last : point - last
    let exponent = mark.map { JSONFloat.exponent(text + word.place + $0 + 1, word.length - $0 - 1) } ?? 0
    return power + exponent >= 0
  }
}

/// A difference between a value and its shape. The path is collected from the value upward while the recursive check
/// returns.
struct ShapeDifference {
  var stepsUpward: [JSONPath.Step] = []
  var expected: String
  let found: JSONValue?

  func below(_ step: JSONPath.Step) -> ShapeDifference {
    var copy = self
    copy.stepsUpward.append(step)
    return copy
  }
}
