/// What a shape is compared with: a value that was made, or one on a tape.
protocol ShapeSubject {
  associatedtype Elements: Sequence<Self>

  var kind: ShapeSubjectKind { get }
  /// Whether a number that is written as a fraction or with an exponent is whole.
  var isWhole: Bool { get }
  /// The elements of an array.
  var elements: Elements { get }
  /// The value of an object's key.
  func member(_ key: String) -> Self?
  /// The value itself, for constants and for telling what was found.
  var value: JSONValue { get }
}

/// What a value is, as far as shapes tell values apart.
enum ShapeSubjectKind {
  case null, bool, integer, fraction, string, array, object
}

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

/// A value on a tape.
struct JSONNode: ShapeSubject {
  let document: JSONDocument
  let index: Int

  private var word: JSONWord { document.word(index) }

  var kind: ShapeSubjectKind {
    switch word.kind {
    case .null: .null
    case .no, .yes: .bool
    case .integer: .integer
    case .decimal: .fraction
    case .plain, .escaped: .string
    case .array: .array
    case .object, .crowd: .object
    }
  }

  var isWhole: Bool {
    guard word.kind == .decimal, let number = document.double(word) else { return false }
    return number.rounded() == number
  }

  var elements: UnfoldSequence<JSONNode, Int> {
    let end = word.kind == .array ? word.place : 0
    return sequence(state: index + 2) { [document] here in
      guard here < end else { return nil }
      defer { here = document.end(of: here) }
      return JSONNode(document: document, index: here)
    }
  }

  func member(_ key: String) -> JSONNode? {
    document.index(of: .key(key), in: index).map { JSONNode(document: document, index: $0) }
  }

  /// A number beyond all doubles, which has no value of its own, is told as one.
  var value: JSONValue { (try? document.value(at: index)) ?? .number(.infinity) }
}
