import ErrandSupport
import Foundation

/// Encodes an `Encodable` value as arguments. `Data` and values that are ``ArgumentConvertible``, such as dates, are
/// kept as they are, so that the ``Formats`` of the request still apply to them.
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
    private enum Kind { case scalar, object, list }

    private var kind = Kind.scalar
    private var scalar = ArgumentValue.omitted
    private var members: [(name: String, slot: Slot)] = []
    /// The index of each name in `members`.
    private var places: [ByteText: Int] = [:]
    private var elements: [Slot] = []
    private var order: (any Unordered.Type)?

    var value: ArgumentValue {
      switch kind {
      case .scalar: return scalar
      case .list:
        let values = elements.map(\.value)
        return .array(order.map { sorted(values, by: $0.valuesPerMember) } ?? values)
      case .object:
        let members = order == nil ? members : members.sorted { $0.name.precedesByBytes($1.name) }
        return .object(
          Arguments(members: members.map { ($0.name, $0.slot.value) }, areCodingKeys: order?.namesAreData != true))
      }
    }

    /// The values in the order of the written text of their members. Each member has `count` values.
    private func sorted(_ values: [ArgumentValue], by count: Int) -> [ArgumentValue] {
      let members = stride(from: 0, to: values.count, by: count).map { values[$0..<min($0 + count, values.count)] }
      return members.map { (text: Self.text(of: .array(Array($0))), values: $0) }
        .sorted { $0.text.precedesByBytes($1.text) }.flatMap(\.values)
    }

    /// The text by which a member is sorted. A date is written as a number: its description has whole seconds, and the
    /// description of a date that is not finite may end the process. The description of data has only their length.
    private static func text(of value: ArgumentValue) -> String {
      switch value {
      case .date(let date): "date(\(date.timeIntervalSince1970))"
      case .data(let data): "data(\(data.base64EncodedString()))"
      case .array(let values): "[\(values.map { text(of: $0) }.joined(separator: ", "))]"
      case .object(let members):
        "[\(members.entries.map { "\(String(reflecting: $0.name)): \(text(of: $0.value))" }.joined(separator: ", "))]"
      default: "\(value)"
      }
    }

    func set(_ value: ArgumentValue) {
      kind = .scalar
      scalar = value
    }

    func beginMembers() {
      if kind == .object { return }
      kind = .object
      (members, places) = ([], [:])
    }

    func beginElements() {
      if kind == .list { return }
      kind = .list
      elements = []
    }

    /// The slot of a member. If the name already exists, its value is replaced.
    func member(_ name: String) -> Slot {
      beginMembers()
      let slot = Slot()
      if let place = places[ByteText(name)] {
        members[place].slot = slot
      } else {
        places[ByteText(name)] = members.count
        members.append((name, slot))
      }
      return slot
    }

    /// The slot of a new element at the end.
    func element() -> Slot {
      beginElements()
      let slot = Slot()
      elements.append(slot)
      return slot
    }

    var count: Int { kind == .list ? elements.count : 0 }

    func encode(_ value: some Encodable, at path: [any CodingKey]) throws {
      if let argument = value as? any ArgumentConvertible { return set(argument.argumentValue) }
      if let data = value as? Data { return set(.data(data)) }
      order = (value as? any Unordered).map { type(of: $0) }
      try value.encode(to: ArgumentEncoder(slot: self, codingPath: path))
    }
  }
}

/// A type whose members have no order of their own. They are sorted, so that equal values are sent as equal texts.
private protocol Unordered {
  /// The number of values of each member in a list. A dictionary whose keys are not texts is encoded as a list in which
  /// each key is followed by its value.
  static var valuesPerMember: Int { get }
  /// Whether the names of the members are data. Like `JSONEncoder`, JSON arguments do not convert them.
  static var namesAreData: Bool { get }
}
extension Dictionary: Unordered {
  fileprivate static var valuesPerMember: Int { 2 }
  fileprivate static var namesAreData: Bool { Key.self == String.self }
}
extension Set: Unordered {
  fileprivate static var valuesPerMember: Int { 1 }
  fileprivate static var namesAreData: Bool { false }
}

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

  // The protocols of containers have implementations for integers of 128 bits, which only throw an error. So each
  // container has its own.
  func encode(_ value: Int128, forKey key: Key) { slot.member(key.stringValue).set(ArgumentValue(whole: value)) }

  func encode(_ value: UInt128, forKey key: Key) { slot.member(key.stringValue).set(ArgumentValue(whole: value)) }

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

  func encode(_ value: Int128) { slot.element().set(ArgumentValue(whole: value)) }

  func encode(_ value: UInt128) { slot.element().set(ArgumentValue(whole: value)) }

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

  func encode(_ value: Int128) { slot.set(ArgumentValue(whole: value)) }

  func encode(_ value: UInt128) { slot.set(ArgumentValue(whole: value)) }
}
