import ErrandSupport

/// The header fields of a message in their order. A name may occur several times, and is found without regard to case.
///
/// Fields that a transport received are stored as raw bytes. A lookup searches the bytes for the name. Values are read
/// as UTF-8, or as ISO 8859-1 if they are not valid UTF-8. Values that an app sends back are exceptions, so that the
/// server receives its own bytes: in `Location`, `Content-Location` and `Link`, bytes that are not UTF-8 are
/// percent-encoded, and in `ETag` and `Set-Cookie` each of them is read as a private-use scalar, which is sent as the
/// same byte in `If-Match`, `If-None-Match`, `If-Range` and `Cookie`. URLSession sends such a byte in UTF-8.
public struct HTTPFields: Sendable {
  private enum Storage: Sendable {
    case list([HTTPField])
    case raw(RawFieldBlock)
  }

  private var storage: Storage
  /// The bits ``HTTPFieldName/filterBit`` of all names, combined in one number. Bits of removed names may remain. If
  /// the bit of a name is not set, no field has this name.
  private var filterBits: UInt64

  /// Makes an empty set of fields.
  public init() { (storage, filterBits) = (.list([]), 0) }
  /// Makes fields from a list, in the order of the list.
  public init(_ fields: [HTTPField]) {
    storage = .list(fields)
    filterBits = fields.reduce(0) { $0 | $1.name.filterBit }
  }
  /// Makes fields from the lines that a transport received and checked.
  package init(raw: RawFieldBlock) { (storage, filterBits) = (.raw(raw), raw.filterBits) }

  /// The fields, in their order in the message.
  public var all: [HTTPField] {
    switch storage {
    case .list(let fields): fields
    case .raw(let block): block.all
    }
  }

  /// The number of fields. Fields with the same name are counted separately.
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
      guard mayContain(name) else { return nil }
      let values = values(of: name)
      return values.count < 2 ? values.first : values.joined(separator: ", ")
    }
    set {
      guard let newValue else { return remove(name) }
      let isSecret = all.contains { $0.name == name && $0.isSecret }
      replace(HTTPField(name, newValue, isSecret: isSecret))
    }
  }

  /// The media type of `Content-Type`. If the field occurs several times, for example because a gateway added a second
  /// `Content-Type`, the last valid value is used (RFC 9110 section 8.3).
  package var mediaType: MediaType? {
    for value in values(of: .contentType).reversed() {
      if let type = MediaType(value) { return type }
    }
    return nil
  }

  /// Every value of a field, in order. The list is empty if no field has the name.
  public func values(of name: HTTPFieldName) -> [String] {
    guard mayContain(name) else { return [] }
    return switch storage {
    case .list(let fields): fields.lazy.filter { $0.name == name }.map(\.value)
    case .raw(let block): block.values(of: name)
    }
  }

  /// The value of a field that must have only one; nil if the field is missing, or occurs with different bytes.
  package func single(_ name: HTTPFieldName) -> String? {
    let values = values(of: name)
    guard let value = values.first, values.allSatisfy({ $0.hasSameBytes(as: value) }) else { return nil }
    return value
  }

  /// Whether at least one field has the given name.
  public func contains(_ name: HTTPFieldName) -> Bool {
    guard mayContain(name) else { return false }
    return switch storage {
    case .list(let fields): fields.contains { $0.name == name }
    case .raw(let block): block.contains(name)
    }
  }

  private func mayContain(_ name: HTTPFieldName) -> Bool { filterBits != 0 && filterBits & name.filterBit != 0 }

  /// Appends a field, even if a field with this name already exists.
  public mutating func append(_ field: HTTPField) {
    filterBits |= field.name.filterBit
    change { $0.append(field) }
  }

  /// Replaces all fields with the name of this field. If no field has the name, appends the field.
  public mutating func replace(_ field: HTTPField) {
    guard mayContain(field.name) else { return append(field) }
    change { fields in
      guard let place = fields.firstIndex(where: { $0.name == field.name }) else { return fields.append(field) }
      fields[place] = field
      let rest = fields[(place + 1)...].filter { $0.name != field.name }
      fields.replaceSubrange((place + 1)..., with: rest)
    }
  }

  /// Removes every field of this name.
  public mutating func remove(_ name: HTTPFieldName) {
    guard mayContain(name) else { return }
    removeAll { $0.name == name }
  }

  /// Removes every field for which the rule returns true.
  public mutating func removeAll(where rule: (HTTPField) -> Bool) {
    change { $0.removeAll(where: rule) }
  }

  private mutating func change(_ body: (inout [HTTPField]) -> Void) {
    var fields = all
    storage = .list([])  // the list has no other owner now, so the change copies nothing
    body(&fields)
    storage = .list(fields)
  }
}

extension HTTPFields: ExpressibleByDictionaryLiteral, Hashable, Masked {
  /// Makes fields from a dictionary literal, in its order.
  public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
    self.init(elements.map { HTTPField($0, $1) })
  }

  /// Whether two sets of fields contain the same fields in the same order.
  public static func == (left: HTTPFields, right: HTTPFields) -> Bool { left.all == right.all }

  /// Hashes the fields in their order.
  public func hash(into hasher: inout Hasher) { hasher.combine(all) }

  /// The fields as text, with one field per line. Secret values are masked.
  public var description: String { all.map(\.description).joined(separator: "\n") }
}
