/// The encoder, and the container of one value, at a level of a stream.
struct JSONStreamEncoder: Encoder, SingleValueEncodingContainer {
  let stream: JSONStream
  let level: JSONLevel.Name

  var codingPath: [any CodingKey] { stream.path(to: level) }
  var userInfo: [CodingUserInfoKey: Any] { stream.rules.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(JSONStreamObject<Key>(stream: stream, level: opened(.object)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONStreamArray(stream: stream, level: opened(.array))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// The level as an array or object: a new one, or the one that it is already, as a class has it whose superclass
  /// writes to the same encoder.
  private func opened(_ shape: JSONLevel.Shape) -> JSONLevel.Name {
    guard stream.isOpen(level), level.depth >= stream.floor else {
      _ = stream.halt(.handOver)
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
        return .none  // the stream knows why
      }
    case .value where stream.endsWithGroup: _ = stream.halt(.handOver)
    default: _ = stream.halt(.misuse("two containers of different kinds, or a value and a container, were asked for"))
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
  /// Whether an array or object was the last that was written: `JSONEncoder` takes one up again where a container is
  /// asked for after it.
  fileprivate var endsWithGroup: Bool { bytes.endsWith("}") || bytes.endsWith("]") }
}
