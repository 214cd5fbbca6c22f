import Testing

@testable import ErrandGenerate

/// Schemas with a `discriminator` whose subtypes name them in `allOf`.
struct SubtypeTests {
  private static let reference = ##"{"$ref": "#/components/schemas/Pet"}"##

  /// A schema that extends another one by a property.
  private static func subtype(_ property: String, of base: String = "Pet") -> String {
    ##"{"allOf": [{"$ref": "#/components/schemas/\##(base)"}, {"properties": {"\##(property)": {"type": "string"}}}]}"##
  }

  private static func pet(mapping: String? = nil) -> String {
    let more = mapping.map { #", "mapping": {\#($0)}"# } ?? ""
    return #"""
      {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}},
       "discriminator": {"propertyName": "kind"\#(more)}}
      """#
  }

  /// The files for a response that is an object with a property `pet`, and the notes.
  private static func files(
    _ schemas: String, use: String = Self.reference
  ) throws -> (files: [String: String], notes: [String]) {
    try Generated.files(
      #"""
      {"openapi": "3.0.3", "info": {"title": "Shop"}, "paths": {"/": {"get": {"operationId": "read", "responses": {
        "200": {"content": {"application/json": {"schema": {"type": "object", "properties": {"pet": \#(use)}}}}}}}}},
       "components": {"schemas": {\#(schemas)}}}
      """#)
  }

  @Test func `components that extend a schema are its cases`() throws {
    let (files, notes) = try Self.files(
      #""Pet": \#(Self.pet()), "Cat": \#(Self.subtype("name")), "Lion": \#(Self.subtype("mane", of: "Cat"))"#)
    #expect(notes == [])
    let pet = Generated.body(files["Models/Pet.swift"] ?? "")
    #expect(pet.hasPrefix("enum Pet: Codable, Hashable, Sendable {\n  case cat(Cat)\n  case lion(Lion)\n"), "\(pet)")
    #expect(pet.contains("  case lion(Lion)\n  case base(Base)\n  /// A value that fits none"), "\(pet)")
    #expect(pet.contains(#"case "Cat": self = .cat(try Cat(from: decoder))"#), "\(pet)")
    #expect(pet.contains(#"case "Lion": self = .lion(try Lion(from: decoder))"#), "\(pet)")
    #expect(pet.contains(#"case "Pet", nil: self = .base(try Base(from: decoder))"#), "\(pet)")
    #expect(files["Requests/Read.swift"]?.contains("    var pet: Pet?\n") == true)
    let lion = files["Models/Lion.swift"] ?? ""
    #expect(lion.contains("  var kind: String = \"Lion\"\n  var name: String?\n  var mane: String?\n"), "\(lion)")
  }

  @Test func `a mapping names the values of subtypes`() throws {
    let mapping = ##""c": "#/components/schemas/Cat", "d": "Dog", "plain": "#/components/schemas/Pet""##
    let (files, notes) = try Self.files(
      #""Dog": \#(Self.subtype("age")), "Cat": \#(Self.subtype("name")), "Pet": \#(Self.pet(mapping: mapping))"#)
    #expect(notes == [])
    let pet = files["Models/Pet.swift"] ?? ""
    for line in ["c\": self = .cat(try Cat(", "d\": self = .dog(try Dog(", "plain\", nil: self = .base(try Base("] {
      #expect(pet.contains("case \"\(line)from: decoder))"), "\(pet)")
    }
    #expect(pet.contains("  struct Base: Codable, Hashable, Sendable {\n    var kind: String = \"plain\"\n"), "\(pet)")
  }

  @Test func `subtypes need no properties of their own`() throws {
    let cat = #"{"description": "A cat.", "allOf": [\#(Self.reference)]}"#
    let (files, notes) = try Self.files(#""Cat": \#(cat), "Pet": \#(Self.pet())"#)
    #expect(notes == [])
    #expect(files["Models/Pet.swift"]?.contains("case cat(Cat)\n") == true)
    #expect(files["Models/Cat.swift"]?.contains("struct Cat: Codable, Hashable, Sendable {\n  var kind: ") == true)
  }

  @Test func `nullable uses of a schema are no subtypes`() throws {
    let some = #""Some": {"nullable": true, "allOf": [\#(Self.reference)]}"#
    let (files, notes) = try Self.files(
      #"\#(some), "Cat": \#(Self.subtype("a")), "Pet": \#(Self.pet())"#,
      use: ##"{"$ref": "#/components/schemas/Some"}"##)
    #expect(notes == [])
    #expect(files["Requests/Read.swift"]?.contains("    var pet: Pet?\n") == true)
    #expect(files["Models/Pet.swift"]?.contains("  case cat(Cat)\n  case base(Base)\n") == true)
  }

  @Test func `subtypes can have subtypes`() throws {
    let mapping = ##""cat": "#/components/schemas/Cat", "lion": "#/components/schemas/Lion""##
    let cat = #"""
      {"allOf": [\#(Self.reference), {"properties": {"name": {"type": "string"}}}],
       "discriminator": {"propertyName": "kind", "mapping": {"lion": "Lion"}}}
      """#
    let (files, notes) = try Self.files(
      #""Pet": \#(Self.pet(mapping: mapping)), "Cat": \#(cat), "Lion": \#(Self.subtype("mane", of: "Cat"))"#)
    #expect(notes == [])
    #expect(files["Models/Pet.swift"]?.contains(#"case "cat": self = .cat(try Cat(from: decoder))"#) == true)
    let text = files["Models/Cat.swift"] ?? ""
    #expect(text.contains(#"case "lion": self = .lion(try Lion(from: decoder))"#), "\(text)")
    #expect(text.contains(#"case "cat", nil: self = .base(try Base(from: decoder))"#), "\(text)")
  }

  @Test func `subtypes can contain their base`() throws {
    let cat = #"{"allOf": [\#(Self.reference), {"properties": {"friend": \#(Self.reference)}}]}"#
    let files = try Self.files(#""Cat": \#(cat), "Pet": \#(Self.pet())"#).files
    #expect(files["Models/Pet.swift"]?.contains("indirect enum Pet:") == true)
    #expect(files["Models/Cat.swift"]?.contains("  var friend: Pet?\n") == true)
  }

  @Test(arguments: [nil, ##""p": "#/components/schemas/Pet""##])
  func `a schema without subtypes is a struct`(mapping: String?) throws {
    let (files, notes) = try Self.files(#""Pet": \#(Self.pet(mapping: mapping))"#)
    #expect(notes == [])
    #expect(files["Models/Pet.swift"]?.contains("struct Pet: Codable") == true)
  }

  @Test func `schemas that extend each other end`() throws {
    let files = try Self.files(
      ##"""
      "Pet": {"allOf": [{"$ref": "#/components/schemas/Cat"}], "discriminator": {"propertyName": "kind"}},
      "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}], "properties": {"kind": {"type": "string"}}}
      """##
    ).files
    #expect(files["Models/Pet.swift"]?.contains("  case cat(Cat)\n") == true)
  }

  @Test func `targets of a mapping must exist`() throws {
    let mapping = ##""d": "#/components/schemas/Dog""##
    let (files, notes) = try Self.files(
      #""Cat": \#(Self.subtype("name")), "Pet": \#(Self.pet(mapping: mapping))"#)
    #expect(notes.map { $0.hasSuffix("the reference “#/components/schemas/Dog” has no target") } == [true], "\(notes)")
    #expect(files["Models/Pet.swift"]?.contains("  case cat(Cat)\n  case base(Base)\n") == true)
  }
}
