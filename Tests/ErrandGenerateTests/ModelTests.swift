import Testing

@testable import ErrandGenerate

struct ModelTests {
  @Test func `a schema becomes a plain struct`() throws {
    let schema = #"""
      {"type": "object", "description": "A thing.", "required": ["id", "note"], "properties": {
        "id": {"type": "integer", "format": "int64"}, "note": {"type": ["string", "null"]},
        "made_at": {"type": "string", "format": "date-time", "description": "When."}, "day": {"type": "string", "format": "date"},
        "key": {"type": "string", "format": "uuid"}, "raw": {"type": "string", "format": "byte"},
        "price": {"type": "number", "format": "float"}, "any": {}, "map": {"type": "object", "additionalProperties": {"type": "boolean"}}}}
      """#
    #expect(
      try Generated.model(schema).text == """
        /// A thing.
        struct Thing: Codable, Hashable, Sendable {
          var id: Int64
          var note: String?

          /// When.
          var madeAt: Date?
          var day: Shop.CalendarDate?
          var key: UUID?
          var raw: Data?
          var price: Float?
          var any: JSONValue?
          var map: [String: Bool]?

          private enum CodingKeys: String, CodingKey {
            case id
            case note
            case madeAt = "made_at"
            case day
            case key
            case raw
            case price
            case any
            case map
          }

          func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(note, forKey: .note)
            try container.encodeIfPresent(madeAt, forKey: .madeAt)
            try container.encodeIfPresent(day, forKey: .day)
            try container.encodeIfPresent(key, forKey: .key)
            try container.encodeIfPresent(raw, forKey: .raw)
            try container.encodeIfPresent(price, forKey: .price)
            try container.encodeIfPresent(any, forKey: .any)
            try container.encodeIfPresent(map, forKey: .map)
          }
        }

