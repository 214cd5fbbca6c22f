import ErrandSupport

/// Header fields that a request, a ``RequestFamily`` or a client sets or removes.
///
/// ```swift
/// var headers: RequestHeaders { ["X-Client": "app", "X-Api-Key": .secret(key), "Accept": nil] }
/// ```
///
/// A value is a string literal, a variable of type `String` or `Int`, or ``HeaderConvertible/secret(_:)``. One field
/// can be read and changed by its name: `headers["X-Client"] = name`.
///
/// The value that a request sets for a field replaces the values of its family and of the client. The value nil removes
/// the field.
public struct RequestHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The value of a header field, which may be marked as a secret.
  public struct FieldValue: Sendable, Hashable, ComparedByBytes, ExpressibleByStringInterpolation, Masked {
    let text: String
    let isSecret: Bool

    /// Makes the value of a header field from a text that is not a literal.
    public init(_ text: String) {
      self.text = text
      isSecret = false
    }

    fileprivate init(secret text: String) {
      self.text = text
      isSecret = true
    }

    /// Makes a value from a string literal.
    public init(stringLiteral value: String) { self.init(value) }

    package var identity: some Hashable { Parts(ByteText(text), isSecret) }

    /// The value, masked if it is a secret.
    public var description: String { isSecret ? Redaction.mask : text }
  }

  struct Entry: Sendable, Hashable {
    let name: HTTPFieldName
    let value: FieldValue?

    func field(_ value: FieldValue) -> HTTPField { HTTPField(name, value.text, isSecret: value.isSecret) }

    var isSecret: Bool { value.map(field)?.isSecret ?? false }
  }

  private(set) var entries: [Entry]

  /// Makes headers without entries.
  public init() { entries = [] }

  /// Makes headers from a literal, in the order of the literal.
  public init(dictionaryLiteral elements: (HTTPFieldName, (any HeaderConvertible)?)...) {
    entries = elements.map { Entry(name: $0, value: $1?.headerValue) }
  }

  /// The value of the first entry for a field; nil if there is none, or if the entry removes the field. Setting a value
  /// replaces earlier values. Setting nil removes the field when the request is built.
  public subscript(name: HTTPFieldName) -> (any HeaderConvertible)? {
    get { entries.first { $0.name == name }?.value }
    set { set(name, newValue) }
  }

  /// Whether the list of entries is empty.
  public var isEmpty: Bool { entries.isEmpty }

  /// Sets a field to one value, which replaces earlier values; nil removes the field.
  public mutating func set(_ name: HTTPFieldName, _ value: (any HeaderConvertible)?) {
    entries.removeAll { $0.name == name }
    entries.append(Entry(name: name, value: value?.headerValue))
  }

  /// Adds a value to a field that may already have values. The field is sent once for each value.
  public mutating func add(_ name: HTTPFieldName, _ value: any HeaderConvertible) {
    entries.append(Entry(name: name, value: value.headerValue))
  }

  /// Returns a copy of these headers with those entries of `other` whose names do not occur in these headers.
  func filled(by other: RequestHeaders) -> RequestHeaders {
    guard !other.isEmpty else { return self }
    var filled = self
    filled.entries = other.entries.filter { entry in !entries.contains { $0.name == entry.name } } + entries
    return filled
  }

  /// True if any value is a secret, because the caller marked it as a secret or because the field always has secret
  /// values, such as `Authorization`.
  var hasSecrets: Bool { entries.contains(where: \.isSecret) }

  func values(of name: HTTPFieldName) -> [String] {
    entries.compactMap { $0.name == name ? $0.value?.text : nil }
  }

  var withoutSecrets: RequestHeaders {
    var rest = self
    rest.entries.removeAll(where: \.isSecret)
    return rest
  }

  func without(_ name: HTTPFieldName) -> RequestHeaders {
    var rest = self
    rest.entries.removeAll { $0.name == name }
    return rest
  }

  /// Changes `fields` by the entries of these headers: an entry with a value sets its field, and an entry without a
  /// value removes its field. If several entries with values have one name, the field is sent several times.
  func apply(to fields: inout HTTPFields) {
    for (index, entry) in entries.enumerated() {
      guard let value = entry.value else {
        fields.remove(entry.name)
        continue
      }
      let field = entry.field(value)
      let isRepeated = entries[..<index].contains { $0.name == entry.name }
      if isRepeated { fields.append(field) } else { fields.replace(field) }
    }
  }
}

/// A type whose values can be values of header fields: strings, whole numbers, and ``RequestHeaders/FieldValue``.
public protocol HeaderConvertible: Sendable {
  /// This value as the value of a header field.
  var headerValue: RequestHeaders.FieldValue { get }
}

extension HeaderConvertible where Self == RequestHeaders.FieldValue {
  /// Makes a secret value. A secret value is masked in all output, and it is not sent to another origin after a
  /// redirect. A secret value of a client or a family is sent only to servers whose URLs are in the configuration of
  /// the client or in the family. Responses are stored and shared separately for each secret value.
  public static func secret(_ text: String) -> RequestHeaders.FieldValue { RequestHeaders.FieldValue(secret: text) }

  /// Makes a value from a text. A string literal or a variable of type `String` is a value without this function.
  public static func text(_ text: String) -> RequestHeaders.FieldValue { RequestHeaders.FieldValue(text) }
}

extension RequestHeaders.FieldValue: HeaderConvertible {
  /// The value itself, because it is already the value of a header field.
  public var headerValue: RequestHeaders.FieldValue { self }
}
extension HeaderConvertible where Self: LosslessStringConvertible {
  /// The text, or the digits of the number, as the value of a header field. The value is not a secret.
  public var headerValue: RequestHeaders.FieldValue { RequestHeaders.FieldValue(String(self)) }
}
extension String: HeaderConvertible {}
extension Substring: HeaderConvertible {}
extension Int: HeaderConvertible {}

extension RequestHeaders: Masked {
  /// One line for each field, with secret values masked. The line of a field that is removed has no value.
  public var description: String {
    entries.map { entry in
      entry.value.map { "\(HTTPField(entry.name, $0.text, isSecret: $0.isSecret))" } ?? "\(entry.name):"
    }.joined(separator: "\n")
  }
}
