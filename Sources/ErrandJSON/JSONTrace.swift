import Foundation

/// Records where a decoding failed and which values it read, as reported by ``TracingDecoder``. Only one decoding on
/// one thread uses a trace.
final class JSONTrace {
  /// The record of the values that the decoding read. Nil if only the failure is needed.
  let reading: JSONReading?

  init(noting reading: JSONReading? = nil) { self.reading = reading }

  /// The path and the type of the innermost failure; nil as long as nothing has failed.
  private(set) var failure: (path: [any CodingKey], type: any Any.Type)?

  /// The paths of the first dates that were read.
  private(set) var dates: [[any CodingKey]] = []
  private static let mostDates = 32

  /// Decodes a value as a whole, such as a string or a date, and records that the whole value was read. If decoding
  /// fails, records the failure.
  func leaf<T>(_ type: any Any.Type, at path: [any CodingKey], _ decode: () throws -> T) throws -> T {
    reading?.noteWhole(path)
    if type == Date.self, dates.count < Self.mostDates { dates.append(path) }
    do {
      let value = try decode()
      failure = nil
      return value
    } catch {
      failure = (Self.place(of: error, reading: type, at: path), type)
      throw error
    }
  }

  /// The path of a failure. A ``JSONReadable`` type reads its members itself, and the tracing decoder does not see
  /// these members. If such a type fails, the error contains the path of the member, which is longer than the path of
  /// the type.
  private static func place(
    of error: any Error, reading type: any Any.Type, at path: [any CodingKey]
  ) -> [any CodingKey] {
    guard type is any JSONReadable.Type, case .dataCorrupted(let context)? = error as? DecodingError,
      context.codingPath.count > path.count
    else { return path }
    return context.codingPath
  }

  /// Decodes a value whose parts are recorded. If a part has recorded a failure, that failure is kept.
  func branch<T>(_ type: any Any.Type, at path: [any CodingKey], _ decode: () throws -> T) throws -> T {
    do {
      let value = try decode()
      failure = nil
      return value
    } catch {
      if failure == nil { failure = (path, type) }
      throw error
    }
  }

  /// Whether the reading of the parts of a type cannot be recorded, because the decoder applies a strategy to the type
  /// or reads the type with special code. The decoder must then read the type as a whole.
  static func isLeaf<T>(_ type: T.Type) -> Bool {
    if JSONKind.known[ObjectIdentifier(type)] != nil { return true }
    if case .json = TapeReaders.Reader(of: type) { return true }
    return false
  }
}

/// The values of a document that a decoding read. The paths contain the keys after the conversion by the decoder's key
/// strategy. Only one decoding on one thread uses this object.
final class JSONReading {
  private var asked: Set<JSONPath> = []
  private var whole: Set<JSONPath> = []

  /// Records that the type requested the key at a path.
  func note(_ path: [any CodingKey]) { asked.insert(JSONPath(coding: path)) }

  /// Records that the whole value at a path was read.
  func noteWhole(_ path: [any CodingKey]) { whole.insert(JSONPath(coding: path)) }

  /// Whether the type requested the key at a path.
  func hasAsked(for path: JSONPath) -> Bool { asked.contains(path) || whole.contains(path) }

  /// Whether the whole value at a path was read.
  func hasWhole(_ path: JSONPath) -> Bool { whole.contains(path) }
}

/// A decoder that forwards all requests to another decoder and records the path at which decoding fails.
///
/// Foundation's decoder reports no path for a number that does not fit its type, or for a date in another format. So a
/// failed decoding is repeated with this decoder.
struct TracingDecoder: Decoder {
  private let base: any Decoder
  private let trace: JSONTrace

  init(_ base: any Decoder, _ trace: JSONTrace) {
    self.base = base
    self.trace = trace
  }

  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(TracingKeyed(base: try base.container(keyedBy: type), trace: trace))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    TracingUnkeyed(base: try base.unkeyedContainer(), trace: trace)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    TracingSingle(base: try base.singleValueContainer(), decoder: self, trace: trace)
  }
}

