/// The encoder and the single value container for a value that a stream is writing.
struct JSONStreamEncoder: Encoder, SingleValueEncodingContainer {
  let stream: JSONStream
  let level: JSONLevel.ID

  var codingPath: [any CodingKey] { stream.path(to: level) }
  var userInfo: [CodingUserInfoKey: Any] { stream.rules.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(JSONStreamObject<Key>(stream: stream, level: opened(.object)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONStreamArray(stream: stream, level: opened(.array))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// Begins the array or object that a type requests. If the encoder's level already is a container of this kind, the
  /// container is used again: a subclass and its superclass may both request a container from one encoder.
  private func opened(_ shape: JSONLevel.Shape) -> JSONLevel.ID {
    guard stream.isOpen(level), level.depth >= stream.floor else {
      _ = stream.halt(.needsJSONEncoder)
      return .none
    }
    switch stream.level(level).pointee.shape {
    case shape: return level
    case .empty:
      do {
        try stream.enter(level)
        try stream.open(shape)
        return level
      } catch {
        return .none  // the stream has stored the reason in `stop`
      }
    case .value where stream.endsWithGroup: _ = stream.halt(.needsJSONEncoder)
    default: _ = stream.halt(.misuse("the type requested two kinds of container, or a container after a value"))
    }
    return .none
  }

  func encodeNil() throws { try stream.fill(level) { stream.bytes.write(word: "null") } }
  func encode(_ value: Bool) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: String) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: Double) throws { try stream.fill(level) { try stream.write(value) } }
  func encode(_ value: Float) throws { try stream.fill(level) { try stream.write(value) } }
  func encode(_ value: Int) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: Int8) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: Int16) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: Int32) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: Int64) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: Int128) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: UInt) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: UInt8) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: UInt16) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: UInt32) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: UInt64) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode(_ value: UInt128) throws { try stream.fill(level) { stream.bytes.write(value) } }
  func encode<T: Encodable>(_ value: T) throws { try stream.fill(level, with: value) }
}

extension JSONStream {
  /// Whether the text ends with an array or object. If a type has written such a value and then requests a container,
  /// `JSONEncoder` reopens that value.
  fileprivate var endsWithGroup: Bool { bytes.endsWith("}") || bytes.endsWith("]") }
}

/// The keyed container for an object that a stream is writing.
struct JSONStreamObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let stream: JSONStream
  let level: JSONLevel.ID

  var codingPath: [any CodingKey] { stream.path(to: level) }

  /// Writes a key and a value that has no parts.
  @inline(__always) private func begin(_ key: Key, _ write: (JSONBuffer<UInt8>) -> Void) throws {
    try stream.begin(key, in: level)
    write(stream.bytes)
  }

  func encodeNil(forKey key: Key) throws { try begin(key) { $0.write(word: "null") } }
  func encode(_ value: Double, forKey key: Key) throws { try stream.put(key, in: level) { try stream.write(value) } }
  func encode(_ value: Float, forKey key: Key) throws { try stream.put(key, in: level) { try stream.write(value) } }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try stream.put(value, for: key, in: level) }
  func encode(_ value: Bool, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: String, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: Int, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: Int8, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: Int16, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: Int32, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: Int64, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: Int128, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: UInt, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: UInt8, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: UInt16, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: UInt32, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: UInt64, forKey key: Key) throws { try begin(key) { $0.write(value) } }
  func encode(_ value: UInt128, forKey key: Key) throws { try begin(key) { $0.write(value) } }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(JSONStreamObject<Nested>(stream: stream, level: nested(.object, key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    JSONStreamArray(stream: stream, level: nested(.array, key))
  }

  func superEncoder() -> any Encoder { JSONStreamEncoder(stream: stream, level: nested(.empty, AnyKey("super"))) }

  func superEncoder(forKey key: Key) -> any Encoder { JSONStreamEncoder(stream: stream, level: nested(.empty, key)) }

  /// Writes a key, and opens an array or object as the key's value.
  private func nested(_ shape: JSONLevel.Shape, _ key: some CodingKey) -> JSONLevel.ID {
    do {
      try stream.begin(key, in: level)
      _ = stream.append(key)
      let id = try stream.push(hasKey: true)
      if shape != .empty { try stream.open(shape) }
      return id
    } catch {
      return .none  // the stream has stored the reason in `stop`
    }
  }
}

/// The unkeyed container for an array that a stream is writing.
struct JSONStreamArray: UnkeyedEncodingContainer {
  let stream: JSONStream
  let level: JSONLevel.ID

  var codingPath: [any CodingKey] { stream.path(to: level) }

  var count: Int {
    if stream.isOpen(level) { return Int(stream.level(level).pointee.count) }
    _ = stream.halt(.needsJSONEncoder)
    return 0
  }

  func encodeNil() throws { try stream.add(to: level) { stream.bytes.write(word: "null") } }
  func encode(_ value: Bool) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: String) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: Double) throws { try stream.add(to: level) { try stream.write(value) } }
  func encode(_ value: Float) throws { try stream.add(to: level) { try stream.write(value) } }
  func encode(_ value: Int) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: Int8) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: Int16) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: Int32) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: Int64) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: Int128) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: UInt) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: UInt8) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: UInt16) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: UInt32) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: UInt64) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode(_ value: UInt128) throws { try stream.add(to: level) { stream.bytes.write(value) } }
  func encode<T: Encodable>(_ value: T) throws { try stream.add(value, to: level) }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(JSONStreamObject<Key>(stream: stream, level: nested(.object)))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONStreamArray(stream: stream, level: nested(.array))
  }

  /// Stops the stream, so that `JSONEncoder` encodes the value. A super encoder inserts its element into the array when
  /// the super encoder is released. A stream writes only at the end of the text, so it cannot insert an element later.
  func superEncoder() -> any Encoder {
    _ = stream.halt(.needsJSONEncoder)
    return JSONStreamEncoder(stream: stream, level: .none)
  }

  private func nested(_ shape: JSONLevel.Shape) -> JSONLevel.ID {
    do {
      try stream.enter(level)
      stream.beginElement(of: level)
      let id = try stream.push(hasKey: false)
      try stream.open(shape)
      return id
    } catch {
      return .none  // the stream has stored the reason in `stop`
    }
  }
}
