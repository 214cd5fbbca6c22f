/// Lines about a decoder.
struct JSONNotes {
  private(set) var lines: [String] = []

  mutating func note(_ value: Any) { lines.append("\(value)") }

  mutating func note(_ path: [any CodingKey]) { lines.append(JSONFailure.names(path).joined(separator: "/")) }

  /// Notes the result, or how the work failed.
  mutating func attempt<Result>(_ work: () throws -> Result) {
    do {
      lines.append("\(try work())")
    } catch {
      lines.append("\(JSONFailure(error))")
    }
  }

  /// Notes where the container stands.
  mutating func note(_ list: any UnkeyedDecodingContainer) {
    note("\(list.currentIndex) of \(list.count ?? -1), at end: \(list.isAtEnd)")
    note(list.codingPath)
  }

  /// Notes what the object has.
  mutating func note<Key>(_ object: KeyedDecodingContainer<Key>) {
    note(object.allKeys.map { "\($0.stringValue)#\($0.intValue ?? -1)" }.sorted())
    note(object.codingPath)
  }
}
