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
    let pointer = parts.count > 1 ? parts[1] : ""
    guard pointer.isEmpty || pointer.utf8.first == UInt8(ascii: "/") else {
      note(cursor, "the reference “\(reference)” names an anchor; use a JSON pointer such as #/components/schemas/Pet")
      return nil
    }
    do {
      let file = parts[0].isEmpty ? cursor.file : try Self.path(parts[0], beside: cursor.file)
      var here = Cursor(node: try node(of: file), file: file, path: nil)
      for key in Self.keys(pointer) {
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

  /// The path of a file that a reference in another file names. It stays in the folder of the document.
  static func path(_ reference: String, beside file: String) throws -> String {
    let name = String(decoding: decoded(reference.utf8), as: UTF8.self)
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

  /// The keys of a JSON pointer in a URI fragment (RFC 6901 section 6).
  private static func keys(_ pointer: String) -> [String] {
    pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { part in
      var out: [UInt8] = []
      var rest = decoded(part.utf8)[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "~"), let digit = rest.popFirst() {
          out.append(digit == UInt8(ascii: "1") ? UInt8(ascii: "/") : UInt8(ascii: "~"))
        } else {
          out.append(byte)
        }
      }
      return String(decoding: out, as: UTF8.self)
    }
  }

  /// The bytes of a part of a URI without percent-encoding.
  private static func decoded(_ part: some Sequence<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    var rest = Array(part)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2, let escaped = ScalarRules.hex(rest.prefix(2)) {
        out.append(UInt8(truncatingIfNeeded: escaped))
        rest = rest.dropFirst(2)
      } else {
        out.append(byte)
      }
    }
    return out
  }
}
