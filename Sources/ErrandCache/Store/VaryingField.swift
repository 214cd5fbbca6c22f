import ErrandSupport

/// One field that `Vary` names, as the request had it.
public struct VaryingField: Sendable, Hashable {
  /// The name in lower case.
  public let name: String
  /// The normalised value, or its digest for credentials and cookies; nil where the request had no such field.
  public let value: String?

  /// Makes a field.
  public init(name: String, value: String?) {
    self.name = name
    self.value = value
  }

  /// Whether name and value have the same bytes.
  public static func == (left: VaryingField, right: VaryingField) -> Bool {
    left.name == right.name && left.value.hasSameBytes(as: right.value)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(value.map { ByteText($0) })
  }
}
