/// A way to find the members of an object.
protocol TapeMembers {
  var source: TapeSource { get }
  /// A reference to the source (the parsed document and its decoding rules) without reference counting. The reference
  /// is valid as long as the caller keeps this `TapeMembers` value alive.
  var uncounted: Unmanaged<TapeSource> { get }
  /// The index of the value of the member with a name; nil if the object has no such member.
  func place(of name: String, in object: Int) -> Int?
  /// The names of an object's members, in the order of the text.
  func names(in object: Int) -> [String]
}

extension TapeMembers {
  var uncounted: Unmanaged<TapeSource> { Unmanaged.passUnretained(source) }
}

extension TapeSource {
  /// A container for the members of an object.
  func container<Key: CodingKey>(keyedBy type: Key.Type, at index: Int) throws -> KeyedDecodingContainer<Key> {
    let word = document.word(index)
    guard word.isObject else { throw mismatch([String: Any].self, at: index) }
    guard word.isKind(.object), rules.keepsKeys else {
      return KeyedDecodingContainer(TapeKeyed<Key, _>(TapeMembersInTable(self, object: index), at: index))
    }
    return KeyedDecodingContainer(TapeKeyed<Key, _>(TapeMembersInOrder(source: self), at: index))
  }
}

/// Finds the members of an object by a linear search.
struct TapeMembersInOrder: TapeMembers {
  let source: TapeSource

  func place(of name: String, in object: Int) -> Int? { source.document.index(of: name, in: object) }

  func names(in object: Int) -> [String] {
    var names: [String] = []
    source.document.forEachMember(of: object) { key, _ in names.append(source.document.string(key)) }
    return names
  }
}

/// Finds the members of an object in a table. The table is needed for objects of the kind
/// ``JSONWord/Kind/objectWithKeyTable``. If the decoding rules convert keys, the table is needed for all objects.
final class TapeMembersInTable: TapeMembers, Sendable {
  let source: TapeSource
  private let table: JSONKeyTable

  init(_ source: TapeSource, object: Int) {
    let rules = source.rules
    let path = rules.needsPaths ? source.path(to: object) : []
    self.source = source
    table = JSONKeyTable(source.document, object: object) { rules.name(of: $0, in: path) }
  }

  func place(of name: String, in object: Int) -> Int? { table[name] }

  func names(in object: Int) -> [String] { table.names }
}
