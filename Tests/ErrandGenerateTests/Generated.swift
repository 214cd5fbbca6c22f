import Foundation

@testable import ErrandGenerate

/// Generates code for small documents.
enum Generated {
  /// The files for a document, by their paths.
  static func files(
    _ text: String, _ options: GenerateOptions = GenerateOptions(), others: [String: String] = [:]
  ) throws -> (files: [String: String], notes: [String]) {
    struct Missing: Error {}
    let result = try RequestGenerator.generate(
      JSONReader.read(Array(text.utf8)), source: "api.json", options: options
    ) { path in
      guard let text = others[path] else { throw Missing() }
      return try JSONReader.read(Array(text.utf8))
    }
    let files = Dictionary(uniqueKeysWithValues: result.files.map { ($0.path, $0.text) })
    return (files, result.notes.map(\.description))
  }

  /// The model `Thing` for a schema. `others` are further schemas.
  static func model(_ schema: String, others: String = "") throws -> (text: String, notes: [String]) {
    let document = #"""
      {"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {"/t": {"get": {"responses": {"200": {
        "description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}}},
       "components": {"schemas": {"Thing": \#(schema)\#(others)}}}
      """#
    let (files, notes) = try files(document)
    return (body(files["Models/Thing.swift"] ?? "no model"), notes)
  }

  /// A file without its first line and its imports.
  static func body(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
    return lines.drop { $0.isEmpty || $0.hasPrefix("import ") }.joined(separator: "\n")
  }
}
