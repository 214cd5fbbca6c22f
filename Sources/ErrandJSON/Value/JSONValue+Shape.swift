extension JSONValue: ShapeSubject {
  var kind: ShapeSubjectKind {
    switch form {
    case .made(let content): content.kind
    case .written(let place): place.node.kind
    }
  }

  var isWhole: Bool {
    guard case .number(let number) = content else { return false }
    return number.rounded() == number && number.isFinite
  }

  var elements: [JSONValue] { arrayValue ?? [] }

  func member(_ key: String) -> JSONValue? { self[key] }

  var value: JSONValue { self }

  /// The type in words with its article, as messages name it: `a string`, `true or false`, `an object`.
  package var typeName: String {
    switch kind {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .fraction: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue.Content {
  fileprivate var kind: ShapeSubjectKind {
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
}

extension TapeDecoder {
  fileprivate var node: JSONNode { JSONNode(document: source.document, index: index) }
}
