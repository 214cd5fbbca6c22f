/// Makes the models of the schemas that operations use.
final class ModelBuilder {
  let files: DocumentFiles
  let schemas: SchemaReader
  /// The names of all types of the module, in lower case, because file systems may ignore case.
  private var taken: Set<String>
  /// The top-level models in the order of their first use.
  private(set) var models: [Model] = []
  private var modelsByPointer: [String: Model] = [:]
  private var typesByPointer: [String: TypeUse] = [:]
  private var running: Set<String> = []
  /// The number of schemas around the one whose type is being determined, which bounds the stack.
  private var depth = 0
  /// The schemas of models whose properties are not known yet.
  private var waiting: [(Model, Cursor)] = []
  private var namesByPointer: [String: String] = [:]
  /// The names of all nested types. A top-level type with such a name would be hidden inside the type that contains the
  /// nested one.
  private var nestedNames: Set<String> = []
  /// The name of the schema whose type is being determined, if it needs no model of its own, such as a list.
  private var aliasName: String?

  init(_ files: DocumentFiles, taken: Set<String>) {
    self.files = files
    self.taken = taken
    schemas = SchemaReader(files: files)
    // Names do not depend on the operations that are chosen.
    let named = files.root["components"]?["schemas"]?.members ?? []
    let names = named.map { key, schema in topName(SwiftName.type(key), owner(of: schema).pointer) }
    for ((_, schema), name) in zip(named, names) { nameElement(of: schema, name) }
  }

  /// The schema that has the name of a component: the component itself, or the schema in another file that it names.
  private func owner(of component: Cursor) -> Cursor {
    guard let reference = component.text("$ref"), reference.utf8.first != UInt8(ascii: "#"),
      let target = files.resolved(component)
    else { return component }
    return target
  }

  /// Takes the name of the type of the elements of a list or a dictionary that has a name.
  private func nameElement(of schema: Cursor, _ name: String) {
    var (here, name) = (schema, name)
    while here.text("$ref") == nil {
      let hasParts = ["allOf", "oneOf", "anyOf"].contains { (here.node[$0]?.elements?.count ?? 0) > 1 }
      if hasParts || here.node["properties"] != nil || here.node["enum"] != nil {
        if here.pointer != schema.pointer { _ = topName(name, here.pointer) }
        return
      }
      guard let element = here["items"] ?? here["additionalProperties"] else { return }
      (here, name) = (element, SwiftName.singular(name))
    }
  }

  /// Takes a name for a type of the module.
  func take(_ name: String, orElse other: String) -> String {
    let isTaken = { (name: String) in self.isTaken(name) || self.nestedNames.contains(name) }
    let name = SwiftName.unique(isTaken(name) ? other : name, isTaken)
    taken.insert(name.lowercased())
    return name
  }

  private func isTaken(_ name: String) -> Bool {
    taken.contains(name.lowercased()) || SwiftName.reservedTypes.contains(name)
  }

  /// The name of the top-level type for a schema: the wished one unless it is taken.
  private func topName(_ name: String, _ pointer: String) -> String {
    if let name = namesByPointer[pointer] { return name }
    let own = take(name, orElse: "\(name)Model")
    namesByPointer[pointer] = own
    return own
  }

  /// Completes the models that are used so far, and those that they use.
  func finish() {
    while let (model, schema) = waiting.popLast() { fill(model, schema) }
    models.sort { $0.name < $1.name }
    models.breakCycles()
  }

  /// The type for a schema. `name` is the name of a model for a schema without a name. The model is nested in `parent`;
  /// without a parent it is a top-level model.
  func type(of schema: Cursor, name: String, in parent: Model?) -> TypeUse {
    let type = plainType(of: schema, name: name, in: parent)
    return schemas.isNullable(schema) ? type.asOptional : type
  }

