/// Lines of text about a decoder, for comparison.
struct JSONNotes {
  private(set) var lines: [String] = []

  mutating func note(_ value: Any) { lines.append("\(value)") }

  mutating func note(_ path: [any CodingKey]) { lines.append(JSONFailure.names(path).joined(separator: "/")) }

  /// Adds the result or the error of the work.
  mutating func attempt<Result>(_ work: () throws -> Result) {
    do {
      lines.append("\(try work())")
    } catch {
      lines.append("\(JSONFailure(error))")
    }
  }

  /// Adds the position of the container.
  mutating func note(_ list: any UnkeyedDecodingContainer) {
    note("\(list.currentIndex) of \(list.count ?? -1), at end: \(list.isAtEnd)")
    note(list.codingPath)
  }

  /// Adds the keys and the path of the object.
  mutating func note<Key>(_ object: KeyedDecodingContainer<Key>) {
    note(object.allKeys.map { "\($0.stringValue)#\($0.intValue ?? -1)" }.sorted())
    note(object.codingPath)
  }
}
