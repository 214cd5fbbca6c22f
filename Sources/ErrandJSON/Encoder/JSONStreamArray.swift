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
