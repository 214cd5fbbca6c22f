extension JSONValue: ShapeSubject {
  var kind: ShapeSubjectKind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .integer, .unsigned: .integer
    case .number: .fraction
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }

  var isWhole: Bool {
    guard case .number(let number) = self else { return false }
    return number.rounded() == number && number.isFinite
  }

  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  func member(_ key: String) -> JSONValue? { self[key] }

  var value: JSONValue { self }
}
