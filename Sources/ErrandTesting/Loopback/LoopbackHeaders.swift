/// Header fields in their order on the wire, names looked up without regard to case.
///
/// Nothing is checked: a test server has to be able to say what is wrong. Repeated names stay apart.
public struct LoopbackHeaders: Sendable, Equatable {
  /// One field: its name and its value as they stand on the wire.
  public struct Field: Sendable, Equatable {
    /// The name, in the case it was written in.
    public var name: String
    /// The value, without the white space around it.
    public var value: String

    /// Makes a field of a name and a value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields in order.
  public var fields: [Field]

  /// Makes headers of fields in order.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// The first value under `name`, or nil. Setting replaces all of that name; setting nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { $0.isNamed(name) }?.value }
    set {
      let place = fields.firstIndex { $0.isNamed(name) } ?? fields.endIndex
      fields.removeAll { $0.isNamed(name) }
      if let newValue { fields.insert(Field(name, newValue), at: min(place, fields.endIndex)) }
    }
  }

  /// All values under `name`, in order.
  public func values(_ name: String) -> [String] {
    fields.filter { $0.isNamed(name) }.map(\.value)
  }

  /// Adds a field at the end and leaves others of that name as they are.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name, value))
  }

  /// Whether a list under `name`, such as `Connection`, has `token` in it, without regard to case.
  func lists(_ token: String, under name: String) -> Bool {
    values(name).contains { value in
      value.split(separator: ",").contains { $0.lowercased().trimmed == token }
    }
  }
}

extension LoopbackHeaders: ExpressibleByDictionaryLiteral {
  /// Makes headers of `["Name": "value"]`; a name may stand there more than once.
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
  /// The text without spaces and tabs at its ends.
  var trimmed: String {
    var rest = self[...]
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return String(rest)
  }
}
