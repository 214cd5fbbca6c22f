import Errand

extension RequestHeaders {
  /// Adds the fields of the command line. The first field with a name replaces the existing field; further fields with
  /// this name are added. Fields with secret names are marked as secret.
  mutating func merge(_ fields: [SendOptions.Field]) {
    var names: Set<HTTPFieldName> = []
    for field in fields {
      let name = HTTPFieldName(field.name)
      guard let value = field.value, !names.insert(name).inserted else {
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
