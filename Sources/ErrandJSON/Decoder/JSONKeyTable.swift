/// The members of an object by the names that types request. Used for objects in which a linear search is slow or
/// wrong.
final class JSONKeyTable: Sendable {
  /// The names in the order of the text.
  let names: [String]
  private let indexes: [JSONKeyText: Int]

  /// If several keys give equal names, the first one counts, as in Foundation.
  /// - Parameter name: Converts a key of the text to the name that types request.
  init(_ document: JSONDocument, object: Int, name: (String) -> String) {
    var names: [String] = []
    var indexes: [JSONKeyText: Int] = [:]
    indexes.reserveCapacity(document.word(object).length)
    document.forEachMember(of: object) { key, value in
      let text = JSONKeyText(name(document.string(key)))
      guard indexes[text] == nil else { return }
      indexes[text] = value
      names.append(text.text)
    }
    self.names = names
    self.indexes = indexes
  }

  /// The index of a member's value.
  subscript(name: String) -> Int? { indexes[JSONKeyText(name)] }
}

/// The text of a key, compared by its bytes. (Two strings are equal if they are canonically equivalent.)
struct JSONKeyText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: JSONKeyText, right: JSONKeyText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