  private func plainType(of schema: Cursor, name: String, in parent: Model?) -> TypeUse {
    guard depth < JSONReader.depthLimit else { return tooDeep(schema) }
    depth += 1
    defer { depth -= 1 }
    if schema.text("$ref") != nil { return files.resolved(schema).map(referenced) ?? .builtin(.json) }
    switch schemas.shape(of: schema) {
    case .builtin(let builtin): return .builtin(builtin)
    case .wrapped(let other): return plainType(of: other, name: name, in: parent)
    case .array(let items):
      let element = items.map { type(of: $0, name: SwiftName.singular(name), in: parent) } ?? .builtin(.json)
      return .array(element)
    case .map(let values):
      let value = values.map { type(of: $0, name: SwiftName.singular(name), in: parent) } ?? .builtin(.json)
      return .map(value)
    case .union(let members, _):
      if let simple = simpleType(of: members) { return simple }
      return .model(model(of: schema, name, in: parent))
    case .enumeration, .object: return .model(model(of: schema, name, in: parent))
    }
  }

  private func tooDeep(_ schema: Cursor) -> TypeUse {
    files.note(schema, "the schema is nested too deeply; it becomes any JSON")
    return .builtin(.json)
  }

  private func model(of schema: Cursor, _ name: String, in parent: Model?) -> Model {
    guard let parent else { return topModel(schema, name) }
    var taken: Set<String> = []
    var outer: Model? = parent
    while let model = outer {
      taken.insert(model.name)
      outer = model.parent
    }
    taken.formUnion(parent.nested.map(\.name))
    // No top-level type has the name `Response`, because it is a name of each request.
    let isOwn = parent.parent == nil && name == "Response"
    let own = SwiftName.unique(name) { taken.contains($0) || (!isOwn && self.isTaken($0)) }
    nestedNames.insert(own)
    let model = Model(own, doc: SchemaDoc.paragraphs(schema), parent: parent)
    parent.nested.append(model)
    fill(model, schema)
    return model
  }

  /// The top-level model of a schema. Its properties are determined later, so that it can contain itself.
  private func topModel(_ schema: Cursor, _ name: String) -> Model {
    let pointer = schema.pointer
    if let model = modelsByPointer[pointer] { return model }
    // A named schema that only wraps this one has no model, so this model takes its name, which is already reserved.
    let model = Model(name == aliasName ? name : topName(name, pointer), doc: SchemaDoc.paragraphs(schema))
    modelsByPointer[pointer] = model
    models.append(model)
    if let kind = listed(schemas.finalShape(of: schema)) { model.kind = kind } else { waiting.append((model, schema)) }
    return model
  }

  /// The type of a schema that has a name, because something refers to it.
  private func referenced(_ schema: Cursor) -> TypeUse {
    let pointer = schema.pointer
    if let model = modelsByPointer[pointer] { return .model(model) }
    if let type = typesByPointer[pointer] { return type }
    let name = topName(SwiftName.type(schema.name ?? "Value"), pointer)
    guard let shape = schemas.finalShape(of: schema) else { return .builtin(.json) }
    switch shape {
    case .enumeration, .object: break
    case .union(let members, _) where simpleType(of: members) == nil: break
    default: return alias(schema, name, pointer)
    }
    if case .wrapped(let other) = schemas.shape(of: schema) { return alias(other, name, pointer) }
    return .model(topModel(schema, name))
  }

  /// The type of a schema with a name that needs no model of its own. Models inside it are top-level models, because all
  /// users of the schema share them.
  private func alias(_ schema: Cursor, _ name: String, _ pointer: String) -> TypeUse {
    guard running.insert(pointer).inserted else {
      files.note(schema, "the schema contains itself without an object between; it becomes any JSON")
      return .builtin(.json)
    }
    let outer = aliasName
    aliasName = name
    defer {
      running.remove(pointer)
      aliasName = outer
    }
    var type = plainType(of: schema, name: name, in: nil)
    // The types of other schemas are parts of this one, so types would grow from schema to schema.
    if type.height > JSONReader.depthLimit { type = tooDeep(schema) }
    typesByPointer[pointer] = type
    return type
  }

