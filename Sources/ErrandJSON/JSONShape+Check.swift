public import Foundation

extension JSONShape {
  /// Accepts a value that has this shape.
  /// - Throws: ``JSONShapeMismatch`` for the first place that differs, keys taken in the order of their characters.
  public func check(_ value: JSONValue) throws(JSONShapeMismatch) {
    if let difference = difference(in: value) { throw JSONShapeMismatch(difference) }
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
    let root = JSONNode(document: parsed.document, index: 0)
    if let difference = difference(in: root) { throw JSONShapeMismatch(difference) }
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
  private func difference(in value: some ShapeSubject) -> ShapeDifference? {
    switch (rule, value.kind) {
    case (.optional(let shape), _): shape.difference(in: value)
    case (.nullable, .null): nil
    case (.nullable(let shape), _): shape.difference(in: value, named: self)
    case (.anyOf(let shapes), _) where shapes.contains { $0.difference(in: value) == nil }: nil
    case (.array(let shape), .array): shape.difference(inElementsOf: value)
    case (.object(let fields), .object): Self.difference(in: value, of: fields)
    default: accepts(value) ? nil : ShapeDifference(expected: description, found: value.value)
    }
  }

  /// As ``difference(in:)``, but a difference of the value itself is told in this other shape's words.
  private func difference(in value: some ShapeSubject, named shape: JSONShape) -> ShapeDifference? {
    guard var difference = difference(in: value) else { return nil }
    if difference.stepsUpward.isEmpty { difference.expected = shape.description }
    return difference
  }

  private func difference(inElementsOf array: some ShapeSubject) -> ShapeDifference? {
    var index = 0
    for element in array.elements {
      if let difference = difference(in: element) { return difference.below(.index(index)) }
      index += 1
    }
    return nil
  }

  private static func difference(in object: some ShapeSubject, of fields: [Field]) -> ShapeDifference? {
    for field in fields {
      if let member = object.member(field.key) {
        if let difference = field.shape.difference(in: member) { return difference.below(.key(field.key)) }
      } else if !field.shape.mayBeMissing {
        return ShapeDifference(expected: field.shape.description, found: nil).below(.key(field.key))
      }
    }
    return nil
  }

  /// Whether a value passes a rule that does not look inside it.
  private func accepts(_ value: some ShapeSubject) -> Bool {
    switch (rule, value.kind) {
    case (.any, _), (.null, .null), (.bool, .bool), (.string, .string): true
    case (.number, .integer), (.number, .fraction), (.integer, .integer): true
    case (.integer, .fraction): value.isWhole
    case (.constants(let constants), _): constants.contains(value.value)
    default: false
    }
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
