import ErrandSupport

/// Header fields that a request, a family or a client sets or removes.
///
/// ```swift
/// var headers: RequestHeaders { ["X-Client": "app", "X-Api-Key": .secret(key), "Accept": nil] }
/// ```
///
/// A value of a request replaces the values of its family and the client. The value nil removes the field.
public struct RequestHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The value of a field.
  public struct FieldValue: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    let text: String
    let isSecret: Bool

    /// A value known at run time.
    public init(_ text: String) {
      self.text = text
      isSecret = false
    }

    private init(secret text: String) {
      self.text = text
      isSecret = true
    }

    /// A literal value.
    public init(stringLiteral value: String) { self.init(value) }

    /// A secret value. It is masked in all output, and it is not sent when a redirect leads to another origin. A secret
    /// value of a client or a family is sent only to servers that the client or the family names, not to the server of
    /// another absolute URL. Responses are stored and shared separately for each secret value.
    public static func secret(_ text: String) -> FieldValue { FieldValue(secret: text) }

    /// A value known at run time.
    public static func text(_ text: String) -> FieldValue { FieldValue(text) }

    /// True if both values have the same bytes, and both or neither are secret.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
      left.isSecret == right.isSecret && left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the bytes of the value and whether it is secret.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(ByteText(text))
      hasher.combine(isSecret)
    }

    /// The value, masked if it is a secret.
    public var description: String { isSecret ? Redaction.mask : text }
  }

  struct Entry: Sendable, Hashable {
    let name: HTTPFieldName
    let value: FieldValue?

    /// Makes the HTTP field of this entry with a value.
    func field(_ value: FieldValue) -> HTTPField { HTTPField(name, value.text, isSecret: value.isSecret) }

    var isSecret: Bool { value.map(field)?.isSecret ?? false }
  }

  private(set) var entries: [Entry]

  /// Makes headers without entries.
  public init() { entries = [] }

  /// Makes headers from a literal, in the order of the literal.
  public init(dictionaryLiteral elements: (HTTPFieldName, FieldValue?)...) {
    entries = elements.map { Entry(name: $0, value: $1) }
  }

  /// Whether the list of entries is empty.
  public var isEmpty: Bool { entries.isEmpty }

  /// Sets the value of a field; nil removes the field.
  public mutating func set(_ name: HTTPFieldName, _ value: FieldValue?) {
    entries.removeAll { $0.name == name }
    entries.append(Entry(name: name, value: value))
  }

  /// Adds a value to the values that the field already has. The field is sent once for each value.
  public mutating func add(_ name: HTTPFieldName, _ value: FieldValue) {
    entries.append(Entry(name: name, value: value))
  }

  /// Returns these entries, together with the entries of `other` that have other names.
  func filled(by other: RequestHeaders) -> RequestHeaders {
    guard !other.isEmpty else { return self }
    var filled = self
    filled.entries = other.entries.filter { entry in !entries.contains { $0.name == entry.name } } + entries
    return filled
  }

  /// True if any value is a secret, because it was marked as secret or because the field's name says so.
  var hasSecrets: Bool { entries.contains(where: \.isSecret) }

  /// These headers without the entries whose value is a secret.
  var withoutSecrets: RequestHeaders {
    var rest = self
    rest.entries.removeAll(where: \.isSecret)
    return rest
  }

  /// Applies the entries to HTTP fields. If a name occurs several times, the field is sent several times.
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

extension RequestHeaders: CustomStringConvertible, CustomReflectable {
  /// One line for each field, with secrets masked. A field that is to be removed has no value.
  public var description: String {
    entries.map { entry in
      entry.value.map { "\(HTTPField(entry.name, $0.text, isSecret: $0.isSecret))" } ?? "\(entry.name):"
    }.joined(separator: "\n")
  }
  /// The children that `dump` shows, with secret values masked.
  public var customMirror: Mirror { Mirror(self, children: ["fields": description], displayStyle: .struct) }
}

extension RequestHeaders.FieldValue: CustomReflectable {
  /// The children that `dump` shows, with a secret value masked.
  public var customMirror: Mirror { Mirror(self, children: ["value": description], displayStyle: .struct) }
}
