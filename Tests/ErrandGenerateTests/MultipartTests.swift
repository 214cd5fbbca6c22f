import Testing

@testable import ErrandGenerate

/// Forms of several parts.
struct MultipartTests {
  /// The request for a form with one part `p`, and what is reported. `content` follows the schema of the form.
  private static func form(
    _ part: String, isRequired: Bool = true, content: String = ""
  ) throws -> (text: String, notes: [String]) {
    let required = isRequired ? #", "required": ["p"]"# : ""
    let schema = #"{"type": "object", "properties": {"p": \#(part)}\#(required)}"#
    let (files, notes) = try Generated.files(
      ##"""
      {"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {"/": {"post": {"operationId": "a", "responses": {},
        "requestBody": {"required": true, "content": {"multipart/form-data": {"schema": \##(schema)\##(content)}}}}}},
       "components": {"schemas": {"Photo": {"type": "string", "format": "binary"}}}}
      """##)
    return (files["Requests/A.swift"] ?? "", notes)
  }

  @Test(arguments: [
    #"{"anyOf": [{"type": "string", "format": "binary"}, {"type": "null"}]}"#,
    #"{"type": ["string", "null"], "format": "binary", "contentEncoding": "binary"}"#,
    ##"{"allOf": [{"$ref": "#/components/schemas/Photo"}], "description": "Small."}"##,
    ##"{"oneOf": [{"$ref": "#/components/schemas/Photo"}, {"type": "null"}]}"##,
  ])
  func `wrapped files are files`(part: String) throws {
    let text = try Self.form(part, isRequired: false).text
    #expect(text.contains("  var p: URL?\n"), "\(text)")
    #expect(text.contains(#"if let p { form.parts.append(.file("p", p)) }"#), "\(text)")
  }

  @Test(arguments: [
    ("image/png", "URL"), ("Audio/mpeg", "URL"), ("text/html", "String"), ("application/jwt", "String"),
  ])
  func `media types tell files from texts`(media: String, type: String) throws {
    let text = try Self.form(#"{"type": "string", "contentMediaType": "\#(media)"}"#).text
    #expect(text.contains("  var p: \(type)\n"), "\(text)")
  }

  @Test(arguments: [
    (#"{"type": "string", "format": "byte"}"#, "Data", #"form.parts.append(.text("p", p.base64EncodedString()))"#),
    (
      #"{"type": "string", "contentEncoding": "base64", "contentMediaType": "application/octet-stream"}"#, "Data",
      #"form.parts.append(.text("p", p.base64EncodedString()))"#
    ),
    (
      #"{"type": "array", "items": {"type": "string", "format": "byte"}}"#, "[Data]",
      #"for value in p { form.parts.append(.text("p", value.base64EncodedString())) }"#
    ),
  ])
  func `data in a form are Base64`(part: String, type: String, line: String) throws {
    let text = try Self.form(part).text
    #expect(text.contains("  var p: \(type)\n") && text.contains(line), "\(text)")
  }

  private static let file = #"{"type": "string", "format": "binary"}"#

  @Test(
    arguments: [
      (file, "image/png", #".file("p", p, type: "image/png")"#, nil), (file, "image/png, image/jpeg", nil, nil),
      (file, "image/*", nil, nil), (#"{"type": "integer"}"#, "application/json", #".json("p", p)"#, nil),
      (#"{"type": "object"}"#, "application/json; charset=utf-8", #".json("p", p)"#, nil),
      (#"{"type": "object"}"#, "application/xml", #".json("p", p)"#, "JSON"),
      (#"{"type": "string"}"#, "text/plain; charset=utf-8", #".text("p", p)"#, nil),
      (#"{"type": "string"}"#, "application/json", #".text("p", p)"#, "plain text"),
      (#"{"type": "string"}"#, "text/csv", #".text("p", p)"#, "plain text"),
    ] as [(String, String, String?, String?)])
  func `parts have their declared type`(part: String, media: String, use: String?, sent: String?) throws {
    let encoding = #", "encoding": {"p": {"contentType": "\#(media)"}}"#
    let (text, notes) = try Self.form(part, content: encoding)
    let piece = use ?? #".file("p", p)"#
    #expect(text.contains("form.parts.append(\(piece))"), "\(text)")
    let place = "#/paths/~1/post/requestBody/content/multipart~1form-data/encoding/p"
    #expect(notes == (sent.map { ["\(place): the part is sent as \($0), not as \(media)"] } ?? []))
  }
}
