/// Shows the members of an object.
///
/// - Parameter Members: How they are found. With one reference alone a container is copied quickly, and the standard
///   library copies it for each member that is read.
struct TapeKeyed<Key: CodingKey, Members: TapeMembers>: KeyedDecodingContainerProtocol {
  private let members: Members
  /// Where the object lies on the tape.
  private let index: Int

  init(_ members: Members, at index: Int) {
    self.members = members
    self.index = index
  }

  private var source: TapeSource { members.source }

  var codingPath: [any CodingKey] { source.path(to: index) }

  var allKeys: [Key] { members.names(in: index).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { place(of: key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { source.isNull(at: try due(key)) }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try source.string(at: due(key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try source.bool(at: due(key)) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try source.double(at: due(key)) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try source.float(at: due(key)) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try source.integer(type, at: due(key)) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try source.integer(type, at: due(key)) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try source.integer(type, at: due(key)) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try source.integer(type, at: due(key)) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try source.integer(type, at: due(key)) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try source.integer(type, at: due(key)) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try source.integer(type, at: due(key)) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try source.integer(type, at: due(key)) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try source.integer(type, at: due(key)) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try source.integer(type, at: due(key)) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try source.integer(type, at: due(key)) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try source.integer(type, at: due(key)) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try source.value(type, at: due(key)) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try source.container(keyedBy: type, at: due(key))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try TapeUnkeyed(source, at: due(key))
  }

  func superDecoder() throws -> any Decoder { decoder(for: AnyKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder(for: key) }

  // MARK: - Members

  /// Where the value of a key lies; nil where it is missing.
  private func place(of key: some CodingKey) -> Int? { members.place(of: key.stringValue, in: index) }

  private func due(_ key: Key) throws -> Int {
    if let place = place(of: key) { return place }
    let reason = "No value associated with key \(key) (\"\(key.stringValue)\")."
    throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: reason))
  }

  /// A decoder for the value of a key; a missing one reads as null.
  private func decoder(for key: some CodingKey) -> TapeDecoder {
    guard let place = place(of: key) else { return source.absentDecoder(at: codingPath + [key]) }
    return TapeDecoder(source: source, index: place)
  }
}

// MARK: - What may be missing

extension TapeKeyed {
  /// Where the value of a key lies; nil where it is missing or null.
  private func present(_ key: Key) -> Int? {
    guard let place = place(of: key), !source.isNull(at: place) else { return nil }
    return place
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map { try source.string(at: $0) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map { try source.bool(at: $0) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try source.double(at: $0) }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { try source.float(at: $0) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try present(key).map { try source.integer(type, at: $0) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key).map { try source.value(type, at: $0) }
  }
}
