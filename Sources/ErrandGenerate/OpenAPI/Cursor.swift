/// A value of a document with the way to it. Reports name the way as a JSON pointer (RFC 6901).
struct Cursor: Sendable {
  /// The way from the root of a file to a value, as a list from the end to the beginning.
  final class Path: Sendable {
    let parent: Path?
    let key: String

    init(_ parent: Path?, _ key: String) {
      self.parent = parent
      self.key = key
    }
  }

  let node: DocumentNode
  /// The name of the file; empty for the document itself.
  let file: String
  let path: Path?

  /// The JSON pointer of the value, such as `#/paths/~1users/get`.
  var pointer: String {
    var keys: [String] = []
    var place = path
    while let here = place {
      keys.append(here.key.utf8Escaped)
      place = here.parent
    }
    return "\(file)#" + keys.reversed().map { "/\($0)" }.joined()
  }

  /// The key of the value, or the name of its file without the extension; nil for the document itself.
  var name: String? {
    if let path { return path.key }
    guard let words = file.split(separator: "/").last?.split(separator: ".") else { return nil }
    return (words.count > 1 ? words.dropLast() : words[...]).joined(separator: ".")
  }

  subscript(key: String) -> Cursor? {
    node[key].map { Cursor(node: $0, file: file, path: Path(path, key)) }
  }

  /// The elements of an array; empty for every other value.
  var elements: [Cursor] {
    (node.elements ?? []).enumerated().map { Cursor(node: $1, file: file, path: Path(path, "\($0)")) }
  }

  /// The members of an object; empty for every other value.
  var members: [(key: String, value: Cursor)] {
    (node.members?.entries ?? []).map { ($0.key, Cursor(node: $0.value, file: file, path: Path(path, $0.key))) }
  }

  var text: String? { node.text }
  func text(_ key: String) -> String? { node[key]?.text }
  func isTrue(_ key: String) -> Bool { node[key]?.bool == true }
}

/// Schemas of one property in several parts of `allOf`.
extension Cursor {
  private static let kinds = [
    "$ref", "type", "properties", "additionalProperties", "items", "allOf", "oneOf", "anyOf", "enum", "const",
  ]

  /// Whether a schema describes a type. Other schemas only add something to the schema of another part.
  var describesType: Bool { Self.kinds.contains { node[$0] != nil } }

  /// The schema with the members of another one in addition, such as its description.
  func adding(_ other: Cursor) -> Cursor {
    let own = (node.members?.entries ?? []).filter { other.node[$0.key] == nil }
    let members = DocumentMembers(own + (other.node.members?.entries ?? []))
    let node = DocumentNode(content: .object(members), line: node.line, column: node.column)
    return Cursor(node: node, file: file, path: path)
  }
}

extension String {
  /// The text as a key in a JSON pointer.
  fileprivate var utf8Escaped: String {
    var out: [UInt8] = []
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "~"): out += "~0".utf8
      case UInt8(ascii: "/"): out += "~1".utf8
      default: out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
