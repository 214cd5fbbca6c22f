import Foundation

// MARK: - Values in containers

extension JSONStream {
  /// Writes the value of a single value container. The container must not have a value yet.
  @inline(__always) func fill(_ id: JSONLevel.ID, _ body: () throws -> Void) throws {
    try enter(id)
    try expectEmpty(id)
    let mark = mark(id)
    level(id).pointee.shape = .value
    do {
      try body()
    } catch {
      throw undo(mark, error, key: nil)
    }
  }

  func fill<T: Encodable>(_ id: JSONLevel.ID, with value: T) throws {
    let entry = kinds.entry(of: T.self)
    try fill(id) { try write(value, as: entry, hasKey: false) }
  }

  /// Throws an error if the level already has a value or a container.
  ///
  /// If the level has a container, the caller encodes the whole value again with `JSONEncoder`, which keeps the
  /// container and drops the later value. If the level has a value, `JSONEncoder` would end the process, so the error
  /// reports a mistake in the type.
  @inline(__always) private func expectEmpty(_ id: JSONLevel.ID) throws {
    switch level(id).pointee.shape {
    case .empty: return
    case .value: throw halt(.misuse("the type wrote a second value to a single value container"))
    case .array, .object: throw halt(.needsJSONEncoder)
    }
  }

  /// Writes the next element of an array.
  @inline(__always) func add(to id: JSONLevel.ID, _ body: () throws -> Void) throws {
    try enter(id)
    let mark = mark(id)
    beginElement(of: id)
    do {
      try body()
    } catch {
      throw undo(mark, error, key: nil)
    }
  }

  @inline(__always) func beginElement(of id: JSONLevel.ID) {
    let level = level(id)
    if level.pointee.count > 0 { bytes.append(UInt8(ascii: ",")) }
    level.pointee.count &+= 1
  }

  func add<T: Encodable>(_ value: T, to id: JSONLevel.ID) throws {
    let entry = kinds.entry(of: T.self)
    try add(to: id) { try write(value, as: entry, hasKey: false) }
  }

  /// Writes a member of an object: its key, and the value that `body` writes.
  @inline(__always) func put(_ key: some CodingKey, in id: JSONLevel.ID, _ body: () throws -> Void) throws {
    try enter(id)
    let mark = mark(id)
    try begin(key, in: id)
    do {
      try body()
    } catch {
      throw undo(mark, error, key: key)
    }
  }

  func put<T: Encodable>(_ value: T, for key: some CodingKey, in id: JSONLevel.ID) throws {
    let entry = kinds.entry(of: T.self)
    try put(key, in: id) { try write(value, as: entry, for: key) }
  }

  /// Writes the value of a key, after the key has been written.
  @inline(__always) func write<T: Encodable>(_ value: T, as entry: JSONKinds.Entry, for key: some CodingKey) throws {
    if entry.kind.isScalar { return try write(value, as: entry, hasKey: false) }
    let before = append(key)
    try write(value, as: entry, hasKey: true)
    settle(before)
  }
}

// MARK: - Values

extension JSONStream {
  /// Writes a value at the end of the text. If the value has a key, the caller must have appended the key to `keys`
  /// before.
  @inline(__always) func write<T: Encodable>(_ value: T, as entry: JSONKinds.Entry, hasKey: Bool) throws {
    switch entry.kind {
    case .other: try run(hasKey: hasKey) { try value.encode(to: $0) }
    case .string: bytes.write(JSONSameType.cast(value, to: String.self))
    default: try write(known: value, as: entry, hasKey: hasKey)
    }
  }

  private func write<T: Encodable>(known value: T, as entry: JSONKinds.Entry, hasKey: Bool) throws {
    switch entry.kind {
    case .double: try write(JSONSameType.cast(value, to: Double.self))
    case .float: try write(JSONSameType.cast(value, to: Float.self))
    case .bool: bytes.write(JSONSameType.cast(value, to: Bool.self))
    case .date: try write(JSONSameType.cast(value, to: Date.self), hasKey: hasKey)
    case .data: try write(JSONSameType.cast(value, to: Data.self), hasKey: hasKey)
    case .url: bytes.write(JSONSameType.cast(value, to: URL.self).absoluteString)
    case .decimal: try write(JSONSameType.cast(value, to: Decimal.self))
    case .value: try write(JSONSameType.cast(value, to: JSONValue.self), hasKey: hasKey)
    case .array: try write(array: value, of: entry, hasKey: hasKey)
    case .members: try write(members: value, of: entry, hasKey: hasKey)
    case .dictionary: try run(hasKey: hasKey, isSorted: true) { try value.encode(to: $0) }
    default: writeInteger(value, entry.kind)
    }
  }

