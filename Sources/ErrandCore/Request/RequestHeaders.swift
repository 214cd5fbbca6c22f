import ErrandSupport

/// What a request, a family or a client says about header fields: this name has this value, or none.
///
/// ```swift
/// var headers: RequestHeaders { ["X-Client": "app", "X-Api-Key": .secret(key), "Accept": nil] }
/// ```
///
/// A request's word replaces its family's and the client's; nil removes what they said.
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

    /// A value that is masked wherever it is shown, and stays behind when a redirect leads to another origin. One of a
    /// client or a family goes only to servers that the two name, and not to another one by an absolute URL. Responses
    /// are stored and shared apart for each value.
    public static func secret(_ text: String) -> FieldValue { FieldValue(secret: text) }

    /// A value known at run time.
    public static func text(_ text: String) -> FieldValue { FieldValue(text) }

    /// Whether both have the same bytes, and are both secret or both not.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
      left.isSecret == right.isSecret && left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(ByteText(text))
      hasher.combine(isSecret)
    }

    /// The value, masked where it is a secret.
    public var description: String { isSecret ? Redaction.mask : text }
  }

  struct Entry: Sendable, Hashable {
    let name: HTTPFieldName
    let value: FieldValue?

    /// What is sent of a value.
    func field(_ value: FieldValue) -> HTTPField { HTTPField(name, value.text, isSecret: value.isSecret) }

    var isSecret: Bool { value.map(field)?.isSecret ?? false }
  }

  private(set) var entries: [Entry]

  /// Says nothing about any field.
  public init() { entries = [] }

  /// Says what a literal says, in its order.
  public init(dictionaryLiteral elements: (HTTPFieldName, FieldValue?)...) {
    entries = elements.map { Entry(name: $0, value: $1) }
  }

  /// Whether nothing is said.
  public var isEmpty: Bool { entries.isEmpty }

  /// Gives a field a value, or says that it is not to be sent.
  public mutating func set(_ name: HTTPFieldName, _ value: FieldValue?) {
    entries.removeAll { $0.name == name }
    entries.append(Entry(name: name, value: value))
  }

  /// Says a value beside those said before: the field is sent once for each.
  public mutating func add(_ name: HTTPFieldName, _ value: FieldValue) {
    entries.append(Entry(name: name, value: value))
  }

  /// What is said here, and what `other` says of other names.
  func filled(by other: RequestHeaders) -> RequestHeaders {
    guard !other.isEmpty else { return self }
    var filled = self
    filled.entries = other.entries.filter { entry in !entries.contains { $0.name == entry.name } } + entries
    return filled
  }

  /// Whether a value is a secret, by its mark or by its name.
  var hasSecrets: Bool { entries.contains(where: \.isSecret) }

  /// The same, with nothing said where a value is a secret.
  var withoutSecrets: RequestHeaders {
    var rest = self
    rest.entries.removeAll(where: \.isSecret)
    return rest
  }

  /// Writes what is said into fields. A name said several times is sent several times.
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
  /// One field a line, secrets masked; those that are not to be sent have no value.
  public var description: String {
    entries.map { entry in
      entry.value.map { "\(HTTPField(entry.name, $0.text, isSecret: $0.isSecret))" } ?? "\(entry.name):"
    }.joined(separator: "\n")
  }
  /// What a dump shows: never a secret value.
  public var customMirror: Mirror { Mirror(self, children: ["fields": description], displayStyle: .struct) }
}

extension RequestHeaders.FieldValue: CustomReflectable {
  /// What a dump shows: never a secret value.
  public var customMirror: Mirror { Mirror(self, children: ["value": description], displayStyle: .struct) }
}
