/// A part of a document that was not generated, or was generated in another form.
package struct GenerateNote: Sendable, Hashable, CustomStringConvertible {
  /// The JSON pointer of the part, after the name of its file.
  package let pointer: String
  package let reason: String

  package var description: String { "\(pointer): \(reason)" }
}

/// The files of an OpenAPI document: the document itself and the files that it refers to.
final class DocumentFiles {
  private let load: (String) throws -> DocumentNode
  private var files: [String: DocumentNode] = [:]
  private(set) var notes: [GenerateNote] = []
  private var noted: Set<GenerateNote> = []
  let root: Cursor

  /// `load` reads a file by its path relative to the document.
  init(_ root: DocumentNode, load: @escaping (String) throws -> DocumentNode) {
    self.root = Cursor(node: root, file: "", path: nil)
    self.load = load
    files[""] = root
  }

  func note(_ cursor: Cursor, _ reason: String) {
    let note = GenerateNote(pointer: cursor.pointer, reason: reason)
    if noted.insert(note).inserted { notes.append(note) }
  }

  /// Follows the references of a value to a value that is none. Returns nil, and reports it, if there is no such value.
  func resolved(_ cursor: Cursor) -> Cursor? {
    var here = cursor
    for _ in 0..<32 {
      guard here.text("$ref") != nil else { return here }
      guard let target = target(of: here) else { return nil }
      here = target
    }
    note(cursor, "the reference leads to itself")
    return nil
  }

  /// The value that a reference names.
  func target(of cursor: Cursor) -> Cursor? {
    guard let reference = cursor.text("$ref") else { return nil }
    let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    do {
      let file = parts[0].isEmpty ? cursor.file : try Self.path(parts[0], beside: cursor.file)
      var here = Cursor(node: try node(of: file), file: file, path: nil)
      for key in Self.keys(parts.count > 1 ? parts[1] : "") {
        let index = Int(key)
        let next = here[key] ?? index.flatMap { here.elements.indices.contains($0) ? here.elements[$0] : nil }
        guard let next else {
          note(cursor, "the reference “\(reference)” has no target")
          return nil
        }
        here = next
      }
      return here
    } catch {
      note(cursor, "the reference “\(reference)” cannot be followed: \(error)")
      return nil
    }
  }

  private func node(of file: String) throws -> DocumentNode {
    if let node = files[file] { return node }
    let node = try load(file)
    files[file] = node
    return node
  }

  private struct OutsidePath: Error, CustomStringConvertible {
    let description = "only files in the folder of the document, and in its subfolders, are read"
  }

  /// The path of a file that another file names. It stays in the folder of the document.
  static func path(_ name: String, beside file: String) throws -> String {
    guard !name.utf8.contains(UInt8(ascii: ":")), name.utf8.first != UInt8(ascii: "/") else { throw OutsidePath() }
    var parts = file.split(separator: "/").map(String.init).dropLast()
    for part in name.split(separator: "/") where part != "." {
      guard part == ".." else {
        parts.append(String(part))
        continue
      }
      guard parts.popLast() != nil else { throw OutsidePath() }
    }
    return parts.joined(separator: "/")
  }

  /// The keys of a JSON pointer in a URI fragment.
  private static func keys(_ pointer: String) -> [String] {
    pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { part in
      var out: [UInt8] = []
      var rest = Array(part.utf8)[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
          let escaped = ScalarRules.hex(rest.prefix(2))
        {
          out.append(UInt8(truncatingIfNeeded: escaped))
          rest = rest.dropFirst(2)
        } else if byte == UInt8(ascii: "~"), let digit = rest.popFirst() {
          out.append(digit == UInt8(ascii: "1") ? UInt8(ascii: "/") : UInt8(ascii: "~"))
        } else {
          out.append(byte)
        }
      }
      return String(decoding: out, as: UTF8.self)
    }
  }
}

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
