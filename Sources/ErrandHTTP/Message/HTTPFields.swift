/// The header fields of a message: in order, repeated names kept, looked up without regard to case.
///
/// What a transport received stays in its raw bytes, and a name is searched for when it is asked for.
public struct HTTPFields: Sendable {
  private enum Storage: Sendable {
    case list([HTTPField])
    case raw(RawFieldBlock)
  }

  private var storage: Storage
  /// The marks of all names, and maybe of more: a name whose mark is not among them is not here.
  private var marks: UInt64

  /// Makes an empty set of fields.
  public init() { (storage, marks) = (.list([]), 0) }
  /// Makes fields of a list, in its order.
  public init(_ fields: [HTTPField]) {
    storage = .list(fields)
    marks = fields.reduce(0) { $0 | $1.name.mark }
  }
  /// Takes over the field lines that a transport received and has checked.
  package init(raw: RawFieldBlock) { (storage, marks) = (.raw(raw), raw.marks) }

  /// The fields one by one, in order.
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

  /// Whether there is no field at all.
  public var isEmpty: Bool { count == 0 }

  /// The value of a field; of several with one name, all joined by a comma (RFC 9110 section 5.3). Setting replaces
  /// every field of that name, and nil removes them; a field that was secret stays so.
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

  /// The media type of `Content-Type`. Of several lines, such as a gateway adds, the last that says one counts (RFC
  /// 9110 section 8.3).
  package var mediaType: MediaType? { values(of: .contentType).reversed().lazy.compactMap { MediaType($0) }.first }

  /// Every value of a field, in order.
  public func values(of name: HTTPFieldName) -> [String] {
    guard mayHold(name) else { return [] }
    return switch storage {
    case .list(let fields): fields.lazy.filter { $0.name == name }.map(\.value)
    case .raw(let block): block.values(of: name)
    }
  }

  /// Every value of a field that refers to a URL. Bytes that are not UTF-8 are percent-encoded, so that the URL has the
  /// bytes that came.
  package func references(of name: HTTPFieldName) -> [String] {
    guard mayHold(name), case .raw(let block) = storage else { return values(of: name) }
    return block.references(of: name)
  }

  /// Every value of a field that is sent back as it came, such as a cookie or an entity tag. ``FieldOctets`` says how
  /// bytes that are not UTF-8 are written.
  package func octets(of name: HTTPFieldName) -> [String] {
    guard mayHold(name), case .raw(let block) = storage else { return values(of: name) }
    return block.octets(of: name)
  }

  /// Whether there is a field of this name.
  public func contains(_ name: HTTPFieldName) -> Bool {
    guard mayHold(name) else { return false }
    return switch storage {
    case .list(let fields): fields.contains { $0.name == name }
    case .raw(let block): block.contains(name)
    }
  }

  private func mayHold(_ name: HTTPFieldName) -> Bool { marks != 0 && marks & name.mark != 0 }

  /// Adds a field behind the others.
  public mutating func append(_ field: HTTPField) {
    marks |= field.name.mark
    change { $0.append(field) }
  }

  /// Puts a field in the place of all fields of its name.
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

  /// Removes every field the rule picks.
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
  /// Makes fields of a literal, in its order.
  public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
    self.init(elements.map { HTTPField($0, $1) })
  }

  /// Whether both hold the same fields in the same order.
  public static func == (left: HTTPFields, right: HTTPFields) -> Bool { left.all == right.all }

  /// Hashes the fields in order.
  public func hash(into hasher: inout Hasher) { hasher.combine(all) }

  /// One field a line, secrets masked.
  public var description: String { all.map(\.description).joined(separator: "\n") }

  /// What a dump shows: the fields, secrets masked; not the bytes in which they came.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: all, displayStyle: .collection) }
}
