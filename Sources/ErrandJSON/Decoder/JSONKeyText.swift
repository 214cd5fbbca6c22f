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
