/// The decoder of one value in a parsed document.
struct TapeDecoder: Decoder {
  let source: TapeSource
  /// The index of the value in the parsed document.
  let index: Int

  var codingPath: [any CodingKey] { source.path(to: index) }
  var userInfo: [CodingUserInfoKey: Any] { source.rules.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try source.container(keyedBy: type, at: index)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try TapeUnkeyed(source, at: index) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension TapeDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { source.isNull(at: index) }

  func decode(_ type: String.Type) throws -> String { try source.string(at: index) }
  func decode(_ type: Bool.Type) throws -> Bool { try source.bool(at: index) }
  func decode(_ type: Double.Type) throws -> Double { try source.double(at: index) }
  func decode(_ type: Float.Type) throws -> Float { try source.float(at: index) }
  func decode(_ type: Int.Type) throws -> Int { try source.integer(type, at: index) }
  func decode(_ type: Int8.Type) throws -> Int8 { try source.integer(type, at: index) }
  func decode(_ type: Int16.Type) throws -> Int16 { try source.integer(type, at: index) }
  func decode(_ type: Int32.Type) throws -> Int32 { try source.integer(type, at: index) }
  func decode(_ type: Int64.Type) throws -> Int64 { try source.integer(type, at: index) }
  func decode(_ type: Int128.Type) throws -> Int128 { try source.integer(type, at: index) }
  func decode(_ type: UInt.Type) throws -> UInt { try source.integer(type, at: index) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try source.integer(type, at: index) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try source.integer(type, at: index) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try source.integer(type, at: index) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try source.integer(type, at: index) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try source.integer(type, at: index) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try source.value(type, at: index) }
}

/// The unkeyed container of an array.
struct TapeUnkeyed: UnkeyedDecodingContainer {
  private let source: TapeSource
  /// The index of the array. This index and the next element's index have four bytes each, so that the container fits
  /// into an existential without a heap box.
  private let index: UInt32
  private var next: UInt32
  private var number: UInt32 = 0
  private let total: UInt32

  init(_ source: TapeSource, at index: Int) throws {
    let word = source.document.word(index)
    guard word.isKind(.array) else { throw source.mismatch([Any].self, at: index) }
    self.source = source
    self.index = UInt32(truncatingIfNeeded: index)
    next = UInt32(truncatingIfNeeded: index + 2)
    total = UInt32(truncatingIfNeeded: word.length)
  }

  var codingPath: [any CodingKey] { source.path(to: Int(index)) }
  var count: Int? { Int(total) }
  var isAtEnd: Bool { number == total }
  var currentIndex: Int { Int(number) }

  /// Reads the next element and, on success, advances past it.
  private mutating func element<Value>(
    _ type: any Any.Type, _ read: (TapeSource, Int) throws -> Value
  ) throws -> Value {
    guard !isAtEnd else { throw atEnd(type, "Unkeyed container is at end.") }
    let value = try read(source, Int(next))
    advance()
    return value
  }

  private mutating func advance() {
    next = UInt32(truncatingIfNeeded: source.document.end(of: Int(next)))
    number += 1
  }

  private func atEnd(_ type: any Any.Type, _ reason: String) -> DecodingError {
    let path = codingPath + [AnyKey(intValue: currentIndex)]
    return .valueNotFound(type, DecodingError.Context(codingPath: path, debugDescription: reason))
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw atEnd(Never.self, "Unkeyed container is at end.") }
    guard source.isNull(at: Int(next)) else { return false }
    advance()
    return true
  }

  mutating func decode(_ type: String.Type) throws -> String { try element(type) { try $0.string(at: $1) } }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try element(type) { try $0.bool(at: $1) } }
  mutating func decode(_ type: Double.Type) throws -> Double { try element(type) { try $0.double(at: $1) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try element(type) { try $0.float(at: $1) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try element(type) { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element(type) { try $0.integer(type, at: $1) } }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try element(type) { try $0.value(type, at: $1) } }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try element(KeyedDecodingContainer<Key>.self) { try $0.container(keyedBy: type, at: $1) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element((any UnkeyedDecodingContainer).self) { try TapeUnkeyed($0, at: $1) }
  }

  mutating func superDecoder() throws -> any Decoder {
    guard !isAtEnd else {
      throw atEnd((any Decoder).self, "Cannot get superDecoder() -- unkeyed container is at end.")
    }
    return try element((any Decoder).self) { TapeDecoder(source: $0, index: $1) }
  }
}
