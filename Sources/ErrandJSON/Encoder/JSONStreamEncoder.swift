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
