import ErrandHTTP

/// Values of the app that accompany a request through all services, in the header field `baggage`.
///
/// ```swift
/// try await Baggage.$current.withValue(["tenant": "blue"]) { try await client.send(GetNotes()) }
/// ```
///
/// Every server that receives the field can read the values, and may pass them on; see
/// ``Telemetry/sharesBaggageWith``. Source: W3C Baggage.
public struct Baggage: Sendable, Hashable {
  /// The baggage of the current task, which all calls that the task starts send. Nil for none.
  @TaskLocal public static var current: Baggage?

  /// One entry of the baggage.
  public struct Entry: Sendable, Hashable {
    /// The name: a token (RFC 9110 section 5.6.2).
    public var key: String
    /// The decoded value.
    public var value: String
    /// Metadata of the entry. They have no meaning in the specification.
    public var properties: [Property]

    /// Makes an entry.
    public init(key: String, value: String, properties: [Property] = []) {
      (self.key, self.value, self.properties) = (key, value, properties)
    }
  }

  /// Metadata of an ``Entry``.
  public struct Property: Sendable, Hashable {
    /// The name: a token.
    public var key: String
    /// The decoded value; nil for a property that is only a name.
    public var value: String?

    /// Makes a property.
    public init(key: String, value: String? = nil) { (self.key, self.value) = (key, value) }
  }

  /// The largest number of entries that are sent.
  public static let mostEntries = 64
  /// The longest text that is sent, in bytes.
  public static let mostBytes = 8_192

  /// The entries in their order. A key may occur several times.
  public var entries: [Entry]

  /// Makes baggage from entries.
  public init(_ entries: [Entry] = []) { self.entries = entries }

  /// Reads the values of all fields `baggage`, in their order. Members that are invalid are left out.
  public init(fields values: [String]) {
    entries = values.flatMap { value in
      value.utf8.split(separator: 0x2C).compactMap { Self.entry(ASCII.trimmed($0)) }
    }
  }

  /// The value of the first entry with a key. Setting a value replaces all entries of the key, and nil removes them.
  public subscript(key: String) -> String? {
    get { entries.first { $0.key == key }?.value }
    set {
      let place = entries.firstIndex { $0.key == key } ?? entries.count
      entries.removeAll { $0.key == key }
      if let newValue { entries.insert(Entry(key: key, value: newValue), at: min(place, entries.count)) }
    }
  }

  /// The value of the field. Entries whose key is no token are left out, and so are entries after ``mostEntries`` or
  /// beyond ``mostBytes``.
  public var text: String {
    var text = ""
    var count = 0
    for entry in entries where ASCII.isToken(entry.key) {
      let member = Self.text(of: entry)
      let separator = text.isEmpty ? "" : ","
      guard text.utf8.count + separator.utf8.count + member.utf8.count <= Self.mostBytes else { continue }
      text += separator + member
      count += 1
      if count == Self.mostEntries { break }
    }
    return text
  }

  // MARK: - Members

  private static func entry(_ member: Substring.UTF8View) -> Entry? {
    let parts = member.split(separator: 0x3B, omittingEmptySubsequences: false)
    guard let pair = parts.first.flatMap(pair), let value = pair.value else { return nil }
    var properties: [Property] = []
    for part in parts.dropFirst() {
      guard let property = Self.pair(part) else { return nil }
      properties.append(property)
    }
    return Entry(key: pair.key, value: value, properties: properties)
  }

  private static func pair(_ text: Substring.UTF8View) -> Property? {
    let equals = text.firstIndex(of: 0x3D)
    let key = String(Substring(ASCII.trimmed(text[..<(equals ?? text.endIndex)])))
    guard ASCII.isToken(key) else { return nil }
    guard let equals else { return Property(key: key) }
    let value = ASCII.trimmed(text[text.index(after: equals)...])
    guard value.allSatisfy(isValue) else { return nil }
    // The W3C requires that bytes that are not UTF-8 become U+FFFD.
    let decoded = PercentEncoding.decodedLeniently(value, plusIsSpace: false)
    return Property(key: key, value: String(decoding: decoded, as: UTF8.self))
  }

  private static func text(of entry: Entry) -> String {
    let properties = entry.properties.filter { ASCII.isToken($0.key) }.map { property in
      ";\(property.key)" + (property.value.map { "=\(encoded($0))" } ?? "")
    }
    return "\(entry.key)=\(encoded(entry.value))" + properties.joined()
  }

  private static func encoded(_ value: String) -> String {
    var result: [UInt8] = []
    for byte in value.utf8 {
      if isValue(byte), byte != 0x25 {
        result.append(byte)
      } else {
        result += ASCII.percentEncoded(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether a byte is a `baggage-octet`.
  private static func isValue(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
    default: false
    }
  }
}

extension Baggage: ExpressibleByDictionaryLiteral {
  /// Makes baggage from a literal, in its order.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Entry(key: $0, value: $1) })
  }
}
