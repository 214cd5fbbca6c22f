import ErrandSupport

/// One header field: a name and a value. Values are compared byte by byte.
public struct HTTPField: Sendable, Hashable {
  /// The name, compared without regard to case.
  public var name: HTTPFieldName
  /// The value as it is sent, as UTF-8 text.
  public var value: String
  /// Whether the value is a secret. A secret value is masked in every description, and the field is removed when a
  /// redirect leads to another origin.
  public var isSecret: Bool

  /// Makes a field. `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie` are always secret.
  public init(_ name: HTTPFieldName, _ value: String, isSecret: Bool = false) {
    self.name = name
    self.value = value
    self.isSecret = isSecret || Self.isBornSecret(name)
  }

  private static func isBornSecret(_ name: HTTPFieldName) -> Bool {
    switch name.rawValue.utf8.count {
    case 13: name == .authorization
    case 19: name == .proxyAuthorization
    case 6: name == .cookie
    case 10: name == .setCookie
    default: false
    }
  }
}

extension HTTPField {
  /// Whether both fields have the same name, the same bytes in the value and the same ``isSecret``.
  public static func == (left: HTTPField, right: HTTPField) -> Bool {
    left.name == right.name && left.isSecret == right.isSecret && left.value.hasSameBytes(as: right.value)
  }

  /// Hashes the name, the bytes of the value and ``isSecret``.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(ByteText(value))
    hasher.combine(isSecret)
  }
}

extension HTTPField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The field as a line of text. A secret value is masked. The query of a `Location` is also masked, because it often
  /// contains an authorization code.
  public var description: String {
    if isSecret { return "\(name): \(Redaction.mask)" }
    return "\(name): \(name == .location ? Redaction.url(value) : value)"
  }
  /// The field as a line of text, with a secret value masked.
  public var debugDescription: String { description }
  /// The mirror that a dump shows, with a secret value masked.
  public var customMirror: Mirror { Mirror(self, children: ["field": description], displayStyle: .struct) }
}
