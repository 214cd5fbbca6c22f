/// The keyed container of an object.
///
/// - Parameter Members: The type that finds the members of objects. A `Members` value must be a single reference,
///   because the standard library copies the container with this value for each member that is read.
struct TapeKeyed<Key: CodingKey, Members: TapeMembers>: KeyedDecodingContainerProtocol {
  private let members: Members
  /// The index of the object in the parsed document.
  private let index: Int

  @inline(__always) init(_ members: Members, at index: Int) {
    self.members = members
    self.index = index
  }

  private var source: TapeSource { members.source }

  var codingPath: [any CodingKey] { source.path(to: index) }

  var allKeys: [Key] { members.names(in: index).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { place(of: key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try read(key) { $0.isNull(at: $1) } }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(key) { try $0.string(at: $1) } }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(key) { try $0.bool(at: $1) } }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(key) { try $0.double(at: $1) } }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try read(key) { try $0.float(at: $1) } }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try read(key) { try $0.integer(type, at: $1) } }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try read(key) { try $0.integer(type, at: $1) }
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try read(key) { try $0.value(type, at: $1) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try source.container(keyedBy: type, at: requiredPlace(of: key))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try TapeUnkeyed(source, at: requiredPlace(of: key))
  }

  func superDecoder() throws -> any Decoder { decoder(for: AnyKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder(for: key) }

  // MARK: - Members

  /// Calls `body` with the container's source: the parsed document and its decoding rules. The source is not retained.
  /// This is safe, because the container keeps the source alive. In measurements, retaining the source took longer than
  /// most reads.
  @inline(__always) private func ask<Value>(_ body: (TapeSource) throws -> Value) rethrows -> Value {
    try members.uncounted._withUnsafeGuaranteedRef(body)
  }

  /// Reads the value of a key.
  @inline(__always) private func read<Value>(_ key: Key, by body: (TapeSource, Int) throws -> Value) throws -> Value {
    let place = try requiredPlace(of: key)
    return try ask { try body($0, place) }
  }

  /// The index of the value of a key; nil if the key is missing.
  @inline(__always) private func place(of key: some CodingKey) -> Int? { members.place(of: key.stringValue, in: index) }

  @inline(__always) private func requiredPlace(of key: Key) throws -> Int {
    if let place = place(of: key) { return place }
    throw missing(key)
  }

  @inline(never) private func missing(_ key: Key) -> DecodingError {
    let reason = "No value associated with key \(key) (\"\(key.stringValue)\")."
    return .keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: reason))
  }

  /// A decoder for the value of a key. If the key is missing, the decoder reads null.
  private func decoder(for key: some CodingKey) -> TapeDecoder {
    guard let place = place(of: key) else { return source.absentDecoder(at: codingPath + [key]) }
    return TapeDecoder(source: source, index: place)
  }
}

// MARK: - Optional members

extension TapeKeyed {
  /// Reads the value of a key; nil if the key is missing or the value is null.
  @inline(__always)
  private func readIfPresent<Value>(_ key: Key, by body: (TapeSource, Int) throws -> Value) rethrows -> Value? {
    guard let place = place(of: key) else { return nil }
    return try ask { $0.isNull(at: place) ? nil : try body($0, place) }
  }

  @inline(__always)
  private func integerIfPresent<Number: FixedWidthInteger>(_ type: Number.Type, _ key: Key) throws -> Number? {
    try readIfPresent(key) { try $0.integer(type, at: $1) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(key) { try $0.string(at: $1) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try readIfPresent(key) { try $0.bool(at: $1) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(key) { try $0.double(at: $1) }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try readIfPresent(key) { try $0.float(at: $1) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(type, key) }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try readIfPresent(key) { try $0.value(type, at: $1) }
  }
}

/// A way to find the members of an object.
protocol TapeMembers {
  var source: TapeSource { get }
  /// A reference to the source (the parsed document and its decoding rules) without reference counting. The reference
  /// is valid as long as the caller keeps this `TapeMembers` value alive.
  var uncounted: Unmanaged<TapeSource> { get }
  /// The index of the value of the member with a name; nil if the object has no such member.
  func place(of name: String, in object: Int) -> Int?
  /// The names of an object's members, in the order of the text.
  func names(in object: Int) -> [String]
}

extension TapeMembers {
  var uncounted: Unmanaged<TapeSource> { Unmanaged.passUnretained(source) }
}

extension TapeSource {
  /// A container for the members of an object.
  func container<Key: CodingKey>(keyedBy type: Key.Type, at index: Int) throws -> KeyedDecodingContainer<Key> {
    let word = document.word(index)
    guard word.isObject else { throw mismatch([String: Any].self, at: index) }
    guard word.isKind(.object), rules.keepsKeys else {
      return KeyedDecodingContainer(TapeKeyed<Key, _>(TapeMembersInTable(self, object: index), at: index))
    }
    return KeyedDecodingContainer(TapeKeyed<Key, _>(TapeMembersInOrder(source: self), at: index))
  }
}

/// Finds the members of an object by a linear search.
struct TapeMembersInOrder: TapeMembers {
  let source: TapeSource

  func place(of name: String, in object: Int) -> Int? { source.document.index(of: name, in: object) }

  func names(in object: Int) -> [String] {
    var names: [String] = []
    source.document.forEachMember(of: object) { key, _ in names.append(source.document.string(key)) }
    return names
  }
}

/// Finds the members of an object in a table. The table is needed for objects of the kind
/// ``JSONWord/Kind/objectWithKeyTable``. If the decoding rules convert keys, the table is needed for all objects.
final class TapeMembersInTable: TapeMembers, Sendable {
  let source: TapeSource
  private let table: JSONKeyTable

  init(_ source: TapeSource, object: Int) {
    let rules = source.rules
    let path = rules.needsPaths ? source.path(to: object) : []
    self.source = source
    table = JSONKeyTable(source.document, object: object) { rules.name(of: $0, in: path) }
  }

  func place(of name: String, in object: Int) -> Int? { table[name] }

  func names(in object: Int) -> [String] { table.names }
}
