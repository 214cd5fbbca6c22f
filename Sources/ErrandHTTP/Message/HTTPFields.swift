/// The header fields of a message in their order. A name may occur several times, and is found without regard to case.
///
/// Fields that a transport received are stored as raw bytes. A lookup searches the bytes for the name.
public struct HTTPFields: Sendable {
  private enum Storage: Sendable {
    case list([HTTPField])
    case raw(RawFieldBlock)
  }

  private var storage: Storage
  /// The marks (``HTTPFieldName/mark``) of all names in one number, possibly also of removed ones. If the bit of a name
  /// is missing, no field has this name.
  private var marks: UInt64

  /// Makes an empty set of fields.
  public init() { (storage, marks) = (.list([]), 0) }
  /// Makes fields from a list, in the order of the list.
  public init(_ fields: [HTTPField]) {
    storage = .list(fields)
    marks = fields.reduce(0) { $0 | $1.name.mark }
  }
  /// Makes fields from the lines that a transport received and checked.
  package init(raw: RawFieldBlock) { (storage, marks) = (.raw(raw), raw.marks) }

  /// The fields in order.
  public var all: [HTTPField] {
    switch storage {
    case .list(let fields): fields
    case .raw(let block): block.all
    }
  }

  /// The number of fields.
  public var count: Int {
    switch storage {
    case .list(let fields): fields.count
    case .raw(let block): block.count
    }
  }

  /// Whether there are no fields.
  public var isEmpty: Bool { count == 0 }

  /// The value of a field. If a name occurs several times, the values are joined by commas (RFC 9110 section 5.3).
  /// Setting a value replaces every field of the name, and setting nil removes them. A secret field stays secret.
  public subscript(name: HTTPFieldName) -> String? {
    get {
      guard mayHold(name) else { return nil }
      let values = values(of: name)
      return values.count < 2 ? values.first : values.joined(separator: ", ")
    }
    set {
      guard let newValue else { return remove(name) }
      let isSecret = all.contains { $0.name == name && $0.isSecret }
      replace(HTTPField(name, newValue, isSecret: isSecret))
    }
  }

  /// The media type of `Content-Type`. If the field occurs several times, for example because a gateway added one, the
  /// last valid one is used (RFC 9110 section 8.3).
  package var mediaType: MediaType? { values(of: .contentType).reversed().lazy.compactMap { MediaType($0) }.first }

  /// Every value of a field, in order. The list is empty if no field has the name.
  public func values(of name: HTTPFieldName) -> [String] {
    guard mayHold(name) else { return [] }
    return switch storage {
    case .list(let fields): fields.lazy.filter { $0.name == name }.map(\.value)
    case .raw(let block): block.values(of: name)
    }
  }

  /// Every value of a field that contains a URL. Bytes that are not valid UTF-8 are percent-encoded, so that the URL
  /// represents exactly the received bytes.
  package func references(of name: HTTPFieldName) -> [String] {
    guard mayHold(name), case .raw(let block) = storage else { return values(of: name) }
    return block.references(of: name)
  }

  /// Every value of a field that is later sent back unchanged, such as a cookie or an entity tag. ``FieldOctets``
  /// defines the text for bytes that are not valid UTF-8.
  package func octets(of name: HTTPFieldName) -> [String] {
    guard mayHold(name), case .raw(let block) = storage else { return values(of: name) }
    return block.octets(of: name)
  }

  /// Whether a field has this name.
  public func contains(_ name: HTTPFieldName) -> Bool {
    guard mayHold(name) else { return false }
    return switch storage {
    case .list(let fields): fields.contains { $0.name == name }
    case .raw(let block): block.contains(name)
    }
  }

  private func mayHold(_ name: HTTPFieldName) -> Bool { marks != 0 && marks & name.mark != 0 }

  /// Appends a field.
  public mutating func append(_ field: HTTPField) {
    marks |= field.name.mark
    change { $0.append(field) }
  }

  /// Replaces all fields with the name of this field. Appends the field if there are none.
  public mutating func replace(_ field: HTTPField) {
    guard mayHold(field.name) else { return append(field) }
    change { fields in
      guard let place = fields.firstIndex(where: { $0.name == field.name }) else { return fields.append(field) }
      fields[place] = field
      let rest = fields[(place + 1)...].filter { $0.name != field.name }
      fields.replaceSubrange((place + 1)..., with: rest)
    }
  }

  /// Removes every field of this name.
  public mutating func remove(_ name: HTTPFieldName) {
    guard mayHold(name) else { return }
    removeAll { $0.name == name }
  }

  /// Removes every field for which the rule returns true.
  public mutating func removeAll(where rule: (HTTPField) -> Bool) {
    change { $0.removeAll(where: rule) }
  }

  private mutating func change(_ body: (inout [HTTPField]) -> Void) {
    var fields =
      switch storage {
      case .list(let fields): fields
      case .raw(let block): block.kept
      }
    storage = .list([])
    body(&fields)
    storage = .list(fields)
  }
}

extension HTTPFields: ExpressibleByDictionaryLiteral, Hashable, CustomStringConvertible, CustomReflectable {
  /// Makes fields from a dictionary literal, in its order.
  public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
    self.init(elements.map { HTTPField($0, $1) })
  }

  /// Whether both lists have the same fields in the same order.
  public static func == (left: HTTPFields, right: HTTPFields) -> Bool { left.all == right.all }

  /// Hashes the fields in order.
  public func hash(into hasher: inout Hasher) { hasher.combine(all) }

  /// One field per line; secrets are masked.
  public var description: String { all.map(\.description).joined(separator: "\n") }

  /// The mirror that a dump shows: the fields with secrets masked, without their raw bytes.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: all, displayStyle: .collection) }
}
