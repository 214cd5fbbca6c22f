/// Writes the declarations of models.
struct ModelWriter {
  /// The access level with a space after it; empty for internal.
  let access: String

  func write(_ model: Model, to text: inout SwiftText) {
    text.doc(model.doc)
    switch model.kind {
    case .object(let properties, let additional): writeObject(model, properties, additional, &text)
    case .enumeration(let raw, let values): writeEnumeration(model, raw, values, &text)
    case .union(let cases, let discriminator): writeUnion(model, cases, discriminator, &text)
    }
  }

  // MARK: - Structs

  private func writeObject(
    _ model: Model, _ properties: [Model.Property], _ additional: TypeUse?, _ text: inout SwiftText
  ) {
    let needsKeys = additional != nil || properties.contains { $0.key != $0.name }
    let needsInitializer = !access.isEmpty || additional != nil
    text.block("\(access)struct \(model.name): Codable, Hashable, Sendable") { text in
      for property in properties { writeProperty(property, hasDefault: !needsInitializer, &text) }
      if let additional {
        text.blank()
        text.doc(["The members that the document does not list."])
        text.line("\(access)var additionalProperties: [String: \(additional.text)] = [:]")
      }
      if needsInitializer { writeInitializer(properties, additional, &text) }
      if needsKeys { writeKeys(properties, &text) }
      if let additional { writeCoding(properties, additional, &text) }
      if additional == nil, properties.contains(where: { $0.isRequired && $0.type.isOptional }) {
        writeEncoding(properties, hasAdditional: false, &text)
      }
      for nested in model.nested {
        text.blank()
        write(nested, to: &text)
      }
    }
  }

  /// The value of a discriminator as it is written behind the type of its property; nil for other properties.
  private static func tag(_ property: Model.Property) -> String? {
    guard let tag = property.tag.map(SwiftText.literal) else { return nil }
    let type = property.type.wrapped
    if case .builtin(.string) = type { return " = \(tag)" }
    return type.rawType == .string ? " = \(type.text)(rawValue: \(tag))" : nil
  }

  /// `hasDefault` tells that the struct has no initializer that is written out, so its properties have the defaults.
  private func writeProperty(_ property: Model.Property, hasDefault: Bool, _ text: inout SwiftText) {
    if !property.doc.isEmpty { text.blank() }
    text.doc(property.doc)
    let type = property.type.text
    let name = SwiftName.escaped(property.name)
    if property.isIndirect {
      text.line("@Indirect \(access)var \(name): \(type)\(property.type.isOptional ? " = nil" : "")")
    } else {
      text.line("\(access)var \(name): \(type)\(hasDefault ? Self.tag(property) ?? "" : "")")
    }
  }

  private func writeInitializer(_ properties: [Model.Property], _ additional: TypeUse?, _ text: inout SwiftText) {
    var parameters = properties.map { property -> (name: String, type: String) in
      let value = Self.tag(property) ?? (property.type.isOptional ? " = nil" : "")
      return (SwiftName.escaped(property.name), property.type.text + value)
    }
    if let additional { parameters.append(("additionalProperties", "[String: \(additional.text)] = [:]")) }
    text.initializer(access, parameters)
  }

  private func writeKeys(_ properties: [Model.Property], _ text: inout SwiftText) {
    text.blank()
    text.block("private enum CodingKeys: String, CodingKey") { text in
      for property in properties {
        let name = SwiftName.escaped(property.name)
        text.line(property.key == property.name ? "case \(name)" : "case \(name) = \(SwiftText.literal(property.key))")
      }
    }
  }

  private func writeCoding(_ properties: [Model.Property], _ additional: TypeUse, _ text: inout SwiftText) {
    text.blank()
    text.block("\(access)init(from decoder: any Decoder) throws") { text in
      text.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
      for property in properties {
        let verb = property.type.isOptional ? "decodeIfPresent" : "decode"
        let name = SwiftName.escaped(property.name)
        text.line(
          "\(Self.own(name, ["container", "decoder", "others"])) = try container.\(verb)(\(property.type.wrapped.text).self, forKey: .\(name))"
        )
      }
      text.line("let others = try decoder.container(keyedBy: AnyKey.self)")
      text.block("for key in others.allKeys where CodingKeys(stringValue: key.stringValue) == nil") { text in
        text.line("additionalProperties[key.stringValue] = try others.decode(\(additional.text).self, forKey: key)")
      }
    }
    writeEncoding(properties, hasAdditional: true, &text)
  }

  /// Writes a function that encodes nil as null for properties that must be present.
  private func writeEncoding(_ properties: [Model.Property], hasAdditional: Bool, _ text: inout SwiftText) {
    text.blank()
    text.block("\(access)func encode(to encoder: any Encoder) throws") { text in
      text.line("var container = encoder.container(keyedBy: CodingKeys.self)")
      for property in properties {
        let verb = property.type.isOptional && !property.isRequired ? "encodeIfPresent" : "encode"
        let name = SwiftName.escaped(property.name)
        text.line("try container.\(verb)(\(Self.own(name, ["container", "encoder"])), forKey: .\(name))")
      }
      if hasAdditional { text.line("try additionalProperties.encode(to: encoder)") }
    }
  }