        """)
  }

  @Test(arguments: [
    (#"{"type": "string", "nullable": true}"#, "var p: String?"),
    (#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#, "var p: Int?"),
    (#"{"oneOf": [{"type": "integer"}, {"const": null}]}"#, "var p: Int?"),
    (#"{"anyOf": [{"type": "integer"}, {"type": ["null"]}]}"#, "var p: Int?"),
    (#"{"type": "array", "items": {"type": "number"}}"#, "var p: [Double]"),
    (#"{"type": "integer", "format": "uint64"}"#, "var p: UInt64"),
    (#"{"type": "integer", "format": "uint32"}"#, "var p: UInt32"),
    (#"{"type": "object"}"#, "var p: [String: JSONValue]"), ("true", "var p: JSONValue"),
    (##"{"allOf": [{"$ref": "#/components/schemas/Other"}], "nullable": true}"##, "var p: Other?"),
    (##"{"allOf": [{"$ref": "#/components/schemas/Texts"}, {"nullable": true}]}"##, "var p: [String]?"),
    (#"{"allOf": [{"type": ["string", "null"]}, {"description": "P."}]}"#, "var p: String?"),
    (#"{"allOf": [{"type": "string"}, {"type": ["string", "null"]}]}"#, "var p: String"),
    (#"{"allOf": [{"additionalProperties": {"type": "integer"}}, {"title": "A"}]}"#, "var p: [String: Int]"),
    (#"{"allOf": [{"items": {"type": "string"}}, {"title": "A"}]}"#, "var p: [String]"),
    (#"{"allOf": [{"const": "x"}, {"title": "A"}]}"#, "var p: P"),
    (##"{"$ref": "#/components/schemas/Texts"}"##, "var p: [String]"),
    (#"{"anyOf": [{"type": "string"}, {"type": "string", "format": "uri"}]}"#, "var p: String"),
    (#"{"type": "boolean", "enum": [true]}"#, "var p: Bool"),
    (#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}"#, "var p: [PItem]"),
  ])
  func `properties have fitting types`(property: String, line: String) throws {
    let schema = #"{"type": "object", "required": ["p"], "properties": {"p": \#(property)}}"#
    let others = #"""
      , "Other": {"type": "object", "properties": {"a": {"type": "string"}}},
      "Texts": {"type": "array", "items": {"type": "string"}}
      """#
    let text = try Generated.model(schema, others: others).text
    #expect(text.split(separator: "\n").contains("  \(line)"), "\(text)")
  }

  @Test func `a struct can contain itself`() throws {
    let schema = ##"{"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Thing"}}}"##
    #expect(try Generated.model(schema).text.contains("  @Shop.Indirect var next: Thing? = nil\n"))
  }

  @Test func `helpers of two APIs differ`() throws {
    let schema = #"{"type": "object", "additionalProperties": true, "properties": {"AnyKey": {"const": "AnyKey"}}}"#
    let document = #"""
      {"openapi": "3.1.0", "paths": {"/": {"get": {"operationId": "a", "responses": {"200": {"content": {
        "application/json": {"schema": \#(schema)}}}}}}}}
      """#
    var options = GenerateOptions()
    for name in ["Shop", "Bank"] {
      options.name = name
      let files = try Generated.files(document, options).files
      #expect(files.keys.filter { $0.hasPrefix("Support/") } == ["Support/\(name)+AnyKey.swift"])
      #expect(files["Support/\(name)+AnyKey.swift"]?.contains("extension \(name) {\n  /// A key") == true)
      let text = try #require(files["Requests/A.swift"])
      #expect(text.contains("keyedBy: \(name).AnyKey.self") && text.contains(#"case "AnyKey": self = .anyKey"#))
    }
  }

  @Test func `an enumeration on a cycle is indirect`() throws {
    let schema = ##"{"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Box"}]}"##
    let box =
      ##", "Box": {"type": "object", "required": ["t"], "properties": {"t": {"$ref": "#/components/schemas/Thing"}}}"##
    let text = try Generated.model(schema, others: box).text
    #expect(
      text.hasPrefix("indirect enum Thing: Codable, Hashable, Sendable {\n  case string(String)\n  case box(Box)\n"))
  }

  @Test func `a discriminator chooses the case`() throws {
    let schema = ##"""
      {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
       "discriminator": {"propertyName": "kind", "mapping": {"c": "#/components/schemas/Cat"}}}
      """##
    let others = #"""
      , "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
      "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}}
      """#
    let text = try Generated.model(schema, others: others).text
    #expect(
      text.contains(
        """
            switch try container.decodeIfPresent(String.self, forKey: Shop.AnyKey("kind")) {
            case "c": self = .cat(try Cat(from: decoder))
            case "Dog": self = .dog(try Dog(from: decoder))
            default: self = .other(try JSONValue(from: decoder))
        """))
  }

  @Test func `places are no values of a discriminator`() throws {
    let own = #"{"type": "object", "title": "Own", "required": ["kind"], "properties": {"kind": {"type": "string"}}}"#
    let choice = #""discriminator": {"propertyName": "kind"}"#
    let alone = try Generated.model(#"{"oneOf": [\#(own), {"type": "string"}], \#(choice)}"#)
    #expect(alone.notes == [] && alone.text.contains("if let value = try? container.decode(Own.self) {"))
    #expect(alone.text.contains("    var kind: String\n"), "\(alone.text)")
    let cat = #", "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}}"#
    let reference = ##"{"$ref": "#/components/schemas/Cat"}"##
    let mixed = try Generated.model(#"{"oneOf": [\#(reference), \#(own)], \#(choice)}"#, others: cat)
    #expect(mixed.text.contains(#"case "Cat": self = .cat"#) && !mixed.text.contains(#"case "1""#), "\(mixed.text)")
    #expect(mixed.notes.map { $0.hasPrefix("#/components/schemas/Thing/oneOf/1: the discriminator has no") } == [true])
  }

  @Test func `a union inside a union must fit`() throws {
    let schema = ##"{"oneOf": [{"$ref": "#/components/schemas/Shape"}, {"$ref": "#/components/schemas/Dot"}]}"##
    let others = #"""
      , "Shape": {"oneOf": [{"type": "object", "title": "Blob", "properties": {"x": {}}}, {"type": "object",
        "title": "Ring", "required": ["r"], "properties": {"r": {"type": "integer"}}}]},
      "Dot": {"type": "object", "required": ["d"], "properties": {"d": {"type": "integer"}}}
      """#
    let text = try Generated.model(schema, others: others).text
    #expect(
      text.contains(
        """
            if let value = try? container.decode(Dot.self) {
              self = .dot(value)
            } else if let value = try? container.decode(Shape.self), !value.isOther {
              self = .shape(value)
            } else {
        """), "\(text)")
  }

  @Test func `a reference names the value of a discriminator`() throws {
    let schema = ##"""
      {"oneOf": [{"$ref": "#/components/schemas/Kitty"}, {"$ref": "#/components/schemas/Dog"}],
       "discriminator": {"propertyName": "kind"}}
      """##
    let others = ##"""
      , "Kitty": {"$ref": "#/components/schemas/Cat"}, "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
      "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}}
      """##
    let text = try Generated.model(schema, others: others).text
    #expect(text.contains(#"case "Kitty": self = .cat(try Cat(from: decoder))"#), "\(text)")
  }

  /// The model `Cat` of a document in which the types of `schemas` are used.
  private static func cat(_ schemas: String, access: GenerateOptions.Access = .internal) throws -> String {
    var options = GenerateOptions()
    options.access = access
    let response = ##"{"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Home"}}}}"##
    let text = #"""
      {"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {"/t": {"get": {"responses": {"200": \#(response)}}}},
       "components": {"schemas": {\#(schemas)}}}
      """#
    return try Generated.body(Generated.files(text, options).files["Models/Cat.swift"] ?? "no model")
  }

  private static let home = ##"""
    "Home": {"type": "object", "properties": {"pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"},
      {"$ref": "#/components/schemas/Dog"}], "discriminator": {"propertyName": "kind"}}}},
    "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}}
    """##

  @Test(arguments: [
    (#"{"type": "string"}"#, #"var kind: String = "Cat""#),
    (#"{"const": "tom"}"#, #"var kind: Kind = Kind(rawValue: "tom")"#), (#"{"type": "integer"}"#, "var kind: Int"),
  ])
  func `a discriminator has the value of its case`(kind: String, line: String) throws {
    let cat =
      #"{"type": "object", "required": ["kind", "name"], "properties": {"kind": \#(kind), "name": {"type": "string"}}}"#
    let text = try Self.cat(#"\#(Self.home), "Cat": \#(cat)"#)
    #expect(text.contains("  \(line)\n  var name: String\n"), "\(text)")
  }

  @Test func `an initializer has the value of a discriminator`() throws {
    let cat = #"{"type": "object", "properties": {"kind": {"type": "string"}, "age": {"type": "integer"}}}"#
    let text = try Self.cat(#"\#(Self.home), "Cat": \#(cat)"#, access: .public)
    #expect(text.contains(#"  public init(kind: String? = "Cat", age: Int? = nil) {"#), "\(text)")
  }

  @Test func `unions that disagree leave a discriminator free`() throws {
    let other = ##"""
      , "Other": {"type": "object", "properties": {"pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"},
        {"$ref": "#/components/schemas/Home"}], "discriminator": {"propertyName": "kind",
        "mapping": {"c": "#/components/schemas/Cat"}}}}}
      """##
    let home = Self.home.replacing(#"{"pet""#, with: ##"{"other": {"$ref": "#/components/schemas/Other"}, "pet""##)
    let cat = #"{"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}"#
    let text = try Self.cat(#"\#(home)\#(other), "Cat": \#(cat)"#)
    #expect(text.contains("  var kind: String\n"), "\(text)")
  }

  @Test func `parts of allOf are merged`() throws {
    let schema = ##"""
      {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}
      """##
    let base = #", "Base": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}"#
    let text = try Generated.model(schema, others: base).text
    #expect(text == "struct Thing: Codable, Hashable, Sendable {\n  var a: Int\n  var b: String\n}\n")
  }

  @Test(arguments: [
    #", {"additionalProperties": {"type": "string"}}]"#, #"], "additionalProperties": {"type": "string"}"#,
  ])
  func `parts of allOf allow further members`(more: String) throws {
    let schema = ##"{"allOf": [{"$ref": "#/components/schemas/Base"}\##(more)}"##
    let base = #", "Base": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}"#
    let text = try Generated.model(schema, others: base).text
    #expect(text.contains("  var additionalProperties: [String: String] = [:]\n"), "\(text)")
  }

  @Test func `parts of allOf keep types of properties`() throws {
    let schema = ##"""
      {"allOf": [{"$ref": "#/components/schemas/Base"}],
       "properties": {"a": {"description": "Mine."}, "b": {"readOnly": true}, "c": {"enum": ["x"]}, "d": true}}
      """##
    let base = ##"""
      , "Base": {"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "integer", "description": "Any."}, "b": {"$ref": "#/components/schemas/Other"},
        "c": {"type": "string"}, "d": {"type": "number"}}},
      "Other": {"type": "boolean"}
      """##
    let text = try Generated.model(schema, others: base).text
    #expect(text.contains("  /// Mine.\n  var a: Int\n  var b: Bool?\n  var c: C?\n  var d: Double?\n"), "\(text)")
  }

  @Test func `loops of references are reported`() throws {
    let others =
      ##", "Loop": {"$ref": "#/components/schemas/Loop"}, "List": {"type": "array", "items": {"$ref": "#/components/schemas/List"}}"##
    let schema =
      ##"{"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Loop"}, "l": {"$ref": "#/components/schemas/List"}}}"##
    let (text, notes) = try Generated.model(schema, others: others)
    #expect(text.contains("var a: JSONValue?"))
    #expect(notes.contains { $0.hasSuffix("the reference leads to itself") })
    #expect(notes.contains { $0.hasPrefix("#/components/schemas/List: the schema contains itself") })
  }

  @Test func `references to anchors are reported`() throws {
    let schema = ##"{"type": "object", "properties": {"a": {"$ref": "#Other"}}}"##
    let (text, notes) = try Generated.model(schema)
    #expect(text.contains("var a: JSONValue?"))
    let reason = "the reference “#Other” names an anchor; use a JSON pointer such as #/components/schemas/Pet"
    #expect(notes == ["#/components/schemas/Thing/properties/a: \(reason)"])
  }

  /// The files for a response with two properties, `a` and `b`, that refer to the schema `Comments`.
  private static func comments(_ schemas: String) throws -> (files: [String: String], notes: [String]) {
    let reference = ##"{"$ref": "#/components/schemas/Comments"}"##
    return try Generated.files(
      #"""
      {"openapi": "3.1.0", "paths": {"/": {"get": {"operationId": "read", "responses": {"200": {"content": {
        "application/json": {"schema": {"type": "object", "properties": {"a": \#(reference), "b": \#(reference),
        "comment": {"type": "object", "properties": {"x": {}}}}}}}}}}}}, "components": {"schemas": {\#(schemas)}}}
      """#)
  }

  @Test func `elements of a list can contain the list`() throws {
    let (files, notes) = try Self.comments(
      ##"""
      "Comments": {"type": "array", "items": {"type": "object", "required": ["text"], "properties": {
        "text": {"type": "string"}, "replies": {"$ref": "#/components/schemas/Comments"}}}}
      """##)
    #expect(notes == [])
    let model = try #require(files["Models/Comment.swift"])
    #expect(model.contains("struct Comment: Codable") && model.contains("  var replies: [Comment]?\n"))
    let text = try #require(files["Requests/Read.swift"])
    #expect(text.contains("var a: [Comment]?") && text.contains("var b: [Comment]?"))
    #expect(text.contains("var comment: Comment2?"))
  }

  @Test(arguments: [
    (#""allOf": [{"type": "object", "properties": {"a": {}}}]"#, "Comments?", "struct Comments:"),
    (#""anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]"#, "Comments?", "struct Comments:"),
    (#""type": "array", "items": {"enum": ["x"]}"#, "[Comment]?", "enum Comment:"),
    (
      #""additionalProperties": {"oneOf": [{"type": "string"}, {"type": "object"}]}"#, "[String: Comment]?",
      "enum Comment:"
    ),
  ])
  func `types in a named schema are shared`(schema: String, use: String, declaration: String) throws {
    let files = try Self.comments(#""Comments": {\#(schema)}"#).files
    #expect(files["Requests/Read.swift"]?.contains("var b: \(use)\n") == true)
    #expect(files.filter { $0.key.hasPrefix("Models/") }.map(\.value).contains { $0.contains(declaration) })
  }

  @Test(arguments: ["readOnly", "writeOnly"])
  func `properties of one direction are optional`(mark: String) throws {
    let schema = ##"""
      {"type": "object", "required": ["a", "b", "c", "d"], "properties": {
        "a": {"type": "string", "\##(mark)": true}, "b": {"$ref": "#/components/schemas/Other"},
        "c": {"type": ["string", "null"], "\##(mark)": true}, "d": {"type": "integer", "\##(mark)": false}}}
      """##
    let other = #", "Other": {"type": "string", "\#(mark)": true}"#
    #expect(
      try Generated.model(schema, others: other).text == """
        struct Thing: Codable, Hashable, Sendable {
          var a: String?
          var b: String?
          var c: String?
          var d: Int
        }

        """)
  }

  @Test(
    arguments: [
      (#""allOf": [\#(base)], "oneOf": [{"type": "object", "properties": {"y": {}}}]"#, "#/components/schemas/Thing"),
      (
        #""allOf": [\#(base), {"properties": {"y": {}}, "anyOf": [{"enum": [1]}]}]"#,
        "#/components/schemas/Thing/allOf/1"
      ),
      (#""properties": {"x": {}}, "anyOf": [{"type": "object", "title": "A"}]"#, "#/components/schemas/Thing"),
      (#""allOf": [\#(base)], "anyOf": [{"required": ["x"]}, {"type": "object", "required": ["y"]}]"#, nil),
      (#""properties": {"x": {}}, "oneOf": [{"type": "object", "required": ["x"]}, {"type": "null"}]"#, nil),
    ] as [(String, String?)])
  func `unions beside properties are reported`(schema: String, pointer: String?) throws {
    let notes = try Generated.model("{\(schema)}").notes
    #expect(notes.count == (pointer == nil ? 0 : 1) && notes.allSatisfy { $0.hasPrefix("\(pointer ?? ""): only ") })
    #expect(notes.allSatisfy { $0.contains("not `oneOf` or `anyOf` beside") }, "\(notes)")
  }

  private static let base = #"{"type": "object", "properties": {"x": {}}}"#

  @Test func `names of Swift are not hidden`() throws {
    let schema =
      ##"{"type": "object", "properties": {"d": {"$ref": "#/components/schemas/Date"}, "class": {"type": "string"}}}"##
    let date = #", "Date": {"type": "object", "properties": {"y": {"type": "integer"}}}"#
    #expect(
      try Generated.model(schema, others: date).text.hasSuffix("  var d: DateModel?\n  var `class`: String?\n}\n"))
  }

  @Test func `titles are not repeated as comments`() throws {
    let schema = #"{"type": "object", "title": "Thing", "properties": {"a": {"type": "string", "title": "A"}}}"#
    #expect(try Generated.model(schema).text == "struct Thing: Codable, Hashable, Sendable {\n  var a: String?\n}\n")
  }

  @Test func `listed values of a text are texts`() throws {
    let text = try Generated.model(#"{"type": "string", "enum": [true, 404, 1.0, "x", null]}"#).text
    #expect(text.contains("  init(rawValue: String) {\n"), "\(text)")
    for line in [#"case "true": self = .`true`"#, #"case "404": self = .value404"#, #"case "1.0": self = .value10"#] {
      #expect(text.contains(line), "\(text)")
    }
  }

  @Test func `listed values of an array are reported`() throws {
    let list = #"{"type": "array", "enum": ["a"], "items": {"type": "string"}}"#
    let (text, notes) = try Generated.model(#"{"type": "object", "properties": {"p": \#(list)}}"#)
    #expect(text.contains("  var p: [String]?\n"), "\(text)")
    let reason = "the listed values are no arrays and are ignored; list them in `items`"
    #expect(notes == ["#/components/schemas/Thing/properties/p: \(reason)"])
  }
}