  // MARK: - Models

  private func fill(_ model: Model, _ schema: Cursor) {
    switch schemas.finalShape(of: schema) {
    case .enumeration(let raw, let values): model.kind = .enumeration(raw, values)
    case .object(let parts): fill(model, parts)
    case .union(let members, let discriminator): fill(model, members, discriminator)
    default: files.note(schema, "the schema is not generated")
    }
  }

  private func fill(_ model: Model, _ parts: ObjectParts) {
    var names: Set<String> = ["additionalProperties", "hashValue"]
    let properties = parts.properties.map { key, schema -> Model.Property in
      let name = SwiftName.unique(SwiftName.member(key)) { names.contains($0) }
      names.insert(name)
      let isListed = parts.required.contains(key)
      let isOneWay = isListed && schemas.isOneWay(schema)
      let isRequired = isListed && !isOneWay
      let type = type(of: schema, name: SwiftName.type(key), in: model)
      return Model.Property(
        key: key, name: name, type: isRequired ? type : type.asOptional, isRequired: isRequired, isOneWay: isOneWay,
        doc: SchemaDoc.paragraphs(schema))
    }
    let additional = parts.additional.map { schema -> TypeUse in
      schema.node.members == nil ? .builtin(.json) : type(of: schema, name: "AdditionalProperty", in: model)
    }
    model.kind = .object(properties, additional: additional)
  }

  // MARK: - Unions

  /// One type for all members: the same type, or strings of which some are listed.
  private func simpleType(of members: [Cursor]) -> TypeUse? {
    let shapes = members.map { schemas.finalShape(of: $0) }
    var builtins: Set<Builtin> = []
    for shape in shapes {
      guard case .builtin(let builtin) = shape else { continue }
      if builtin == .json { return .builtin(.json) }
      builtins.insert(builtin)
    }
    let lists = shapes.count { if case .enumeration = $0 { true } else { false } }
    let isWhole = shapes.allSatisfy { shape in
      switch shape {
      case .builtin: true
      case .enumeration(let raw, _): raw == .string
      default: false
      }
    }
    guard isWhole else { return nil }
    if lists == shapes.count { return nil }
    if builtins.count == 1, let only = builtins.first, lists == 0 || only == .string { return .builtin(only) }
    return builtins.allSatisfy(\.isText) ? .builtin(.string) : nil
  }

  private func fill(_ model: Model, _ members: [Cursor], _ discriminator: Cursor?) {
    if let kind = listed(.union(members, discriminator: discriminator)) { return model.kind = kind }
    let (property, tags) = tags(of: members, discriminator)
    var names: Set<String> = ["other", "isOther", "hashValue"]
    var cases: [Model.UnionCase] = []
    for (index, member) in members.enumerated() {
      let title = member.text("title").map(SwiftName.type) ?? "Option\(index + 1)"
      let type = type(of: member, name: title, in: model).wrapped
      if case .builtin(.json) = type { continue }
      let name = SwiftName.unique(Self.caseName(type)) { names.contains($0) }
      names.insert(name)
      if property == nil, case .model(let target) = type { target.isTried = true }
      let isBase = discriminator.map { $0.pointer == "\(member.pointer)/discriminator" } ?? false
      cases.append(
        Model.UnionCase(name: name, type: type, tags: tags[index], rank: rank(of: member), isBase: isBase))
    }
    model.kind = .union(cases, discriminator: property)
  }

  private static func caseName(_ type: TypeUse) -> String {
    switch type {
    case .builtin(.url), .builtin(.uuid): type.text.lowercased()
    case .builtin, .model: SwiftName.member(type.text)
    case .array(let element): caseName(element) + "List"
    case .map(let value): caseName(value) + "Map"
    case .optional(let wrapped): caseName(wrapped)
    }
  }

