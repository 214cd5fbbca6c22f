import ErrandHTTP

/// The list of values in the field `tracestate`, by which tracing systems pass on data of their own. The system that
/// changed its value last is first.
///
/// Source: W3C Trace Context Level 2, section 3.3.
public struct TraceState: Sendable, Hashable {
  /// One member of the list.
  public struct Member: Sendable, Hashable {
    /// The name of the tracing system.
    public let key: String
    /// The value, without spaces at its end.
    public let value: String
  }

  /// The largest number of members (section 3.3.1.3).
  public static let mostMembers = 32
  /// The longest text that is sent, in bytes. Longer lists are shortened (section 3.3.1.5).
  public static let mostBytes = 512

  /// The members in their order.
  public private(set) var members: [Member] = []

  /// Makes an empty list.
  public init() {}

  /// Reads the values of all fields `tracestate`, in their order. Empty members are ignored. Of members with the same
  /// key, the first is kept.
  ///
  /// - Returns: Nil if a member is invalid, or if there are more than ``mostMembers``.
  public init?(_ values: [String]) {
    var keys: Set<String> = []
    var count = 0
    for value in values {
      for text in value.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) {
        let text = ASCII.trimmed(text)
        if text.isEmpty { continue }
        count += 1
        guard count <= Self.mostMembers, let member = Self.member(Array(text)) else { return nil }
        if keys.insert(member.key).inserted { members.append(member) }
      }
    }
  }

  /// The value of a tracing system. A new value moves to the front, and nil removes the value. A key or a value that
  /// cannot be sent changes nothing. If the list is full, its last member is removed.
  public subscript(key: String) -> String? {
    get { members.first { $0.key == key }?.value }
    set {
      if let newValue, Self.member(Array("\(key)=\(newValue)".utf8)) != Member(key: key, value: newValue) { return }
      members.removeAll { $0.key == key }
      if let newValue { members.insert(Member(key: key, value: newValue), at: 0) }
      if members.count > Self.mostMembers { members.removeLast() }
    }
  }

  /// The value of the field; empty if there are no members. A text of more than ``mostBytes`` bytes is shortened by
  /// whole members: first those of more than 128 bytes, then from the end.
  public var text: String {
    var kept = members.map { "\($0.key)=\($0.value)" }
    var length = kept.reduce(kept.count - 1) { $0 + $1.utf8.count }
    func remove(_ place: Int) { length -= kept.remove(at: place).utf8.count + 1 }
    while length > Self.mostBytes, let place = kept.lastIndex(where: { $0.utf8.count > 128 }) { remove(place) }
    while length > Self.mostBytes, !kept.isEmpty { remove(kept.count - 1) }
    return kept.joined(separator: ",")
  }

  private static func member(_ bytes: [UInt8]) -> Member? {
    guard let equals = bytes.firstIndex(of: 0x3D) else { return nil }
    let (key, value) = (bytes[..<equals], bytes[(equals + 1)...])
    guard let first = key.first, key.count <= 256, isLetterOrDigit(first), key.allSatisfy(isKey),
      let last = value.last, value.count <= 256, last != 0x20, value.allSatisfy(isValue)
    else { return nil }
    return Member(key: String(decoding: key, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || ASCII.isDigit(byte) }

  private static func isKey(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "_-*/@".utf8.contains(byte) }

  private static func isValue(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) && byte != 0x2C && byte != 0x3D
  }
}
