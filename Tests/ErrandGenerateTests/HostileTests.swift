import Foundation
import Testing

@testable import ErrandGenerate

/// Documents whose texts try to leave their string literal, their comment or their folder, or whose names have a
/// meaning in Swift.
struct HostileTests {
  private static let endings = [
    #"*/ fatalError() /*"#, #""; fatalError() //"#, #"\(fatalError())"#, "\nfatalError()", "\r\nfatalError()",
    "\rfatalError()", "\u{2028}fatalError()", "\u{85}fatalError()", "\u{B}fatalError()", #"\"#, #"""""#,
    "\0fatalError()",
    "../../fatalError()", "`fatalError()`", "} func x() { fatalError() }", "\u{301}\nfatalError()",
  ]

  /// A document that contains the text in each place from which the generator copies.
  private static func document(_ text: String) throws -> String {
    let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self).dropFirst().dropLast()
    return ##"""
      {"openapi": "3.1.0", "info": {"title": "Shop \##(quoted)", "description": "a\##(quoted)"},
       "servers": [{"url": "http://a/\##(quoted)"}, {"url": "http://b/\##(quoted)", "description": "c\##(quoted)"}],
       "paths": {"/p\##(quoted)/{id\##(quoted)}": {"post": {
        "operationId": "../x\##(quoted)", "summary": "s\##(quoted)", "description": "d\##(quoted)",
        "servers": [{"url": "http://c/\##(quoted)"}],
        "parameters": [
          {"name": "id\##(quoted)", "in": "path", "schema": {"type": "string"}},
          {"name": "q\##(quoted)", "in": "query", "description": "e\##(quoted)", "schema": {"type": "array", "items": {"type": "string"}}},
          {"name": "j\##(quoted)", "in": "query", "style": "pipeDelimited", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
          {"name": "h\##(quoted)", "in": "header", "schema": {"type": "string", "default": "f\##(quoted)"}},
          {"name": "c\##(quoted)", "in": "cookie", "schema": {"type": "string"}}],
        "requestBody": {"content": {"text/\##(quoted)": {}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}}},
       "components": {
        "securitySchemes": {"k\##(quoted)": {"type": "apiKey", "in": "header", "name": "n\##(quoted)"}},
        "schemas": {"Thing": {"type": "object", "description": "g\##(quoted)", "additionalProperties": {"type": "string"}, "properties": {
          "p\##(quoted)": {"type": "string", "description": "i\##(quoted)"},
          "e": {"type": "string", "enum": ["v\##(quoted)", "\##(quoted)"]},
          "u": {"oneOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}],
                "discriminator": {"propertyName": "t\##(quoted)", "mapping": {"m\##(quoted)": "A"}}}}},
        "A": {"type": "object", "properties": {"a": {"type": "string"}}},
        "B": {"type": "object", "properties": {"b": {"type": "string"}}}}}}
      """##
  }

  @Test(arguments: endings)
  func `texts stay in literals and comments`(text: String) throws {
    let files = try Generated.files(Self.document(text)).files
    #expect(files.keys.contains("Models/Thing.swift"))
    for (path, code) in files {
      let name = path.split(separator: "/").last ?? ""
      let isPlain = name.dropLast(6).allSatisfy { $0.isLetter || $0.isNumber || $0 == "+" }
      #expect(!path.contains("..") && isPlain, "\(path)")
      for line in code.split(whereSeparator: \.isNewline) where !line.drop(while: { $0 == " " }).hasPrefix("///") {
        #expect(!Self.withoutLiterals(line).contains("fatalError()"), "\(line)")
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(line)")
      }
    }
  }

  /// A line of code without the content of its string literals. Code in interpolations stays.
  private static func withoutLiterals(_ line: Substring) -> String {
    var out = ""
    var isText = false
    var scalars = Array(line.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      if isText, scalar == "\\" {
        if scalars.popFirst() == "(" { out += String(String.UnicodeScalarView(scalars.prefix { $0 != ")" })) + ")" }
      } else if scalar == "\"" {
        isText.toggle()
      } else if !isText {
        out.unicodeScalars.append(scalar)
      }
    }
    return isText ? out + "fatalError()" : out
  }

  @Test(arguments: ["\u{200B}", "\u{2066}", "\u{61C}", "\u{FEFF}", "\u{E0041}"])
  func `no text is invisible`(hidden: String) throws {
    let schema = #"{"type": "string", "description": "a\#(hidden)b", "enum": ["x\#(hidden)", "👩\#u{200D}🚀"]}"#
    let text = try Generated.model(schema).text
    #expect(!text.unicodeScalars.contains { hidden.unicodeScalars.contains($0) }, "\(text)")
    #expect(text.contains("case \"x\\u{") && text.contains("\\u{200d}"), "\(text)")
  }

  @Test(arguments: [
    ("self", "selfValue"), ("init", "initValue"), ("super", "superValue"), ("await", "`await`"), ("Type", "type"),
    ("`", "value"), ("hashValue", "hashValue2"), ("default", "`default`"), ("a\nb", "aB"), ("protocol", "`protocol`"),
  ])
  func `names with a meaning are changed`(key: String, name: String) throws {
    let quoted = String(decoding: try JSONEncoder().encode(key), as: UTF8.self)
    let schema = #"{"type": "object", "required": [\#(quoted)], "properties": {\#(quoted): {"type": "integer"}}}"#
    #expect(try Generated.model(schema).text.contains("  var \(name): Int\n"))
  }

  @Test(arguments: [
    ("container", true, true), ("decoder", true, false), ("encoder", false, true), ("others", true, false),
    ("key", false, false),
  ])
  func `properties differ from local variables`(key: String, inDecoding: Bool, inEncoding: Bool) throws {
    let schema =
      #"{"type": "object", "required": ["\#(key)"], "additionalProperties": true, "properties": {"\#(key)": {"type": "integer"}}}"#
    let text = try Generated.model(schema).text
    #expect(text.contains("    \(inDecoding ? "self." : "")\(key) = try container.decode(Int.self, forKey: .\(key))"))
    #expect(text.contains("    try container.encode(\(inEncoding ? "self." : "")\(key), forKey: .\(key))"))
  }

  @Test func `a union of broken references compiles`() throws {
    let schema = ##"{"oneOf": [{"$ref": "#/x"}, {"$ref": "#/y"}]}"##
    let text = try Generated.model(schema).text
    #expect(text.contains("throws {\n    self = .other(try JSONValue(from: decoder))\n  }"))
    #expect(!text.contains("} else {"))
  }

  @Test(arguments: ["Content", "Failure", "Response"])
  func `types of parameters leave names of requests free`(name: String) throws {
    let document = #"""
      {"openapi": "3.1.0", "paths": {"/": {"get": {"operationId": "a", "responses": {"200": {"content": {
        "application/json": {"schema": {"type": "integer"}}}}}, "parameters": [
        {"name": "\#(name)", "in": "query", "schema": {"type": "string", "enum": ["x"]}},
        {"name": "sent", "in": "cookie", "schema": {"type": "string"}},
        {"name": "l", "in": "query", "schema": {"type": "array", "items": {"type": ["string", "null"]}}}]}}}}
      """#
    let text = try #require(try Generated.files(document).files["Requests/A.swift"])
    #expect(text.contains("enum \(name)Value:"))
    #expect(text.contains("var sentValue: String?"))
    #expect(text.contains("var l: [String]?"))
  }

  @Test(arguments: [
    (
      #"{"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {}}}}"#, "",
      "[String: ResponseItem]"
    ),
    (#"{"type": ["object", "null"], "properties": {"a": {}}}"#, "", "ResponseValue?"),
    (#"{"type": "object", "properties": {"a": {}}}"#, #", "204": {}"#, "ResponseValue?"),
    (#"{"type": "array", "items": {"type": "object", "properties": {"a": {}}}}"#, "", "[ResponseItem]"),
  ])
  func `no response is an alias of itself`(schema: String, more: String, type: String) throws {
    let document = #"""
      {"openapi": "3.1.0", "paths": {"/": {"get": {"operationId": "a", "responses": {
        "200": {"content": {"application/json": {"schema": \#(schema)}}}\#(more)}}}}}
      """#
    let text = try #require(try Generated.files(document).files["Requests/A.swift"])
    #expect(text.contains("typealias Response = \(type)\n"))
    #expect(!text.contains("struct Response:"))
  }

  @Test func `no type of a request hides a model`() throws {
    let schema = #"{"type": "object", "properties": {"a": {}}}"#
    let document = ##"""
      {"openapi": "3.1.0", "components": {"schemas": {"Content": {"type": "object", "properties": {"b": {}}}}},
       "paths": {"/": {"post": {"operationId": "a", "requestBody": {"content": {"application/json": {"schema": \##(schema)}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Content"}}}}}}}}}
      """##
    let text = try #require(try Generated.files(document).files["Requests/A.swift"])
    #expect(text.contains("var content: Content2?") && text.contains("struct Content2:"))
    #expect(text.contains("typealias Response = Content\n"))
  }

  @Test(arguments: [false, true])
  func `no nested type hides a model`(isReversed: Bool) throws {
    let inner = #"{"type": "object", "properties": {"a": {}}}"#
    let properties = [
      #""content": \#(inner)"#, ##""other": {"$ref": "#/components/schemas/Content"}"##, #""address": \#(inner)"#,
      #""home": {"$ref": "common.json#/Address"}"#,
    ]
    let document = ##"""
      {"openapi": "3.1.0", "paths": {"/": {"get": {"responses": {"200": {"content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/Thing"}}}}}}}}, "components": {"schemas": {"Content": \##(inner),
        "Thing": {"type": "object", "properties": {
          \##((isReversed ? properties.reversed() : properties).joined(separator: ", "))}}}}}
      """##
    let files = try Generated.files(document, others: ["common.json": #"{"Address": \#(inner)}"#]).files
    let text = try #require(files["Models/Thing.swift"])
    #expect(text.contains("var content: Content2?") && text.contains("var other: Content?"))
    let (nested, top) = isReversed ? ("Address2", "Address") : ("Address", "AddressModel")
    #expect(text.contains("var address: \(nested)?") && text.contains("struct \(nested):"))
    #expect(text.contains("var home: \(top)?") && files["Models/\(top).swift"] != nil)
  }

  @Test func `a HEAD request has no response body`() throws {
    let document = #"""
      {"openapi": "3.1.0", "paths": {"/": {"head": {"operationId": "a", "responses": {
        "200": {"content": {"application/json": {"schema": {"type": "integer"}}}}}}}}}
      """#
    #expect(try Generated.files(document).files["Requests/A.swift"]?.contains("Response = Nothing") == true)
  }

  @Test func `words in literals need no import`() throws {
    let schema = #"{"type": "string", "enum": ["Data", "\\\"URL", "JSONValue"]}"#
    var options = GenerateOptions()
    options.access = .public
    let document = #"""
      {"openapi": "3.1.0", "paths": {"/": {"get": {"operationId": "a", "parameters": [
        {"name": "Data", "in": "header", "required": true, "schema": \#(schema)}], "responses": {}}}}}
      """#
    let text = try Generated.files(document, options).files["Requests/A.swift"]
    #expect(text?.contains("import Foundation") == false)
  }

  @Test func `long names fit into a file system`() throws {
    for letter in ["a", "ä", "名"] {
      let id = String(repeating: letter, count: 4_000)
      let document = #"{"openapi": "3.0.0", "paths": {"/": {"get": {"operationId": "\#(id)", "responses": {}}}}}"#
      let names = try Generated.files(document).files.keys.map { $0.split(separator: "/").last ?? "" }
      #expect(names.count == 2 && names.allSatisfy { $0.utf8.count < 200 })
    }
  }

  @Test func `lists that contain each other are shared`() throws {
    let lists = (0..<30).map { level in
      let next = ##"{"$ref": "#/components/schemas/L\##(level + 1)"}"##
      let element = #"{"type": "object", "properties": {"a": \#(next), "b": \#(next)}}"#
      return #", "L\#(level)": {"type": "array", "items": \#(element)}"#
    }
    let schema = ##"{"type": "object", "properties": {"l": {"$ref": "#/components/schemas/L0"}}}"##
    let text = try Generated.model(schema, others: lists.joined() + #", "L30": {"type": "string"}"#).text
    #expect(text.contains("var l: [L0Item]?") && !text.contains("struct L0Item"))
  }

  @Test(arguments: [false, true])
  func `lists of lists have a limited depth`(isReversed: Bool) throws {
    let (start, end) = (String(repeating: #"{"items": "#, count: 90), String(repeating: "}", count: 90))
    let reference = { (level: Int) in ##"{"$ref": "#/components/schemas/L\##(level)"}"## }
    let lists = (0..<300).map { level in #", "L\#(level)": \#(start)\#(reference(level + 1))\#(end)"# }
    let properties = (0..<300).map { level in #""p\#(level)": \#(reference(level))"# }
    let all = (isReversed ? properties.reversed() : properties).joined(separator: ", ")
    let schema = #"{"type": "object", "properties": {\#(all)}}"#
    let (text, notes) = try Generated.model(schema, others: lists.joined() + #", "L300": {"type": "string"}"#)
    #expect(text.contains("var p299: [[["))
    #expect(notes.contains { $0.hasSuffix(": the schema is nested too deeply; it becomes any JSON") })
  }

  @Test func `many equal parts take little time`() throws {
    let levels = (0..<30).map { level in
      let parts = String(repeating: ##"{"$ref": "#/components/schemas/L\##(level + 1)"}, "##, count: 10)
      return ##", "L\##(level)": {"allOf": [\##(parts){"properties": {"p\##(level)": {"type": "string"}}}]}"##
    }
    let others = levels.joined() + #", "L30": {"properties": {"last": {"type": "string"}}}"#
    let unions = (0..<14).map { level in
      let parts = String(repeating: ##", {"$ref": "#/components/schemas/U\##(level + 1)"}"##, count: 10)
      return ##", "U\##(level)": {"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}}\##(parts)]}"##
    }
    let schema =
      ##"{"type": "object", "properties": {"l": {"$ref": "#/components/schemas/L0"}, "u": {"$ref": "#/components/schemas/U0"}}}"##
    let text = try Generated.model(schema, others: others + unions.joined() + #", "U14": {"type": "string"}"#).text
    #expect(text.contains("var l: L0?"))
  }
}
