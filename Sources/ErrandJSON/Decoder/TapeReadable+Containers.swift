extension Array: TapeReadable where Element: Decodable {
  static func read(from source: TapeSource, at index: Int) throws -> [Element] {
    guard case .json(let reader) = TapeReaders.shared.reader(of: Element.self) else {
      return try source.elements(of: index) { try source.value(Element.self, at: $0) }
    }
    let word = source.document.word(index)
    guard word.isKind(.array) else { throw source.mismatch([Any].self, at: index) }
    return try [Element](unsafeUninitializedCapacity: word.length) { room, count in
      guard let place = room.baseAddress else { return }
      try reader.make(in: UnsafeMutableRawPointer(place), of: source, at: index, &count)
    }
  }
}

extension JSONReadable {
  /// Makes the elements of an array where they are to stay.
  /// - Parameter count: How many there are, also where it throws.
  fileprivate static func make(
    in room: UnsafeMutableRawPointer, of source: TapeSource, at array: Int, _ count: inout Int
  ) throws {
    let places = room.assumingMemoryBound(to: Self.self)
    let end = source.document.word(array).place
    var here = array + 2
    while here < end {
      (places + count).initialize(to: try Self(json: JSONValue.read(from: source, at: here)))
      count += 1
      here = source.document.end(of: here)
    }
  }
}

extension Dictionary: TapeReadable where Key == String, Value: Decodable {
  /// Of equal keys the first one counts. No key strategy changes the keys: they are data.
  static func read(from source: TapeSource, at index: Int) throws -> [String: Value] {
    let word = source.document.word(index)
    guard word.isObject else { throw source.mismatch([String: Any].self, at: index) }
    source.noteDictionary(index)
    var members: [String: Value] = [:]
    members.reserveCapacity(word.length)
    var here = index + 2
    while here < word.place {
      let key = source.document.string(source.document.word(here))
      if word.isKind(.object) || members.index(forKey: key) == nil {
        let value = try source.value(Value.self, at: here + 1)
        // A `String` is equal to one that looks the same, so that keys with other bytes can meet here.
        if let first = members.updateValue(value, forKey: key) { members[key] = first }
      }
      here = source.document.end(of: here + 1)
    }
    return members
  }
}
