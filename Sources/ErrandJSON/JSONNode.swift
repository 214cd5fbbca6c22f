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
    document.index(ofMember: key, in: index).map { JSONNode(document: document, index: $0) }
  }

  /// A number beyond all doubles, which has no value of its own, is told as an infinite one.
  var value: JSONValue {
    if !word.isContainer { return JSONValue(document.scalar(word)) }
    return JSONValue(.written(TapeDecoder(source: TapeSource(document, rules: .standard), index: index)))
  }
}
