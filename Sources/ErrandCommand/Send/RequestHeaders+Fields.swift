import Errand

extension RequestHeaders {
  /// Takes what the words say of fields: the first of a name replaces what was there, the others are added; secrets are
  /// marked by their names.
  mutating func say(_ fields: [SendOptions.Field]) {
    var said: Set<HTTPFieldName> = []
    for field in fields {
      let name = HTTPFieldName(field.name)
      guard let value = field.value, !said.insert(name).inserted else {
        set(name, field.value.map { Self.value($0, of: field.name) })
        continue
      }
      add(name, Self.value(value, of: field.name))
    }
  }

  private static func value(_ text: String, of name: String) -> FieldValue {
    Secrets.isSecret(name) ? .secret(text) : .text(text)
  }
}
