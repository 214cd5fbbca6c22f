extension Array: TapeReadable where Element: Decodable {
  static func read(from source: TapeSource, at index: Int) throws -> [Element] {
    let word = source.document.word(index)
    guard word.kind == .array else { throw source.mismatch([Any].self, at: index) }
    if let simple = try source.simpleElements(of: Element.self, at: index) as? [Element] { return simple }
    var elements: [Element] = []
    elements.reserveCapacity(word.length)
    var here = index + 2
    while here < word.place {
      elements.append(try source.value(Element.self, at: here))
      here = source.document.end(of: here)
    }
    return elements
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
      if word.kind == .object || members.index(forKey: key) == nil {
        let value = try source.value(Value.self, at: here + 1)
        // A `String` is equal to one that looks the same, so that keys with other bytes can meet here.
        if let first = members.updateValue(value, forKey: key) { members[key] = first }
      }
      here = source.document.end(of: here + 1)
    }
    return members
  }
}

extension TapeSource {
  /// The elements of an array of strings or numbers, made without asking for each what its type is; nil for all others.
  fileprivate func simpleElements<Element>(of type: Element.Type, at index: Int) throws -> Any? {
    if type == String.self { return try elements(of: index) { try string(at: $0) } }
    if type == Double.self { return try elements(of: index) { try double(at: $0) } }
    if type == Int.self { return try elements(of: index) { try integer(Int.self, at: $0) } }
    return nil
  }

  private func elements<Element>(of index: Int, _ read: (Int) throws -> Element) throws -> [Element] {
    let word = document.word(index)
    var elements: [Element] = []
    elements.reserveCapacity(word.length)
    var here = index + 2
    while here < word.place {
      elements.append(try read(here))
      here = document.end(of: here)
    }
    return elements
  }
}
