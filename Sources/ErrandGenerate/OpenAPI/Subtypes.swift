/// Finds the subtypes of a schema with a `discriminator` but without `oneOf`: the schemas that the mapping names, and
/// the components that name the schema in `allOf`, directly or through other components (OpenAPI 3.1 section 4.8.25).
final class Subtypes {
  private struct Found {
    var references: [Cursor] = []
    var pointers: Set<String> = []
  }

  private let files: DocumentFiles
  /// The components that name a schema in `allOf`, by the pointer of that schema.
  private lazy var extensions = findExtensions()
  private var foundByPointer: [String: Found] = [:]

  init(files: DocumentFiles) { self.files = files }

  /// References to the subtypes of a schema, and the schema itself if the mapping names it. Empty if it has none.
  func references(of base: Cursor) -> [Cursor] { found(for: base).references }

  /// Whether a schema is a subtype of the schema that a part of its `allOf` names, and not another use of that schema.
  func isSubtype(_ schema: Cursor, of part: Cursor) -> Bool {
    files.resolved(part).map { found(for: $0).pointers.contains(schema.pointer) } ?? false
  }

  private func found(for base: Cursor) -> Found {
    guard let discriminator = base["discriminator"], discriminator.text("propertyName") != nil,
      base.node["oneOf"] == nil, base.node["anyOf"] == nil
    else { return Found() }
    let pointer = base.pointer
    if let found = foundByPointer[pointer] { return found }
    var found = Found()
    for (_, target) in discriminator["mapping"]?.members ?? [] {
      guard let reference = Self.reference(target, in: files.root), let subtype = files.resolved(reference),
        found.pointers.insert(subtype.pointer).inserted
      else { continue }
      found.references.append(subtype.pointer == pointer ? Self.plain(base) : reference)
    }
    addExtensions(of: pointer, to: &found)
    if found.pointers == [pointer] { found = Found() }
    foundByPointer[pointer] = found
    return found
  }

  private func addExtensions(of pointer: String, to found: inout Found) {
    var seen: Set = [pointer]
    var waiting = [pointer][...]
    while let next = waiting.popFirst() {
      for schema in extensions[next] ?? [] where seen.insert(schema.pointer).inserted {
        waiting.append(schema.pointer)
        if found.pointers.insert(schema.pointer).inserted { found.references.append(Self.reference(to: schema)) }
      }
    }
  }

  private func findExtensions() -> [String: [Cursor]] {
    var extensions: [String: [Cursor]] = [:]
    for (_, schema) in files.root["components"]?["schemas"]?.members ?? [] where !Self.onlyAddsNull(schema) {
      for base in bases(of: schema, depth: 0) { extensions[base, default: []].append(schema) }
    }
    return extensions
  }

  /// Whether a schema is another one with null, which OpenAPI 3.0 also writes with `allOf`.
  private static func onlyAddsNull(_ schema: Cursor) -> Bool {
    schema.isTrue("nullable") && schema["properties"] == nil && schema["allOf"]?.elements.count == 1
  }

  /// The pointers of the schemas that a schema names in `allOf`.
  private func bases(of schema: Cursor, depth: Int) -> Set<String> {
    guard depth < 32 else { return [] }
    var pointers: Set<String> = []
    for part in schema["allOf"]?.elements ?? [] {
      if part.text("$ref") == nil {
        pointers.formUnion(bases(of: part, depth: depth + 1))
      } else if let base = files.resolved(part) {
        pointers.insert(base.pointer)
      }
    }
    return pointers
  }

  /// The schema that a value of the mapping names, by a reference or by the name of a component.
  private static func reference(_ target: Cursor, in root: Cursor) -> Cursor? {
    guard let text = target.text else { return nil }
    if let component = root["components"]?["schemas"]?[text] { return reference(to: component) }
    return Cursor(node: ["$ref": DocumentNode(.string(text))], file: target.file, path: target.path)
  }

  private static func reference(to component: Cursor) -> Cursor {
    // A reference is a URI, in which a percent sign needs an escape.
    let text = component.pointer.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
    return Cursor(node: ["$ref": DocumentNode(.string(text))], file: component.file, path: component.path)
  }

  /// The schema without its subtypes. Its type is `Base` inside the type that has its name.
  private static func plain(_ base: Cursor) -> Cursor {
    let entries = (base.node.members?.entries ?? []).filter { !["discriminator", "title"].contains($0.key) }
    let node = DocumentNode(members: entries + [(key: "title", value: "Base")])
    return Cursor(node: node, file: base.file, path: base.path)
  }
}
