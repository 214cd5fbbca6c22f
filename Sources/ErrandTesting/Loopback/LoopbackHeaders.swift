import ErrandCore

/// Header fields in the order in which they are sent. Lookups by name ignore case.
///
/// Nothing is validated, because a test server must be able to send invalid fields. Repeated fields are not merged.
public struct LoopbackHeaders: Sendable, Equatable {
  /// One header field: its name and its value.
  public struct Field: Sendable, Equatable {
    /// The name, in its original case.
    public var name: String
    /// The value. The value of a received field has no white space at its start and end.
    public var value: String

    /// Creates a field from a name and a value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields in order.
  public var fields: [Field]

  /// Creates headers from fields in order.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Creates headers from a dictionary of names and values, sorted by the names.
  public init(_ fields: [String: String]) {
    self.fields = fields.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
  }

  /// The value of the first field with this name; nil if there is no such field. Setting a value replaces all fields of
  /// that name; setting nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { $0.isNamed(name) }?.value }
    set {
      let place = fields.firstIndex { $0.isNamed(name) } ?? fields.endIndex
      fields.removeAll { $0.isNamed(name) }
      if let newValue { fields.insert(Field(name, newValue), at: min(place, fields.endIndex)) }
    }
  }

  /// The values of all fields with this name, in order.
  public func values(_ name: String) -> [String] {
    fields.filter { $0.isNamed(name) }.map(\.value)
  }

  /// Appends a field without changing other fields of that name.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name, value))
  }

  /// These fields with a content type, if they have none.
  func typed(_ contentType: String) -> LoopbackHeaders {
    if self["Content-Type"] != nil { return self }
    var typed = self
    typed["Content-Type"] = contentType
    return typed
  }

  /// Whether a field with a comma-separated list, such as `Connection`, contains `token`. The case of the list is
  /// ignored; `token` must be in lower case.
  func lists(_ token: String, under name: String) -> Bool {
    values(name).contains { value in
      value.split(separator: ",").contains { $0.lowercased().trimmed == token }
    }
  }
}

extension LoopbackHeaders: ExpressibleByDictionaryLiteral {
  /// Creates headers from `["Name": "value"]`. A name may occur more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field($0.0, $0.1) }
  }
}

extension LoopbackHeaders.Field {
  func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased()
  }
}

extension StringProtocol {
  /// The text without spaces and tabs at its start and end.
  var trimmed: String { String(Substring(ASCII.trimmed(Substring(self).utf8))) }
}
