extension JSONValue {
  /// Whether this is `null`.
  public var isNull: Bool {
    switch form {
    case .made(.null): true
    case .made: false
    case .written(let place): place.decodeNil()
    }
  }

  /// The truth value; nil for every other type, numbers included.
  public var boolValue: Bool? { if case .bool(let value) = content { value } else { nil } }

  /// The text; nil for every other type.
  public var stringValue: String? {
    switch form {
    case .made(.string(let value)): value
    case .made: nil
    case .written(let place): place.string
    }
  }

  /// The elements; nil for every other type.
  public var arrayValue: [JSONValue]? { if case .array(let value) = content { value } else { nil } }

  /// The values by name; nil for every other type.
  public var objectValue: [String: JSONValue]? { if case .object(let value) = content { value } else { nil } }

  /// The number if it is whole and fits `Int` (`3.0` does, `3.5` does not); nil for every other type.
  public var intValue: Int? {
    switch content {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The number, whole numbers beyond 2^53 rounded to the nearest `Double`; nil for every other type.
  public var doubleValue: Double? {
    switch content {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The value of a key; nil if this is no object or has no such key. A key whose value is null gives ``null``.
  ///
  /// In a text keys are found byte by byte: `é` in two scalars is another key than `é` in one.
  public subscript(key: String) -> JSONValue? {
    switch form {
    case .made(.object(let members)): members[key]
    case .made: nil
    case .written(let place): place.member(key).map { JSONValue(.written($0)) }
    }
  }

  /// The element at an index; nil if this is no array or the index lies outside it.
  public subscript(index: Int) -> JSONValue? {
    switch form {
    case .made(.array(let elements)): elements.indices.contains(index) ? Optional(elements[index]) : .none
    case .made: nil
    case .written(let place): place.element(index).map { JSONValue(.written($0)) }
    }
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
