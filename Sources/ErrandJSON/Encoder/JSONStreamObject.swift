/// The keyed container for an object that a stream is writing.
struct JSONStreamObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let stream: JSONStream
  let level: JSONLevel.ID

  var codingPath: [any CodingKey] { stream.path(to: level) }

  func encodeNil(forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(word: "null")
  }

  func encode(_ value: Double, forKey key: Key) throws { try stream.put(key, in: level) { try stream.write(value) } }
  func encode(_ value: Float, forKey key: Key) throws { try stream.put(key, in: level) { try stream.write(value) } }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try stream.put(value, for: key, in: level) }

  func encode(_ value: Bool, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: String, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: Int, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: Int8, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: Int16, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: Int32, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: Int64, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: Int128, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: UInt, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: UInt8, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: UInt16, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: UInt32, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: UInt64, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    try stream.begin(key, in: level)
    stream.bytes.write(value)
  }

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
