/// What a schema describes, after merging `allOf` and removing null.
enum SchemaShape {
  case builtin(Builtin)
  /// Listed values of strings or whole numbers.
  case enumeration(Builtin, [String])
  case array(Cursor?)
  /// An object with any names; nil for values of any type.
  case map(Cursor?)
  case object(ObjectParts)
  case union([Cursor], discriminator: Cursor?)
  /// The same as another schema.
  case wrapped(Cursor)
}

/// A type of Swift, Foundation or Errand that a schema becomes.
enum Builtin: String, Sendable {
  case string = "String"
  case int = "Int"
  case int32 = "Int32"
  case int64 = "Int64"
  case uint32 = "UInt32"
  case uint64 = "UInt64"
  case double = "Double"
  case float = "Float"
  case bool = "Bool"
  case date = "Date"
  case day = "CalendarDate"
  case uuid = "UUID"
  case url = "URL"
  case data = "Data"
  case json = "JSONValue"

  /// The types of integers, by their formats.
  static let integers: [String: Builtin] = ["int32": .int32, "int64": .int64, "uint32": .uint32, "uint64": .uint64]

  /// Whether the type is one of integers.
  var isInteger: Bool { self == .int || Self.integers.values.contains(self) }

  var isText: Bool { [.string, .date, .day, .uuid, .url, .data].contains(self) }
}

/// The properties of an object, of all its parts.
struct ObjectParts {
  var properties: [(key: String, schema: Cursor)] = []
  var required: Set<String> = []
  /// The schema of further members, or `true`; nil if the document does not mention them.
  var additional: Cursor?
  private var places: [String: Int] = [:]

  /// An object, or a map if no property is known.
  var shape: SchemaShape {
    properties.isEmpty ? .map(additional?.node.members == nil ? nil : additional) : .object(self)
  }

  mutating func add(_ key: String, _ schema: Cursor) {
    if let place = places[key] {
      // A later part may only add a description, or `readOnly`.
      properties[place].schema = schema.describesType ? schema : properties[place].schema.adding(schema)
    } else {
      places[key] = properties.count
      properties.append((key, schema))
    }
  }
}

/// Reads schemas of OpenAPI 3.0 and 3.1.
struct SchemaReader {
  let files: DocumentFiles
  private let subtypes: Subtypes

  init(files: DocumentFiles) {
    self.files = files
    subtypes = Subtypes(files: files)
  }

  /// The names of the types of a schema, without null.
  static func types(of schema: Cursor) -> [String] {
    if let type = schema.text("type") { return type == "null" ? [] : [type] }
    return (schema.node["type"]?.elements ?? []).compactMap(\.text).filter { $0 != "null" }
  }

  /// Whether a schema, or the schema that it refers to, allows null.
  func isNullable(_ schema: Cursor) -> Bool {
    var seen: Set<String> = []
    return isNullable(schema, depth: 0, &seen)
  }

  private func isNullable(_ schema: Cursor, depth: Int, _ seen: inout Set<String>) -> Bool {
    if schema.isTrue("nullable") || Self.isNull(schema) { return true }
    if schema.node["type"]?.elements?.contains(where: { $0.text == "null" }) == true { return true }
    if schema.node["enum"]?.elements?.contains(where: \.isNull) == true { return true }
    guard depth < 16 else { return false }
    if schema.text("$ref") != nil {
      guard let target = files.target(of: schema), seen.insert(target.pointer).inserted else { return false }
      return isNullable(target, depth: depth + 1, &seen)
    }
    for part in ["oneOf", "anyOf"].flatMap({ schema[$0]?.elements ?? [] })
    where isNullable(part, depth: depth + 1, &seen) { return true }
    // Null fits all parts that describe a type. A part that only allows null is written for the type of another part.
    let parts = schema["allOf"]?.elements ?? []
    if parts.contains(where: { $0.isTrue("nullable") && !$0.describesType }) { return true }
    let typed = parts.filter(\.describesType)
    guard !typed.isEmpty else { return false }
    return typed.allSatisfy { isNullable($0, depth: depth + 1, &seen) }
  }

  private static func isNull(_ schema: Cursor) -> Bool {
    if schema.text("type") == "null" || schema.node["const"]?.isNull == true { return true }
    let types = schema.node["type"]?.elements ?? []
    if !types.isEmpty, types.allSatisfy({ $0.text == "null" }) { return true }
    return schema.node["enum"]?.elements?.allSatisfy(\.isNull) == true
  }

  /// Whether a property is only sent in requests or only in responses. If it is required, it is required only there.
  func isOneWay(_ schema: Cursor) -> Bool { isReadOnly(schema) || isMarked(schema, "writeOnly") }

