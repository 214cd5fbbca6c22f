public import ErrandCore
public import ErrandJSON

/// What is left out of a recording: secrets, and what else nobody should find in a file that is passed on.
///
/// Masked without being told: fields that are secret (`Authorization`, cookies, those given as `.secret`); and fields,
/// query items, form values, parts of multipart bodies and JSON members whose name is likely to be a secret's
/// (`password`, `access_token`, `apiKey` …). Add to that what is private in your API:
///
/// ```swift
/// RecordingMask(fields: ["X-Device"], items: ["email"], paths: ["user.address", "orders.phone"])
/// ```
///
/// In place of a text stands ``mark``, of a number 0, of a truth value false, so that a masked answer still decodes;
/// null stays. A value that was masked in one place is masked wherever else it stands, where it has at least eight
/// characters, letters and digits among them. A body that was compressed on the way out is masked as a whole, and so is
/// what should be JSON and cannot be read, as where a body broke off. Of other bodies, such as pictures or XML, only such
/// values are masked.
public struct RecordingMask: Sendable, Hashable {
  /// What stands in the place of a text: plain letters, so that a replayed app can send it back in URLs and fields.
  public static let mark = "masked"

  /// Header fields of requests and answers.
  public var fields: Set<HTTPFieldName>
  /// Names of query items, form values and parts of multipart bodies.
  public var items: Set<String>
  /// Places in JSON bodies of requests and answers. Where an array lies on the way and no index is given, all of its
  /// elements are meant.
  public var paths: [JSONPath]
  /// Names that look like a secret's and are none: what they hold is written down.
  public var shown: Set<String>

  /// Makes a mask.
  public init(
    fields: Set<HTTPFieldName> = [], items: Set<String> = [], paths: [JSONPath] = [], shown: Set<String> = []
  ) {
    self.fields = fields
    self.items = items
    self.paths = paths
    self.shown = shown
  }

  /// Whether a field is masked.
  func hides(_ field: HTTPField) -> Bool {
    field.isSecret || fields.contains(field.name) || hides(key: field.name.rawValue)
  }

  /// Whether what a query item, form value or part holds is masked.
  func hides(item name: String) -> Bool {
    items.contains(name) || hides(key: name) || (Self.itemNames.contains(Self.plain(name)) && !shown.contains(name))
  }

  /// Whether what a member of an object holds is masked.
  func hides(key: String) -> Bool {
    (JSONMask.isSecret(key: key) || Self.logInNames.contains(Self.plain(key))) && !shown.contains(key)
  }

  private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }

  /// Secrets of log-in by redirects and of signed URLs; as JSON keys they mean other things.
  private static let itemNames: Set<String> = ["code", "sig"]

  /// Secrets of log-in by RFC 7521, RFC 7636, RFC 8628 and SAML.
  private static let logInNames: Set<String> = [
    "assertion", "clientassertion", "codeverifier", "devicecode", "samlresponse",
  ]
}

extension RecordingMask: Codable {
  private enum Key: CodingKey { case fields, items, paths, shown }

  /// Reads what a file says was masked.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func names(_ key: Key) throws -> [String] { try container.decodeIfPresent([String].self, forKey: key) ?? [] }
    self.init(
      fields: Set(try names(.fields).map { HTTPFieldName($0) }), items: Set(try names(.items)),
      paths: try names(.paths).map { try JSONPath(parsing: $0) }, shown: Set(try names(.shown)))
  }

  /// Writes the names, sorted.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(fields.map(\.rawValue).sorted(), forKey: .fields)
    try container.encode(items.sorted(), forKey: .items)
    try container.encode(paths.map(\.description), forKey: .paths)
    try container.encode(shown.sorted(), forKey: .shown)
  }
}
