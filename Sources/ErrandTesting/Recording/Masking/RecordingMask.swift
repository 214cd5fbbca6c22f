public import ErrandCore
public import ErrandJSON
import ErrandSupport

/// The values to mask in a recording: secrets, and other private values that must not be in a file that other people
/// read.
///
/// These values are always masked:
/// - secret fields: `Authorization`, cookies, and fields with `.secret` values;
/// - fields, query items, form values, parts of multipart bodies and JSON members whose name suggests a secret
///   (`password`, `access_token`, `apiKey` …).
///
/// Add the values that are private in your API:
///
/// ```swift
/// RecordingMask(fields: ["X-Device"], items: ["email"], paths: ["user.address", "orders.phone"])
/// ```
///
/// A masked text is replaced by ``mark``, a masked number becomes 0, and a masked Boolean becomes false, so that a
/// masked response can still be decoded. Null stays null.
///
/// A value that is masked in one place is also masked in all other places. Exception: a value that has fewer than eight
/// bytes in UTF-8, no letter or no digit is not masked elsewhere, because an equal text may have another meaning.
///
/// A compressed request body is masked completely. Text that should be JSON but cannot be parsed is also masked
/// completely, for example if the body is incomplete. In other bodies, such as images or XML, only values that were
/// masked elsewhere are masked.
public struct RecordingMask: Sendable, Hashable {
  /// The replacement for a masked text. The replacement has only letters, so that an app under test can send it back in
  /// URLs and fields.
  public static let mark = "masked"

  /// Header fields of requests and responses to mask.
  public var fields: Set<HTTPFieldName>
  /// Names of query items, form values and parts of multipart bodies to mask. Members of JSON bodies need ``paths``.
  public var items: Set<String>
  /// Paths in JSON bodies of requests and responses to mask. A path that has no index for an array applies to all
  /// elements of the array.
  public var paths: [JSONPath]
  /// Names whose values are not secret, although the names suggest a secret. Their values are not masked.
  public var shown: Set<String>

  /// Creates a mask.
  public init(
    fields: Set<HTTPFieldName> = [], items: Set<String> = [], paths: [JSONPath] = [], shown: Set<String> = []
  ) {
    self.fields = fields
    self.items = items
    self.paths = paths
    self.shown = shown
  }

  func hides(_ field: HTTPField) -> Bool {
    field.isSecret || fields.contains(field.name) || hides(key: field.name.rawValue)
  }

  /// Whether the value of a query item, a form item or a part of a multipart body is masked, given its name.
  func hides(item name: String) -> Bool {
    items.contains(name) || hides(key: name) || (Self.itemNames.contains(name.asciiLetters) && !isShown(name))
  }

  /// Whether the value of a member of a JSON object is masked, given its key.
  func hides(key: String) -> Bool {
    (JSONMask.isSecret(key: key) || Self.logInNames.contains(key.asciiLetters)) && !isShown(key)
  }

  private func isShown(_ name: String) -> Bool { shown.contains { $0.hasSameBytes(as: name) } }

  /// Names of secrets in log-in redirects and signed URLs. As JSON keys, these names have other meanings.
  private static let itemNames: Set<String> = ["code", "sig"]

  /// Names of secrets in log-ins by RFC 7521, RFC 7636, RFC 8628 and SAML.
  private static let logInNames: Set<String> = [
    "assertion", "clientassertion", "codeverifier", "devicecode", "samlresponse",
  ]
}

extension RecordingMask: Codable {
  private enum Key: CodingKey { case fields, items, paths, shown }

  /// Reads the mask from a recording's file.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func names(_ key: Key) throws -> [String] { try container.decodeIfPresent([String].self, forKey: key) ?? [] }
    self.init(
      fields: Set(try names(.fields).map { HTTPFieldName($0) }), items: Set(try names(.items)),
      paths: try names(.paths).map { try JSONPath(parsing: $0) }, shown: Set(try names(.shown)))
  }

  /// Writes the mask to a recording's file. The names are sorted.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(fields.map(\.rawValue).sorted(), forKey: .fields)
    try container.encode(items.sorted(), forKey: .items)
    try container.encode(paths.map(\.description), forKey: .paths)
    try container.encode(shown.sorted(), forKey: .shown)
  }
}
