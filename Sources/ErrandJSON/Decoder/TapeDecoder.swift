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