/// The keyed container of a ``TracingDecoder``.
private struct TracingKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let base: KeyedDecodingContainer<Key>
  let trace: JSONTrace

  var codingPath: [any CodingKey] { base.codingPath }
  var allKeys: [Key] { base.allKeys }

  func contains(_ key: Key) -> Bool {
    note(key)
    return base.contains(key)
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    note(key)
    return try base.decodeNil(forKey: key)
  }

  private func note(_ key: Key) { trace.reading?.note(codingPath + [key]) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    note(key)
    let path = codingPath + [key]
    if JSONTrace.isLeaf(type) || !base.contains(key) {
      return try trace.leaf(type, at: path) { try base.decode(type, forKey: key) }
    }
    return try trace.branch(type, at: path) {
      try type.init(from: TracingDecoder(base.superDecoder(forKey: key), trace))
    }
  }

  // The protocols of containers have implementations for integers of 128 bits, which only throw an error. So each
  // container has its own.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    note(key)
    return try trace.leaf(type, at: codingPath + [key]) { try base.decode(type, forKey: key) }
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    note(key)
    return try trace.leaf(type, at: codingPath + [key]) { try base.decode(type, forKey: key) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    note(key)
    return KeyedDecodingContainer(
      TracingKeyed<Nested>(base: try base.nestedContainer(keyedBy: type, forKey: key), trace: trace))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    note(key)
    return TracingUnkeyed(base: try base.nestedUnkeyedContainer(forKey: key), trace: trace)
  }

  func superDecoder() throws -> any Decoder { TracingDecoder(try base.superDecoder(), trace) }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    note(key)
    return TracingDecoder(try base.superDecoder(forKey: key), trace)
  }
}

/// The unkeyed container of a ``TracingDecoder``.
private struct TracingUnkeyed: UnkeyedDecodingContainer {
  var base: any UnkeyedDecodingContainer
  let trace: JSONTrace

  var codingPath: [any CodingKey] { base.codingPath }
  var count: Int? { base.count }
  var isAtEnd: Bool { base.isAtEnd }
  var currentIndex: Int { base.currentIndex }

  mutating func decodeNil() throws -> Bool { try base.decodeNil() }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let path = codingPath + [AnyKey(intValue: currentIndex)]
    if JSONTrace.isLeaf(type) || base.isAtEnd {
      return try trace.leaf(type, at: path) { try base.decode(type) }
    }
    return try trace.branch(type, at: path) { try type.init(from: TracingDecoder(base.superDecoder(), trace)) }
  }

  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try trace.leaf(type, at: codingPath + [AnyKey(intValue: currentIndex)]) { try base.decode(type) }
  }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try trace.leaf(type, at: codingPath + [AnyKey(intValue: currentIndex)]) { try base.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(TracingKeyed<Nested>(base: try base.nestedContainer(keyedBy: type), trace: trace))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    TracingUnkeyed(base: try base.nestedUnkeyedContainer(), trace: trace)
  }

  mutating func superDecoder() throws -> any Decoder { TracingDecoder(try base.superDecoder(), trace) }
}

/// The single value container of a ``TracingDecoder``.
private struct TracingSingle: SingleValueDecodingContainer {
  let base: any SingleValueDecodingContainer
  let decoder: TracingDecoder
  let trace: JSONTrace

  var codingPath: [any CodingKey] { base.codingPath }

  func decodeNil() -> Bool { base.decodeNil() }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if JSONTrace.isLeaf(type) { return try trace.leaf(type, at: codingPath) { try base.decode(type) } }
    return try trace.branch(type, at: codingPath) { try type.init(from: decoder) }
  }

  func decode(_ type: Int128.Type) throws -> Int128 {
    try trace.leaf(type, at: codingPath) { try base.decode(type) }
  }

  func decode(_ type: UInt128.Type) throws -> UInt128 {
    try trace.leaf(type, at: codingPath) { try base.decode(type) }
  }
}
