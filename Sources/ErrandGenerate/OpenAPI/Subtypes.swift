/// Finds the subtypes of a schema with a `discriminator` but without `oneOf`: the schemas that the mapping names, and
/// the components that name the schema in `allOf`, directly or through other components (OpenAPI 3.1 section 4.8.25).
final class Subtypes {
  private struct Found {
    var references: [Cursor] = []
    var pointers: Set<String> = []
  }

  private let files: DocumentFiles
  private let schemas: Cursor?
  /// The components that name a schema in `allOf`, by the pointer of that schema.
  private lazy var extensions = findExtensions()
  /// The values in the mappings of all components, by the texts that name the schemas.
  private lazy var valuesByTarget = findValues()
  private var foundByPointer: [String: Found] = [:]

  init(files: DocumentFiles) {
    self.files = files
    schemas = files.root["components"]?["schemas"]
  }

  /// A schema as a union of references to its subtypes and, if it has a name, of the schema itself. Nil if it has no
  /// subtypes.
  func union(of base: Cursor) -> SchemaShape? {
    guard let discriminator = base["discriminator"] else { return nil }
    let references = found(for: base).references
    guard !references.isEmpty else { return nil }
    let values = values(of: base)
    guard !values.isEmpty else { return .union(references, discriminator: discriminator) }
    let known = discriminator["mapping"]?.node.members?.entries ?? []
    let added = values.filter { value in !known.contains { $0.key == value } }
    let mapping = DocumentNode(members: known + added.map { (key: $0, value: DocumentNode(.string(base.pointer))) })
    let more = Cursor(node: ["mapping": mapping], file: base.file, path: base.path)
    return .union(references + [Self.plain(base)], discriminator: discriminator.adding(more))
  }

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
      guard let named = reference(target), let subtype = files.resolved(named)?.pointer, subtype != pointer,
        found.pointers.insert(subtype).inserted
      else { continue }
      found.references.append(named)
    }
    addExtensions(of: pointer, to: &found)
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
    for (_, schema) in schemas?.members ?? [] where !Self.onlyAddsNull(schema) {
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
  private func reference(_ target: Cursor) -> Cursor? {
    guard let text = target.text else { return nil }
    if let component = schemas?[text] { return Self.reference(to: component) }
    return Cursor(node: ["$ref": DocumentNode(.string(text))], file: target.file, path: target.path)
  }

  private static func reference(to component: Cursor) -> Cursor {
    // A reference is a URI, in which a percent sign needs an escape.
    let text = component.pointer.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
    return Cursor(node: ["$ref": DocumentNode(.string(text))], file: component.file, path: component.path)
  }

  // MARK: - The schema itself

  /// The values of the discriminator for a component itself: those in the mappings of the document, or else its name.
  private func values(of base: Cursor) -> [String] {
    let pointer = base.pointer
    guard let name = base.name, schemas?[name]?.pointer == pointer else { return [] }
    let mapped = SchemaReader.distinct((valuesByTarget[pointer] ?? []) + (valuesByTarget[name] ?? []))
    return mapped.isEmpty ? [name] : mapped
  }

  private func findValues() -> [String: [String]] {
    var values: [String: [String]] = [:]
    for (_, schema) in schemas?.members ?? [] {
      for (value, target) in schema["discriminator"]?["mapping"]?.members ?? [] {
        if let target = target.text { values[target, default: []].append(value) }
      }
    }
    return values
  }

  /// The schema without its subtypes. Its type is `Base` inside the type that has its name.
  private static func plain(_ base: Cursor) -> Cursor {
    let entries = (base.node.members?.entries ?? []).filter { !["discriminator", "title"].contains($0.key) }
    let node = DocumentNode(members: entries + [(key: "title", value: "Base")])
    return Cursor(node: node, file: base.file, path: base.path)
  }
}