  /// Whether a property is only sent in responses.
  func isReadOnly(_ schema: Cursor) -> Bool { isMarked(schema, "readOnly") }

  private func isMarked(_ schema: Cursor, _ key: String) -> Bool {
    schema.isTrue(key) || files.resolved(schema)?.isTrue(key) == true
  }

  /// The number of names that each object has in requests and in responses.
  func requiredCount(of parts: ObjectParts) -> Int {
    parts.required.count - parts.properties.count { parts.required.contains($0.key) && isOneWay($0.schema) }
  }

  func shape(of schema: Cursor) -> SchemaShape {
    if schema.text("$ref") != nil { return .wrapped(schema) }
    if let union = subtypes.union(of: schema) { return union }
    if schema.node["allOf"] != nil { return merged(schema) }
    if let union = union(schema) { return union }
    if let listed = listed(schema) { return listed }
    let types = Self.types(of: schema)
    guard types.count < 2 else { return .builtin(types.sorted() == ["integer", "number"] ? .double : .json) }
    switch types.first {
    case "string": return .builtin(Self.text(schema))
    case "integer": return .builtin(Builtin.integers[schema.text("format") ?? ""] ?? .int)
    case "number": return .builtin(schema.text("format") == "float" ? .float : .double)
    case "boolean": return .builtin(.bool)
    case "array": return .array(schema["items"])
    case "object": return object(schema)
    default:
      if schema["properties"] != nil || schema["additionalProperties"]?.node.members != nil { return object(schema) }
      return schema["items"].map { .array($0) } ?? .builtin(.json)
    }
  }

  private static func text(_ schema: Cursor) -> Builtin {
    if schema.text("contentEncoding") == "base64" { return .data }
    let formats: [String: Builtin] = [
      "date-time": .date, "date": .day, "uuid": .uuid, "uri": .url, "url": .url, "byte": .data, "binary": .data,
    ]
    return schema.text("contentMediaType") == "application/octet-stream"
      ? .data : formats[schema.text("format") ?? ""] ?? .string
  }

  /// Whether a schema is the content of a file: text with the format `binary` or, as in OpenAPI 3.1, with a media type
  /// that is binary. Text in Base64 is no file.
  func isFile(_ schema: Cursor) -> Bool {
    guard let schema = unwrapped(schema)?.schema, Self.types(of: schema) == ["string"],
      schema.text("contentEncoding") != "base64"
    else { return false }
    let media = schema.text("contentMediaType")?.lowercased() ?? ""
    return schema.text("format") == "binary" || Self.binaryTypes.contains { media.hasPrefix($0) }
  }

  /// The beginnings of media types whose content is no text.
  private static let binaryTypes = [
    "application/octet-stream", "application/pdf", "application/zip", "audio/", "font/", "image/", "video/",
  ]

  private func listed(_ schema: Cursor) -> SchemaShape? {
    let values = schema.node["enum"]?.elements ?? schema.node["const"].map { [$0] } ?? []
    let present = values.filter { !$0.isNull }
    guard !present.isEmpty else { return nil }
    let types = Self.types(of: schema)
    if types == ["array"] {
      if present.contains(where: { $0.elements == nil }) {
        files.note(schema, "the listed values are no arrays and are ignored; list them in `items`")
      }
      return nil
    }
    // YAML reads some texts without quotes, such as `true` and `404`, as other types.
    let texts = present.compactMap { types == ["string"] ? $0.scalarText : $0.text }
    if texts.count == present.count { return .enumeration(.string, Self.distinct(texts)) }
    let numbers = present.compactMap { node -> String? in
      if case .number(let text) = node.content, Int32(text) != nil { text } else { nil }
    }
    if numbers.count == present.count { return .enumeration(.int, Self.distinct(numbers)) }
    return present.allSatisfy { $0.bool != nil } ? .builtin(.bool) : nil
  }

  static func distinct(_ values: [String]) -> [String] {
    var seen: Set<String> = []
    return values.filter { seen.insert($0).inserted }
  }

  // MARK: - Objects

  private func object(_ schema: Cursor) -> SchemaShape {
    var parts = ObjectParts()
    add(schema, to: &parts)
    return parts.shape
  }

  private func add(_ schema: Cursor, to parts: inout ObjectParts) {
    for (key, property) in schema["properties"]?.members ?? [] { parts.add(key, property) }
    parts.required.formUnion((schema.node["required"]?.elements ?? []).compactMap(\.text))
    parts.additional = Self.additional(schema) ?? parts.additional
  }

