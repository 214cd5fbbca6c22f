import Foundation

/// Encodes an `Encodable` value as arguments. Values that are ``ArgumentConvertible``, such as dates, are kept as they
/// are, so that the ``ArgumentStyle`` of the request still applies to them.
struct ArgumentEncoder: Encoder {
  fileprivate let slot: Slot
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The error of a value that is not an object, such as a number.
  private struct NotAnObject: Error, CustomStringConvertible {
    let description = "arguments have names, so a type with properties or a dictionary is needed"
  }

  /// Encodes a value, which must be an object.
  static func arguments(_ value: some Encodable) throws -> Arguments {
    let slot = Slot()
    try slot.encode(value, at: [])
    guard case .object(let arguments) = slot.value else { throw NotAnObject() }
    return arguments
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(ArgumentMembers(slot: slot, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { ArgumentElements(slot: slot, codingPath: codingPath) }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    ArgumentScalar(slot: slot, codingPath: codingPath)
  }

  /// One value that is being encoded. Containers share it, because a type may use several containers in any order. Only
  /// one encoding on one thread uses it.
  fileprivate final class Slot {
    private enum Content {
      case scalar(ArgumentValue)
      case members([(name: String, slot: Slot)])
      case elements([Slot])
    }

    private var content = Content.scalar(.omitted)
    private var isSorted = false

    var value: ArgumentValue {
      switch content {
      case .scalar(let value): return value
      case .elements(let slots): return .array(slots.map(\.value))
      case .members(let members):
        let members = isSorted ? members.sorted { $0.name < $1.name } : members
        return .object(Arguments(members.map { ($0.name, $0.slot.value) }))
      }
    }

    func set(_ value: ArgumentValue) { content = .scalar(value) }

    func beginMembers() { if case .members = content {} else { content = .members([]) } }

    func beginElements() { if case .elements = content {} else { content = .elements([]) } }

    /// The slot of a member. If the name already exists, its value is replaced.
    func member(_ name: String) -> Slot {
      beginMembers()
      guard case .members(var members) = content else { return Slot() }
      let slot = Slot()
      members.removeAll { $0.name == name }
      members.append((name, slot))
      content = .members(members)
      return slot
    }

    /// The slot of a new element at the end.
    func element() -> Slot {
      beginElements()
      guard case .elements(var slots) = content else { return Slot() }
      let slot = Slot()
      slots.append(slot)
      content = .elements(slots)
      return slot
    }

    var count: Int { if case .elements(let slots) = content { slots.count } else { 0 } }

    func encode(_ value: some Encodable, at path: [any CodingKey]) throws {
      if let argument = value as? any ArgumentConvertible { return set(argument.argumentValue) }
      if let data = value as? Data { return set(.string(data.base64EncodedString())) }
      // The members of a dictionary have no order of their own. They are sorted, so that equal values are sent as equal
      // texts.
      isSorted = value is any Unordered
      try value.encode(to: ArgumentEncoder(slot: self, codingPath: path))
    }
  }
}

/// A type whose members have no order.
private protocol Unordered {}
extension Dictionary: Unordered {}

private struct ArgumentMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: ArgumentEncoder.Slot
  let codingPath: [any CodingKey]

  init(slot: ArgumentEncoder.Slot, codingPath: [any CodingKey]) {
    self.slot = slot
    self.codingPath = codingPath
    slot.beginMembers()
  }

  func encodeNil(forKey key: Key) { slot.member(key.stringValue).set(.null) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try slot.member(key.stringValue).encode(value, at: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(for: key).unkeyedContainer() }

  func superEncoder() -> any Encoder { ArgumentEncoder(slot: slot.member("super"), codingPath: codingPath) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

  private func encoder(for key: Key) -> ArgumentEncoder {
    ArgumentEncoder(slot: slot.member(key.stringValue), codingPath: codingPath + [key])
  }
}

private struct ArgumentElements: UnkeyedEncodingContainer {
  let slot: ArgumentEncoder.Slot
  let codingPath: [any CodingKey]
  var count: Int { slot.count }

  init(slot: ArgumentEncoder.Slot, codingPath: [any CodingKey]) {
    self.slot = slot
    self.codingPath = codingPath
    slot.beginElements()
  }

  func encodeNil() { slot.element().set(.null) }

  func encode<T: Encodable>(_ value: T) throws { try slot.element().encode(value, at: codingPath) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder.container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder }

  private var encoder: ArgumentEncoder { ArgumentEncoder(slot: slot.element(), codingPath: codingPath) }
}

private struct ArgumentScalar: SingleValueEncodingContainer {
  let slot: ArgumentEncoder.Slot
  let codingPath: [any CodingKey]

  func encodeNil() { slot.set(.null) }

  func encode<T: Encodable>(_ value: T) throws { try slot.encode(value, at: codingPath) }
}
