extension JSONValue {
  /// Whether this value is `null`.
  public var isNull: Bool {
    switch form {
    case .made(.null): true
    case .made: false
    case .written(let place): place.decodeNil()
    }
  }

  /// The value of `true` or `false`; nil for every other type, including numbers.
  public var boolValue: Bool? { if case .bool(let value) = content { value } else { nil } }

  /// The string; nil for every other type.
  public var stringValue: String? {
    switch form {
    case .made(.string(let value)): value
    case .made: nil
    case .written(let place): place.string
    }
  }

  /// The elements of the array; nil for every other type.
  public var arrayValue: [JSONValue]? { if case .array(let value) = content { value } else { nil } }

  /// The members of the object; nil for every other type.
  public var objectValue: [String: JSONValue]? { if case .object(let value) = content { value } else { nil } }

  /// The number if it is an integer that fits `Int`: `3.0` is an integer, `3.5` is not. Nil for all other values.
  public var intValue: Int? {
    switch content {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The number; integers beyond 2^53 are rounded to the nearest `Double`. Nil for every other type.
  public var doubleValue: Double? {
    switch content {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The value of a key; nil if this value is not an object or has no such key. If the key's value is null, the result
  /// is ``null``.
  ///
  /// Keys of a parsed text are compared byte by byte: `é` as two Unicode scalars is another key than `é` as one scalar.
  public subscript(key: String) -> JSONValue? {
    switch form {
    case .made(.object(let members)): members[key]
    case .made: nil
    case .written(let place): place.member(key).map { JSONValue(.written($0)) }
    }
  }

  /// The element at an index; nil if this value is not an array or the index is out of range.
  public subscript(index: Int) -> JSONValue? {
    switch form {
    case .made(.array(let elements)): elements.indices.contains(index) ? Optional(elements[index]) : .none
    case .made: nil
    case .written(let place): place.element(index).map { JSONValue(.written($0)) }
    }
  }

  /// The value at a path, starting at this value; nil if there is no value at the path. The empty path gives this
  /// value.
  public func value(at path: JSONPath) -> JSONValue? {
    path.steps.reduce(Optional(self)) { here, step in
      switch step {
      case .key(let key): here?[key]
      case .index(let index): here?[index]
      }
    }
  }
}

/// Chained subscripts need no question marks: `value["data"]["items"][0]`.
extension Optional where Wrapped == JSONValue {
  /// The value of a key. Nil if the optional is nil, is not an object, or has no such key.
  public subscript(key: String) -> JSONValue? { self?[key] }

  /// The element at an index. Nil if the optional is nil, is not an array, or has no such element.
  public subscript(index: Int) -> JSONValue? { self?[index] }
}
