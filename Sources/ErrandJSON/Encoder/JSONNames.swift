import Foundation

/// The names of members, as the key strategy has them.
final class JSONNames {
  /// Up to so many names in an object, each new one is compared with those that look like it.
  static let few = 32
  /// So many converted names are remembered.
  private static let most = 1_024

  private let encoder = JSONEncoder()
  private var converted: [String: String] = [:]

  init(_ rules: JSONEncodingRules) { encoder.keyEncodingStrategy = rules.keys }

  /// The name of a key in `snake_case`, found by letting Foundation write it.
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
  /// The name of a key below a level.
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

  /// Begins a member: its name, which is compared with those before it, and the colon.
  @inline(__always) func begin(_ key: some CodingKey, in level: JSONLevel.Name) throws {
    // First, as it is foreign code: the place is good until the next level is opened.
    let name = try name(of: key, in: level)
    try enter(level)
    let place = self.level(level)
    let (sign, isASCII) = write(name, in: place)
    if place.pointee.signs & sign != 0 || !isASCII || place.pointee.count > JSONNames.few {
      if isKnown(in: level, isASCII: isASCII) { throw halt(.handOver) }
    }
    place.pointee.signs |= sign
  }

  /// Begins a member whose name no other one can have.
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

  /// Whether the last member's name stands in its object already. As with a `Dictionary`, names are the same that look
  /// the same, however their accents are written.
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

  /// Brings an object's members into the order of their names, by bytes, before its last bracket is written.
  @inline(never) func sort(_ object: JSONLevel) throws {
    let first = object.firstMember
    let range = first..<members.count
    // An escape stands for another byte, so that JSONEncoder's order may be another one.
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

/// Where the key of a member stands in the text, its quotes included.
struct JSONMember: BitwiseCopyable {
  let start: Int
  let keyEnd: Int

  var key: Range<Int> { start..<keyEnd }
  /// The key without its quotes.
  var name: Range<Int> { (start + 1)..<(keyEnd - 1) }
}
