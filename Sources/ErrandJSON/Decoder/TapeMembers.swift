/// A way to find the members of an object.
protocol TapeMembers {
  var source: TapeSource { get }
  /// The source without reference counting; valid as long as the caller keeps this `TapeMembers` value alive.
  var uncounted: Unmanaged<TapeSource> { get }
  /// The index of the value of a name; nil if the object has no such name.
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

/// Finds members by a linear search.
struct TapeMembersInOrder: TapeMembers {
  let source: TapeSource

  func place(of name: String, in object: Int) -> Int? { source.document.index(of: name, in: object) }

  func names(in object: Int) -> [String] {
    var names: [String] = []
    source.document.forEachMember(of: object) { key, _ in names.append(source.document.string(key)) }
    return names
  }
}

/// Finds members by a table. Used if a linear search would be slow or wrong (``JSONWord/Kind/crowd``), and for all
/// objects if the rules convert keys.
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