  /// A property in a function that has variables or parameters with the same name.
  private static func own(_ name: String, _ locals: Set<String>) -> String {
    locals.contains(name) ? "self.\(name)" : name
  }

  // MARK: - Enumerations

  private func writeEnumeration(_ model: Model, _ raw: Builtin, _ values: [String], _ text: inout SwiftText) {
    var names: Set<String> = ["other", "rawValue", "argumentValue", "hashValue"]
    let cases = values.map { value -> (name: String, value: String) in
      let name = SwiftName.unique(value.isEmpty ? "empty" : SwiftName.member(value)) { names.contains($0) }
      names.insert(name)
      return (SwiftName.escaped(name), raw == .int ? value : SwiftText.literal(value))
    }
    let type = raw.rawValue
    text.block("\(access)enum \(model.name): RawRepresentable, Codable, Hashable, Sendable, ArgumentConvertible") {
      text in
      for item in cases { text.line("case \(item.name)") }
      text.doc(["A value that the document does not list."])
      text.line("case other(\(type))")
      text.blank()
      text.block("\(access)init(rawValue: \(type))") { text in
        text.line("switch rawValue {")
        for item in cases { text.line("case \(item.value): self = .\(item.name)") }
        text.line("default: self = .other(rawValue)")
        text.line("}")
      }
      text.blank()
      text.block("\(access)var rawValue: \(type)") { text in
        text.line("switch self {")
        for item in cases { text.line("case .\(item.name): \(item.value)") }
        text.line("case .other(let value): value")
        text.line("}")
      }
      // An import at the level of the package counts as unused if only a conformance uses it.
      guard access == "package " else { return }
      text.blank()
      text.line("package var argumentValue: ArgumentValue { rawValue.argumentValue }")
    }
  }

  // MARK: - Unions

  private func writeUnion(
    _ model: Model, _ cases: [Model.UnionCase], _ discriminator: String?, _ text: inout SwiftText
  ) {
    let indirect = model.isIndirect ? "indirect " : ""
    text.block("\(access)\(indirect)enum \(model.name): Codable, Hashable, Sendable") { text in
      for item in cases { text.line("case \(SwiftName.escaped(item.name))(\(item.type.text))") }
      text.doc(["A value that fits none of the types that the document lists."])
      text.line("case other(JSONValue)")
      text.blank()
      text.block("\(access)init(from decoder: any Decoder) throws") { text in
        if cases.isEmpty {
          text.line("self = .other(try JSONValue(from: decoder))")
        } else if let discriminator {
          writeChoice(cases, discriminator, &text)
        } else {
          writeAttempts(cases, &text)
        }
      }
      text.blank()
      text.block("\(access)func encode(to encoder: any Encoder) throws") { text in
        text.line("var container = encoder.singleValueContainer()")
        text.line("switch self {")
        for item in cases {
          text.line("case .\(SwiftName.escaped(item.name))(let value): try container.encode(value)")
        }
        text.line("case .other(let value): try container.encode(value)")
        text.line("}")
      }
      if model.isTried {
        text.blank()
        text.doc(["Whether the value fits none of the types that the document lists."])
        text.line("\(access)var isOther: Bool { if case .other = self { true } else { false } }")
      }
      for nested in model.nested {
        text.blank()
        write(nested, to: &text)
      }
    }
  }

  private func writeChoice(_ cases: [Model.UnionCase], _ discriminator: String, _ text: inout SwiftText) {
    text.line("let container = try decoder.container(keyedBy: AnyKey.self)")
    let key = SwiftText.literal(discriminator)
    text.line("switch try container.decodeIfPresent(String.self, forKey: AnyKey(\(key))) {")
    var seen: Set<String> = []
    for item in cases {
      let tags = item.tags.filter { seen.insert($0).inserted }.map(SwiftText.literal) + (item.isBase ? ["nil"] : [])
      if !tags.isEmpty {
        let list = tags.joined(separator: ", ")
        text.line("case \(list): self = .\(SwiftName.escaped(item.name))(try \(item.type.text)(from: decoder))")
      }
    }
    text.line("default: self = .other(try JSONValue(from: decoder))")
    text.line("}")
  }

  private func writeAttempts(_ cases: [Model.UnionCase], _ text: inout SwiftText) {
    text.line("let container = try decoder.singleValueContainer()")
    let ordered = cases.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
    for (place, item) in ordered.map(\.element).enumerated() {
      let word = place == 0 ? "if" : "} else if"
      // A union reads every value, so it fits only if one of its own types does.
      let isUnion = if case .model(let model) = item.type, case .union = model.kind { true } else { false }
      let end = isUnion ? ", !value.isOther {" : " {"
      text.line("\(word) let value = try? container.decode(\(item.type.text).self)\(end)")
      text.line("  self = .\(SwiftName.escaped(item.name))(value)")
    }
    text.line("} else {")
    text.line("  self = .other(try JSONValue(from: decoder))")
    text.line("}")
  }
}
