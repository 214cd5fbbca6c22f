extension JSONValue {
  /// Whether this is `null`.
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The truth value; nil for every other type, numbers included.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The text; nil for every other type.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

  /// The elements; nil for every other type.
  public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The values by name; nil for every other type.
  public var objectValue: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

  /// The number if it is whole and fits `Int` (`3.0` does, `3.5` does not); nil for every other type.
  public var intValue: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The number, whole numbers beyond 2^53 rounded to the nearest `Double`; nil for every other type.
  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The value of a key; nil if this is no object or has no such key. A key whose value is null gives ``null``.
  public subscript(key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The element at an index; nil if this is no array or the index lies outside it.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The value that lies at a path from here; nil if there is none. The empty path gives the value itself.
  public func value(at path: JSONPath) -> JSONValue? {
    path.steps.reduce(Optional(self)) { here, step in
      switch step {
      case .key(let key): here?[key]
      case .index(let index): here?[index]
      }
    }
  }
}

/// Lets look-ups follow each other without question marks: `value["data"]["items"][0]`.
extension Optional where Wrapped == JSONValue {
  /// The value of a key; nil if there is nothing here, no object or no such key.
  public subscript(key: String) -> JSONValue? { self?[key] }

  /// The element at an index; nil if there is nothing here, no array or no such element.
  public subscript(index: Int) -> JSONValue? { self?[index] }
}
