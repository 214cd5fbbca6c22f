/// How the members of an object are found.
protocol TapeMembers {
  var source: TapeSource { get }
  /// The same, for a look by whoever holds the members.
  var uncounted: Unmanaged<TapeSource> { get }
  /// The index of the value that belongs to a name; nil where there is none.
  func place(of name: String, in object: Int) -> Int?
  /// The names in the order of the text.
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
