/// A table of an object's members. It is searched by the names that Swift types request. The table is used for objects
/// in which a linear search would be slow or would find the wrong member.
final class JSONKeyTable: Sendable {
  /// The names of the members, in the order in which the text contains the members.
  let names: [String]
  private let indexes: [JSONKeyText: Int]

  /// Creates the table of an object. If several keys give equal names, the first key is used, as in Foundation.
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

  /// The index of the value of the member with a name; nil if the object has no such member.
  subscript(name: String) -> Int? { indexes[JSONKeyText(name)] }
}

/// The text of a key, compared by its bytes. Two `String` values with different bytes are equal if they are canonically
/// equivalent, so this type does not use their comparison.
struct JSONKeyText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: JSONKeyText, right: JSONKeyText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
