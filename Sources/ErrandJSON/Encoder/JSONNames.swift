import ErrandSupport
import Foundation

/// Converts coding keys to the names of members by the key strategy of the encoder.
final class JSONNames {
  /// The maximum number of names of an object that a new name is compared with one by one. If the object has more
  /// names, a set of these names is used.
  static let few = 32
  /// The maximum number of converted names to cache.
  private static let most = 1_024

  private let encoder = JSONEncoder()
  private var converted: [ByteText: String] = [:]

  init(_ rules: JSONEncodingRules) { encoder.keyEncodingStrategy = rules.keys }

  /// The name of a key in `snake_case`, as Foundation's encoder writes it; nil if Foundation's encoder fails.
  func snakeCase(_ name: String) -> String? {
    let key = ByteText(name)
    if let known = converted[key] { return known }
    guard let found = Self.name(of: name, by: encoder) else { return nil }
    if converted.count < Self.most { converted[key] = found }
    return found
  }

  /// The name under which Foundation's encoder writes a key of the outermost object; nil if the encoder fails.
  static func name(of key: String, by encoder: JSONEncoder) -> String? {
    guard let text = try? encoder.encode(Probe(name: key)) else { return nil }
    return (try? JSONValue(parsing: text))?.objectValue?.keys.first
  }

  private struct Probe: Encodable {
    let name: String

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encodeNil(forKey: AnyKey(name))
    }
  }
}

extension JSONStream {
  /// The name under which a key is written to the object at the given level.
  @inline(__always) func name(of key: some CodingKey, in level: JSONLevel.ID) throws -> String {
    rules.keepsKeys ? key.stringValue : try convertedName(of: key, in: level)
  }

  private func convertedName(of key: some CodingKey, in level: JSONLevel.ID) throws -> String {
    switch rules.keys {
    case .useDefaultKeys: return key.stringValue
    case .convertToSnakeCase:
      guard let name = names.snakeCase(key.stringValue) else { throw halt(.needsJSONEncoder) }
      return name
    case .custom(let convert): return convert(path(to: level) + [key]).stringValue
    @unknown default: throw halt(.needsJSONEncoder)
    }
  }

  /// Writes the name of a member and a colon. If the object already has the name, the stream stops, and
  /// `JSONEncoder` encodes the value.
  @inline(__always) func begin(_ key: some CodingKey, in level: JSONLevel.ID) throws {
    // The name is requested first, because the key may run code of its type, and this code may open a level. The
    // pointer to the level is valid only until a new level opens.
    let name = try name(of: key, in: level)
    try enter(level)
    let place = self.level(level)
    let (hashBit, isASCII) = write(name, in: place)
    if place.pointee.keyHashBits & hashBit != 0 || !isASCII || place.pointee.count > JSONNames.few {
      if isKnown(in: level, isASCII: isASCII) { throw halt(.needsJSONEncoder) }
    }
    place.pointee.keyHashBits |= hashBit
  }

  /// Writes the name of a member and a colon. The caller guarantees that the object does not have the name yet.
  @inline(__always) func begin(unique name: String, in level: JSONLevel.ID) throws {
    try enter(level)
    _ = write(name, in: self.level(level))
  }

  @inline(__always) private func write(
    _ name: String, in level: UnsafeMutablePointer<JSONLevel>
  ) -> (hashBit: UInt64, isASCII: Bool) {
    if level.pointee.count > 0 { bytes.append(UInt8(ascii: ",")) }
    level.pointee.count &+= 1
    let start = bytes.count
    let isASCII = bytes.write(name)
    let member = JSONMember(start: start, keyEnd: bytes.count)
    bytes.append(UInt8(ascii: ":"))
    members.append(member)
    return (1 << bytes.sixBitHash(of: member.name), isASCII)
  }

  /// Whether an earlier member of the object has the same name as the last member. Canonically equivalent names are the
  /// same, as in a `Dictionary`.
  @inline(never) private func isKnown(in id: JSONLevel.ID, isASCII: Bool) -> Bool {
    let first = level(id).pointee.firstMember
    let last = members.last.pointee.name
    if members.count - first > JSONNames.few || nameSets[id.serial] != nil { return isInNameSet(id, from: first) }
    for index in first..<(members.count - 1) {
      let other = members.start[index].name
      if other.count == last.count, bytes.compare(other, last) == 0 { return true }
      if !isASCII, bytes.text(other) == bytes.text(last) { return true }
    }
    return false
  }

  /// Whether the object's set of names has the name of the last member. If not, adds the name to the set.
  private func isInNameSet(_ id: JSONLevel.ID, from first: Int) -> Bool {
    if nameSets[id.serial] == nil {
      let others = (first..<(members.count - 1)).map { bytes.text(members.start[$0].name) }
      nameSets[id.serial] = Set(others)
    }
    return !(nameSets[id.serial, default: []].insert(bytes.text(members.last.pointee.name)).inserted)
  }

  /// Sorts an object's members by the bytes of their names. Must be called before the closing bracket is written.
  @inline(never) func sort(_ object: JSONLevel) throws {
    let range = object.firstMember..<members.count
    var isSorted = true
    order.cut(to: 0)
    for index in range {
      let name = members.start[index].name
      // A name with an escape is sorted by the bytes of the escape. `JSONEncoder` may sort such a name differently.
      if rules.sortsAll, bytes.contains(UInt8(ascii: "\\"), in: name) { throw halt(.needsJSONEncoder) }
      let next = JSONOrder(head: bytes.head(of: name), index: index)
      if order.count > 0, precedes(next, order.last.pointee) { isSorted = false }
      order.append(next)
    }
    if isSorted { return }
    var sorted = UnsafeMutableBufferPointer(start: order.start, count: order.count)
    sorted.sort(by: precedes)
    bytes.arrange(
      from: members.start[range.lowerBound].start,
      sorted.lazy.map { [members, bytes] place in
        let end = place.index + 1 < range.upperBound ? members.start[place.index + 1].start - 1 : bytes.count
        return members.start[place.index].start..<end
      })
  }

  @inline(__always) private func precedes(_ left: JSONOrder, _ right: JSONOrder) -> Bool {
    left.head != right.head
      ? left.head < right.head : bytes.compare(members.start[left.index].name, members.start[right.index].name) < 0
  }
}

/// A member of an object that is sorted.
struct JSONOrder: BitwiseCopyable {
  /// The first bytes of the name; see `JSONBuffer.head(of:)`.
  let head: UInt64
  /// The index of the member in the list `JSONStream.members`.
  let index: Int
}

/// The position of a member's key in the text, including both quotation marks.
struct JSONMember: BitwiseCopyable {
  let start: Int
  let keyEnd: Int

  /// The key without its quotation marks.
  var name: Range<Int> { (start + 1)..<(keyEnd - 1) }
}