  /// The enumeration for listed values, and for a union of several lists of texts; nil for other shapes.
  private func listed(_ shape: SchemaShape?) -> Model.Kind? {
    switch shape {
    case .enumeration(let raw, let values): return .enumeration(raw, values)
    case .union(let members, _):
      let lists = members.compactMap { member -> [String]? in
        if case .enumeration(.string, let values) = schemas.finalShape(of: member) { values } else { nil }
      }
      return lists.count == members.count ? .enumeration(.string, SchemaReader.distinct(lists.flatMap(\.self))) : nil
    default: return nil
    }
  }

  /// The property that tells the members apart, and its values for each member.
  private func tags(of members: [Cursor], _ discriminator: Cursor?) -> (property: String?, tags: [[String]]) {
    if let property = discriminator?.text("propertyName") {
      let mapping = discriminator?["mapping"]?.members ?? []
      let tags = members.map { member -> [String] in
        let pointer = files.resolved(member)?.pointer
        // A schema inside the union has no name. A schema that only refers to another one has its own name.
        let name = files.target(of: member)?.name
        let mapped = mapping.filter { _, target in
          guard let text = target.text else { return false }
          if text == member.text("$ref") || text == name || "#/components/schemas/\(text)" == pointer { return true }
          return text.utf8.contains(UInt8(ascii: "#")) && "#\(text.split(separator: "#").last ?? "")" == pointer
        }.map(\.key)
        return mapped.isEmpty ? [constant(property, of: member) ?? name].compactMap(\.self) : mapped
      }
      if tags.contains(where: { !$0.isEmpty }) {
        for (member, tags) in zip(members, tags) where tags.isEmpty {
          files.note(member, "the discriminator has no value for this type; move it to `components` and refer to it")
        }
        return (property, tags)
      }
    }
    let parts = members.map { member -> ObjectParts? in
      if case .object(let parts) = schemas.finalShape(of: member) { parts } else { nil }
    }
    for (key, _) in parts.first??.properties ?? [] {
      let values = members.map { constant(key, of: $0) }.compactMap(\.self)
      if values.count == members.count, Set(values).count == values.count { return (key, values.map { [$0] }) }
    }
    return (nil, members.map { _ in [] })
  }

  /// The only value that a required property of an object may have.
  private func constant(_ key: String, of member: Cursor) -> String? {
    guard case .object(let parts) = schemas.finalShape(of: member), parts.required.contains(key),
      let property = parts.properties.first(where: { $0.key == key })?.schema,
      case .enumeration(.string, let values) = schemas.finalShape(of: property), values.count == 1
    else { return nil }
    return values[0]
  }

  /// The place of a member in the order in which a union tries its members. `isInner` tells that it is a member of a
  /// union inside of that union.
  private func rank(of member: Cursor, isInner: Bool = false) -> Int {
    switch schemas.finalShape(of: member) {
    case .builtin(.bool): 1
    case .builtin(let builtin) where builtin.isInteger: 2
    case .builtin(.double), .builtin(.float): 3
    case .builtin(.string): 9
    case .builtin: 4
    case .enumeration: 5
    case .array: 6
    case .union(let members, let discriminator):
      // Without a discriminator, a union reads each value that its most general type reads.
      isInner || tags(of: members, discriminator).property != nil
        ? 6 : members.map { rank(of: $0, isInner: true) }.max() ?? 6
    case .object(let parts): 1_000 - min(schemas.requiredCount(of: parts), 900)
    case .map: 2_000
    case .wrapped, nil: 3_000
    }
  }
}

enum SchemaDoc {
  static func paragraphs(_ cursor: Cursor) -> [String] {
    var paragraphs = [cursor.text("description") ?? ""]
    if let value = cursor.node["default"]?.scalarText { paragraphs.append("The server's default is `\(value)`.") }
    if cursor.isTrue("deprecated") { paragraphs.append("Deprecated: the document advises against its use.") }
    return paragraphs.filter { !$0.isEmpty }
  }
}
