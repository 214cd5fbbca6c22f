/// The members of an object by the names that types ask for, where they cannot be found by looking from one to the
/// next.
final class JSONKeyTable: Sendable {
  /// The names in the order of the text.
  let names: [String]
  private let indexes: [JSONKeyText: Int]

  /// Of equal names the first one counts, as in Foundation.
  /// - Parameter name: The name for a key.
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

/// A key's text, equal to another one where its bytes are. (A `String` is equal to one that looks the same.)
struct JSONKeyText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: JSONKeyText, right: JSONKeyText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
