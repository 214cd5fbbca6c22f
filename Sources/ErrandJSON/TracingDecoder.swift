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
}