  private func writeInteger<T>(_ value: T, _ kind: JSONKind) {
    switch kind {
    case .int: bytes.write(JSONSameType.cast(value, to: Int.self))
    case .int8: bytes.write(JSONSameType.cast(value, to: Int8.self))
    case .int16: bytes.write(JSONSameType.cast(value, to: Int16.self))
    case .int32: bytes.write(JSONSameType.cast(value, to: Int32.self))
    case .int64: bytes.write(JSONSameType.cast(value, to: Int64.self))
    case .uint: bytes.write(JSONSameType.cast(value, to: UInt.self))
    case .uint8: bytes.write(JSONSameType.cast(value, to: UInt8.self))
    case .uint16: bytes.write(JSONSameType.cast(value, to: UInt16.self))
    case .uint32: bytes.write(JSONSameType.cast(value, to: UInt32.self))
    case .uint64: bytes.write(JSONSameType.cast(value, to: UInt64.self))
    case .int128: bytes.write(JSONSameType.cast(value, to: Int128.self))
    default: bytes.write(JSONSameType.cast(value, to: UInt128.self))
    }
  }

  @inline(__always) func write(_ value: Double) throws {
    if value.isFinite { bytes.write(value) } else { try write(notFinite: value) }
  }

  @inline(__always) func write(_ value: Float) throws {
    if value.isFinite { bytes.write(value) } else { try write(notFinite: value) }
  }

  @inline(never) private func write<T: BinaryFloatingPoint & Sendable>(notFinite value: T) throws {
    guard case .convertToString(let infinity, let negative, let nan) = rules.floats else { throw Self.notFinite(value) }
    bytes.write(value.isNaN ? nan : value < 0 ? negative : infinity)
  }

  private static func notFinite<T: BinaryFloatingPoint & Sendable>(_ value: T) -> JSONUnwritable {
    JSONUnwritable(value: value, reason: "Unable to encode \(T.self).\(value) directly in JSON.")
  }

  private func write(_ decimal: Decimal) throws {
    guard !decimal.isNaN else {
      throw JSONUnwritable(value: decimal, reason: "Unable to encode Decimal.nan directly in JSON.")
    }
    bytes.write(ascii: decimal.description)
  }

  private func write(_ date: Date, hasKey: Bool) throws {
    switch rules.dates {
    case .deferredToDate: try write(date.timeIntervalSinceReferenceDate)
    case .secondsSince1970: try write(seconds: date.timeIntervalSince1970)
    case .millisecondsSince1970: try write(seconds: 1000 * date.timeIntervalSince1970)
    case .iso8601: try write(iso8601: date)
    #if canImport(Darwin)
      case .formatted(let formatter): bytes.write(formatter.string(from: date))
    #endif
    case .custom(let encode): try run(hasKey: hasKey) { try encode(date, $0) }
    @unknown default: throw halt(.needsJSONEncoder)
    }
  }

  /// Writes a date as a number of seconds. The number must be finite even if a strategy allows other numbers to be
  /// infinite or NaN.
  private func write(seconds: Double) throws {
    guard seconds.isFinite else { throw Self.notFinite(seconds) }
    bytes.write(seconds)
  }

  private func write(iso8601 date: Date) throws {
    guard ISO8601Text.isWritable(date) else { throw JSONUnwritable(value: date, reason: ISO8601Text.unwritable) }
    bytes.write(iso8601: date)
  }

  private func write(_ data: Data, hasKey: Bool) throws {
    switch rules.data {
    case .base64: bytes.write(data.base64EncodedString())
    case .deferredToData: try run(hasKey: hasKey) { try data.encode(to: $0) }
    case .custom(let encode): try run(hasKey: hasKey) { try encode(data, $0) }
    @unknown default: throw halt(.needsJSONEncoder)
    }
  }

  private func write(_ value: JSONValue, hasKey: Bool) throws {
    var writer = JSONWriter(below: nesting)
    do throws(JSONError) {
      try writer.write(value)
    } catch .notFinite {
      // `JSONValue.encode(to:)` writes the value again. The encoder then decides how to handle the number that is not
      // finite, and an error contains the path of the number.
      return try run(hasKey: hasKey) { try value.encode(to: $0) }
    } catch {
      throw halt(.tooDeep(limit: JSONValue.depthLimit))
    }
    bytes.write(contentsOf: writer.bytes)
  }
}
