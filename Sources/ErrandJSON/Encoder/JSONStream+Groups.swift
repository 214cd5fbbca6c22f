// MARK: - Arrays

extension JSONStream {
  func write<T: Encodable>(array value: T, of entry: JSONKinds.Entry, hasKey: Bool) throws {
    guard let group = entry.group else { return try run(hasKey: hasKey) { try value.encode(to: $0) } }
    let id = try push(hasKey: hasKey)
    try open(.array)
    try group.write(elementsOf: value, to: self)
    try close(downTo: Int(id.depth))
  }

  var innermost: JSONLevel.ID {
    JSONLevel.ID(depth: Int32(truncatingIfNeeded: levels.count - 1), serial: levels.last.pointee.serial)
  }
}

extension Array: JSONGroup where Element: Encodable {
  static func write<T>(elementsOf value: T, to stream: JSONStream) throws {
    let elements = JSONSameType.cast(value, to: Self.self)
    let id = stream.innermost
    let entry = stream.kinds.entry(of: Element.self)
    switch entry.kind {
    case .string: stream.add(strings: JSONSameType.cast(elements, to: [String].self), to: id)
    case .int: stream.add(integers: JSONSameType.cast(elements, to: [Int].self), to: id)
    case .double: try stream.add(numbers: JSONSameType.cast(elements, to: [Double].self), to: id)
    default:
      for element in elements {
        try stream.add(to: id) { try stream.write(element, as: entry, hasKey: false) }
      }
    }
  }
}

extension JSONStream {
  fileprivate func add(strings: [String], to id: JSONLevel.ID) {
    for string in strings {
      beginElement(of: id)
      bytes.write(string)
    }
  }

  fileprivate func add(integers: [Int], to id: JSONLevel.ID) {
    for integer in integers {
      beginElement(of: id)
      bytes.write(integer)
    }
  }

  fileprivate func add(numbers: [Double], to id: JSONLevel.ID) throws {
    for number in numbers {
      try add(to: id) { try write(number) }
    }
  }
}

// MARK: - Dictionaries

extension JSONStream {
  /// Writes a dictionary with string keys. Key strategies do not apply to the keys.
  func write<T: Encodable>(members value: T, of entry: JSONKinds.Entry, hasKey: Bool) throws {
    guard let group = entry.group else { return try run(hasKey: hasKey, isSorted: true) { try value.encode(to: $0) } }
    let id = try push(hasKey: hasKey, isSorted: true)
    try open(.object)
    try group.write(elementsOf: value, to: self)
    try close(downTo: Int(id.depth))
  }
}

extension Dictionary: JSONGroup where Key == String, Value: Encodable {
  static func write<T>(elementsOf value: T, to stream: JSONStream) throws {
    let members = JSONSameType.cast(value, to: Self.self)
    let id = stream.innermost
    let entry = stream.kinds.entry(of: Value.self)
    for (member, value) in members {
      let mark = stream.mark(id)
      try stream.begin(unique: member, in: id)
      let key = JSONMemberKey(member, mayBeNumber: stream.rules.keepsKeys)
      do {
        try stream.write(value, as: entry, for: key)
      } catch {
        throw stream.undo(mark, error, key: key)
      }
    }
  }
}

/// The coding key of a dictionary's member. It equals the key that the dictionary's own `encode(to:)` creates.
struct JSONMemberKey: CodingKey {
  let stringValue: String
  private let mayBeNumber: Bool

  var intValue: Int? { mayBeNumber ? Int(stringValue) : nil }

  init(_ name: String, mayBeNumber: Bool) {
    stringValue = name
    self.mayBeNumber = mayBeNumber
  }

  init(stringValue: String) { self.init(stringValue, mayBeNumber: false) }

  init(intValue: Int) { self.init(String(intValue), mayBeNumber: true) }
}