  /// The schema of further members, or `true`; nil if a schema does not mention or allow them.
  private static func additional(_ schema: Cursor) -> Cursor? {
    schema["additionalProperties"].flatMap { $0.node.bool == false ? nil : $0 }
  }

  private func merged(_ schema: Cursor) -> SchemaShape {
    let all = schema["allOf"]?.elements ?? []
    if all.count == 1, ["properties", "required"].allSatisfy({ schema[$0] == nil }), Self.additional(schema) == nil,
      !subtypes.isSubtype(schema, of: all[0])
    {
      noteUnion(beside: schema)
      return .wrapped(all[0])
    }
    var parts = ObjectParts()
    var others: [Cursor] = []
    var seen: Set<String> = []
    collect(schema, into: &parts, &others, depth: 0, &seen)
    guard parts.properties.isEmpty else {
      for other in others { files.note(other, "only the properties of `allOf` are generated, not this part") }
      return parts.shape
    }
    if let first = others.first {
      for other in others.dropFirst() {
        files.note(other, "the parts of `allOf` differ in kind; the first is generated")
      }
      return .wrapped(first)
    }
    return parts.shape
  }

  /// Collects the properties of all parts, and the parts that are no objects.
  private func collect(
    _ schema: Cursor, into parts: inout ObjectParts, _ others: inout [Cursor], depth: Int, _ seen: inout Set<String>
  ) {
    guard depth < 32 else { return files.note(schema, "`allOf` is nested too deeply") }
    guard seen.insert(schema.pointer).inserted else { return }
    noteUnion(beside: schema)
    for part in schema["allOf"]?.elements ?? [] {
      guard let resolved = files.resolved(part) else { continue }
      if resolved.node["allOf"] != nil {
        collect(resolved, into: &parts, &others, depth: depth + 1, &seen)
      } else if resolved["properties"] != nil || (Self.types(of: resolved) == ["object"] && !Self.isUnion(resolved)) {
        noteUnion(beside: resolved)
        add(resolved, to: &parts)
      } else if resolved.node["type"] != nil || Self.isUnion(resolved) {
        others.append(part)
      } else if resolved.node["required"] != nil || resolved.node["additionalProperties"] != nil {
        add(resolved, to: &parts)
      } else if ["enum", "const", "items"].contains(where: { resolved.node[$0] != nil }) {
        others.append(part)
      }
    }
    add(schema, to: &parts)
  }

  private static func isUnion(_ schema: Cursor) -> Bool { schema.node["oneOf"] != nil || schema.node["anyOf"] != nil }

  // MARK: - Unions

  /// The members of a union that describe types.
  private static func members(of schema: Cursor) -> [Cursor] {
    let kinds = ["$ref", "type", "properties", "allOf", "oneOf", "anyOf", "enum", "const"]
    return ["oneOf", "anyOf"].flatMap { schema[$0]?.elements ?? [] }.filter { member in
      !isNull(member) && kinds.contains { member.node[$0] != nil }
    }
  }

  /// Reports a union beside properties or `allOf`. A member that only lists required properties adds nothing to them.
  private func noteUnion(beside schema: Cursor) {
    let plain: Set = ["type", "required", "title", "description"]
    let adds = Self.members(of: schema).contains { member in
      !(member.node["required"] != nil && member.members.allSatisfy { plain.contains($0.key) })
    }
    guard adds else { return }
    let what = schema.node["allOf"] == nil ? "the properties are generated" : "`allOf` is generated"
    files.note(schema, "only \(what), not `oneOf` or `anyOf` beside \(schema.node["allOf"] == nil ? "them" : "it")")
  }

  private func union(_ schema: Cursor) -> SchemaShape? {
    let members = Self.members(of: schema)
    guard !members.isEmpty else { return nil }
    guard schema.node["properties"] == nil else {
      noteUnion(beside: schema)
      return nil
    }
    return members.count == 1 ? .wrapped(members[0]) : .union(members, discriminator: schema["discriminator"])
  }

  /// The shape behind all wrappers and references; nil if they lead to themselves.
  func finalShape(of schema: Cursor) -> SchemaShape? { unwrapped(schema)?.shape }

  /// The schema behind all wrappers and references, with its shape; nil if they lead to themselves.
  private func unwrapped(_ schema: Cursor) -> (schema: Cursor, shape: SchemaShape)? {
    var here = schema
    for _ in 0..<32 {
      guard let resolved = files.resolved(here) else { return nil }
      let shape = shape(of: resolved)
      guard case .wrapped(let next) = shape else { return (resolved, shape) }
      here = next
    }
    files.note(schema, "the schema leads to itself")
    return nil
  }
}
