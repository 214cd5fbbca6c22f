package import Foundation

/// A body that was parsed once, for all who look into it: a shape, a code and a message in it, a typed value.
package struct ParsedJSON: Sendable {
  let document: JSONDocument

  /// - Throws: ``JSONError``.
  package init(_ data: Data) throws(JSONError) { document = try JSONDocument(data) }

  /// The value at a path, of equal keys on the way the first one; nil if there is none.
  /// - Throws: ``JSONError``: a number in it is beyond all doubles.
  package func value(at path: JSONPath) throws(JSONError) -> JSONValue? { try value(at: path, rules: .standard) }

  /// - Parameter rules: How types are read from the value.
  func value(at path: JSONPath, rules: TapeRules) throws(JSONError) -> JSONValue? {
    guard let index = document.index(at: path) else { return nil }
    return try TapeSource(document, rules: rules).json(at: index)
  }
}
