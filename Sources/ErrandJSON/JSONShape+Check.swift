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
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: data)
    } catch .empty where mayBeMissing {
      return
    } catch {
      throw JSONShapeMismatch(error, expected: description)
    }
    try check(value)
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
  private func difference(in value: JSONValue) -> ShapeDifference? {
    switch (rule, value) {
    case (.optional(let shape), _): shape.difference(in: value)
    case (.nullable, .null): nil
    case (.nullable(let shape), _): shape.difference(in: value, named: self)
    case (.anyOf(let shapes), _) where shapes.contains { $0.difference(in: value) == nil }: nil
    case (.array(let shape), .array(let elements)): Self.difference(in: elements, of: shape)
    case (.object(let fields), .object(let members)): Self.difference(in: members, of: fields)
    default: accepts(value) ? nil : ShapeDifference(expected: description, found: value)
    }
  }

  /// As ``difference(in:)``, but a difference of the value itself is told in this other shape's words.
  private func difference(in value: JSONValue, named shape: JSONShape) -> ShapeDifference? {
    guard var difference = difference(in: value) else { return nil }
    if difference.stepsUpward.isEmpty { difference.expected = shape.description }
    return difference
  }

  private static func difference(in elements: [JSONValue], of shape: JSONShape) -> ShapeDifference? {
    for (index, element) in elements.enumerated() {
      if let difference = shape.difference(in: element) { return difference.below(.index(index)) }
    }
    return nil
  }

  private static func difference(in members: [String: JSONValue], of fields: [Field]) -> ShapeDifference? {
    for field in fields {
      if let member = members[field.key] {
        if let difference = field.shape.difference(in: member) { return difference.below(.key(field.key)) }
      } else if !field.shape.mayBeMissing {
        return ShapeDifference(expected: field.shape.description, found: nil).below(.key(field.key))
      }
    }
    return nil
  }

  /// Whether a value passes a rule that does not look inside it.
  private func accepts(_ value: JSONValue) -> Bool {
    switch (rule, value) {
    case (.any, _), (.null, .null), (.bool, .bool), (.string, .string): true
    case (.number, .integer), (.number, .unsigned), (.number, .number): true
    case (.integer, .integer), (.integer, .unsigned): true
    case (.integer, .number(let number)): number.rounded() == number && number.isFinite
    case (.constants(let constants), _): constants.contains(value)
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
