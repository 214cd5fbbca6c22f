import Foundation

/// Converts coding keys to the names of members by the key strategy of the encoder.
final class JSONNames {
  /// The maximum number of names in an object for which a new name is compared with each earlier name. For larger
  /// objects, a set of the names is used.
  static let few = 32
  /// The maximum number of converted names to cache.
  private static let most = 1_024

  private let encoder = JSONEncoder()
  private var converted: [String: String] = [:]

  init(_ rules: JSONEncodingRules) { encoder.keyEncodingStrategy = rules.keys }

  /// The name of a key in `snake_case`, as Foundation's encoder writes it; nil if Foundation's encoder fails.
  func snakeCase(_ name: String) -> String? {
    if let known = converted[name] { return known }
    guard let text = try? encoder.encode(Probe(name: name)),
      let object = (try? JSONValue(parsing: text))?.objectValue, let found = object.keys.first
    else { return nil }
    if converted.count < Self.most { converted[name] = found }
    return found
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
  @inline(__always) func name(of key: some CodingKey, in level: JSONLevel.Name) throws -> String {
    rules.keepsKeys ? key.stringValue : try convertedName(of: key, in: level)
  }

  private func convertedName(of key: some CodingKey, in level: JSONLevel.Name) throws -> String {
    switch rules.keys {
    case .useDefaultKeys: return key.stringValue
    case .convertToSnakeCase:
      guard let name = names.snakeCase(key.stringValue) else { throw halt(.handOver) }
      return name
    case .custom(let convert): return convert(path(to: level) + [key]).stringValue
    @unknown default: throw halt(.handOver)
    }
  }

  /// Writes the name of a member and a colon. If the object already has the name, the stream stops, and
  /// `JSONEncoder` encodes the value.
  @inline(__always) func begin(_ key: some CodingKey, in level: JSONLevel.Name) throws {
    // Get the name first, because the key may run code of its type, and this code may open a level. The pointer below
    // is valid only until a new level opens.
    let name = try name(of: key, in: level)
    try enter(level)
    let place = self.level(level)
    let (sign, isASCII) = write(name, in: place)
    if place.pointee.signs & sign != 0 || !isASCII || place.pointee.count > JSONNames.few {
      if isKnown(in: level, isASCII: isASCII) { throw halt(.handOver) }
    }
    place.pointee.signs |= sign
  }

  /// Writes the name of a member and a colon. The caller guarantees that the object does not have the name yet.
  @inline(__always) func begin(unique name: String, in level: JSONLevel.Name) throws {
    try enter(level)
    _ = write(name, in: self.level(level))
  }

  @inline(__always) private func write(
    _ name: String, in level: UnsafeMutablePointer<JSONLevel>
  ) -> (sign: UInt64, isASCII: Bool) {
    if level.pointee.count > 0 { bytes.append(UInt8(ascii: ",")) }
    level.pointee.count &+= 1
    let start = bytes.count
    let isASCII = bytes.write(name)
    let member = JSONMember(start: start, keyEnd: bytes.count)
    bytes.append(UInt8(ascii: ":"))
    members.append(member)
    return (1 << bytes.sign(member.name), isASCII)
  }

  /// Whether the object already has the name of the last member. Canonically equivalent names are equal, as in a
  /// `Dictionary`.
  @inline(never) private func isKnown(in name: JSONLevel.Name, isASCII: Bool) -> Bool {
    let first = level(name).pointee.firstMember
    let last = members.last.pointee.name
    if members.count - first > JSONNames.few || crowds[name.id] != nil { return isInCrowd(name, from: first) }
    for index in first..<(members.count - 1) {
      let other = members.start[index].name
      if other.count == last.count, bytes.compare(other, last) == 0 { return true }
      if !isASCII, bytes.text(other) == bytes.text(last) { return true }
    }
    return false
  }

  private func isInCrowd(_ name: JSONLevel.Name, from first: Int) -> Bool {
    if crowds[name.id] == nil {
      let others = (first..<(members.count - 1)).map { bytes.text(members.start[$0].name) }
      crowds[name.id] = Set(others)
    }
    return !(crowds[name.id, default: []].insert(bytes.text(members.last.pointee.name)).inserted)
  }

  /// Sorts an object's members by the bytes of their names. It is called before the closing bracket is written.
  @inline(never) func sort(_ object: JSONLevel) throws {
    let first = object.firstMember
    let range = first..<members.count
    // A name with an escape is sorted by the bytes of the escape. `JSONEncoder` may sort it differently.
    if rules.sortsAll, range.contains(where: { bytes.contains(UInt8(ascii: "\\"), in: members.start[$0].name) }) {
      throw halt(.handOver)
    }
    var order = range.map { (head: bytes.head(of: members.start[$0].name), index: $0) }
    order.sort { left, right in
      left.head != right.head
        ? left.head < right.head
        : bytes.compare(members.start[left.index].name, members.start[right.index].name) < 0
    }
    guard zip(order, range).contains(where: { $0.index != $1 }) else { return }
    let parts = order.map { (_, index) in
      let end = index + 1 < range.upperBound ? members.start[index + 1].start - 1 : bytes.count
      return members.start[index].start..<end
    }
    bytes.arrange(from: members.start[first].start, parts)
  }
}

/// The position of a member's key in the text. The range includes the quotation marks.
struct JSONMember: BitwiseCopyable {
  let start: Int
  let keyEnd: Int

  var key: Range<Int> { start..<keyEnd }
  /// The key without its quotation marks.
  var name: Range<Int> { (start + 1)..<(keyEnd - 1) }
}
