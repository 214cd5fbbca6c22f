import ErrandHTTP

/// The identity of one span in a distributed trace, as W3C Trace Context sends it in the header fields `traceparent` and
/// `tracestate`.
///
/// A client with ``Telemetry`` makes each attempt of a call a child of the current context. A server that handles a
/// request sets the current context from the fields of that request:
///
/// ```swift
/// let context = TraceContext(traceparent: fields["traceparent"], tracestate: fields.values(of: "tracestate"))
/// try await TraceContext.$current.withValue(context) { try await handle(request) }
/// ```
///
/// Source: W3C Trace Context Level 2.
public struct TraceContext: Sendable, Hashable {
  /// The context of the current task: the parent of all calls that the task starts. Nil if no trace has begun.
  @TaskLocal public static var current: TraceContext?

  /// The identity of the whole trace.
  public var traceID: TraceID
  /// The identity of the span. In a received `traceparent`, it is the span of the sender.
  public var spanID: SpanID
  /// The flags of the trace.
  public var flags: Flags
  /// The values of tracing systems, for the field `tracestate`.
  public var state: TraceState

  /// The flags of a trace (section 3.2.2.5).
  public struct Flags: OptionSet, Sendable, Hashable {
    /// The flags as bits.
    public let rawValue: UInt8
    /// Makes flags from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The sender may have recorded the trace.
    public static let sampled = Flags(rawValue: 0x01)
    /// At least the 7 rightmost bytes of the trace's identity are random.
    public static let random = Flags(rawValue: 0x02)
  }

  /// Makes a context from its parts.
  public init(traceID: TraceID, spanID: SpanID, flags: Flags = [], state: TraceState = TraceState()) {
    (self.traceID, self.spanID, self.flags, self.state) = (traceID, spanID, flags, state)
  }

  /// Makes the context of a new trace, with random identities.
  ///
  /// - Parameter isSampled: Whether the trace is recorded.
  public static func root(isSampled: Bool = true) -> TraceContext {
    TraceContext(traceID: .random(), spanID: .random(), flags: isSampled ? [.sampled, .random] : .random)
  }

  /// Reads the values of the fields `traceparent` and `tracestate`. Spaces and tabs around the value are ignored.
  ///
  /// A higher version than 00 is read as version 00; its unknown flags are dropped. A `tracestate` that is invalid is
  /// dropped, without an effect on the rest.
  ///
  /// - Parameters:
  ///   - traceparent: The value of the only field `traceparent`. A request with several such fields has no context.
  ///   - tracestate: The values of all fields `tracestate`, in their order.
  /// - Returns: Nil if `traceparent` is nil or invalid.
  public init?(traceparent: String?, tracestate: [String] = []) {
    guard let traceparent else { return nil }
    let bytes = Array(ASCII.trimmed(Substring(traceparent).utf8))
    guard bytes.count >= 55, bytes[2] == 0x2D, bytes[35] == 0x2D, bytes[52] == 0x2D,
      let version = Hex.number(bytes[0..<2]), version != 0xFF,
      bytes.count == 55 || (version > 0 && bytes[55] == 0x2D),
      let traceID = TraceID(bytes[3..<35]), let spanID = SpanID(bytes[36..<52]), let flags = Hex.number(bytes[53..<55])
    else { return nil }
    (self.traceID, self.spanID) = (traceID, spanID)
    self.flags = Flags(rawValue: UInt8(truncatingIfNeeded: flags)).intersection([.sampled, .random])
    state = TraceState(tracestate) ?? TraceState()
  }

  /// The value of the field `traceparent`, in version 00.
  public var traceparent: String { "00-\(traceID)-\(spanID)-\(Hex.text(UInt64(flags.rawValue), digits: 2))" }

  /// Whether the trace is recorded.
  public var isSampled: Bool { flags.contains(.sampled) }

  /// A context in the same trace with a new random span.
  public func child(isSampled: Bool) -> TraceContext {
    var child = self
    child.spanID = .random()
    if isSampled { child.flags.insert(.sampled) } else { child.flags.remove(.sampled) }
    return child
  }
}

/// The identity of a trace: 16 bytes, not all zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  /// The first 8 bytes.
  public let high: UInt64
  /// The last 8 bytes.
  public let low: UInt64

  /// Makes an identity from its bytes; nil if all are zero.
  public init?(high: UInt64, low: UInt64) {
    guard high | low != 0 else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// Reads 32 lower-case hexadecimal digits; nil if the text is anything else or all digits are zero.
  public init?(_ text: String) { self.init(Array(text.utf8)[...]) }

  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == 32, let high = Hex.number(bytes.prefix(16)), let low = Hex.number(bytes.suffix(16)) else {
      return nil
    }
    self.init(high: high, low: low)
  }

  private init(random low: UInt64) { (high, self.low) = (.random(in: .min ... .max), low) }

  /// A new random identity.
  public static func random() -> TraceID { TraceID(random: .random(in: 1 ... .max)) }

  /// The 32 lower-case hexadecimal digits.
  public var description: String { Hex.text(high, digits: 16) + Hex.text(low, digits: 16) }
}

/// The identity of a span: 8 bytes, not all zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  /// The bytes as a number.
  public let value: UInt64

  /// Makes an identity from its bytes; nil if all are zero.
  public init?(_ value: UInt64) {
    guard value != 0 else { return nil }
    self.value = value
  }

  /// Reads 16 lower-case hexadecimal digits; nil if the text is anything else or all digits are zero.
  public init?(_ text: String) { self.init(Array(text.utf8)[...]) }

  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == 16, let value = Hex.number(bytes) else { return nil }
    self.init(value)
  }

  private init(random value: UInt64) { self.value = value }

  /// A new random identity.
  public static func random() -> SpanID { SpanID(random: .random(in: 1 ... .max)) }

  /// The 16 lower-case hexadecimal digits.
  public var description: String { Hex.text(value, digits: 16) }
}

/// Lower-case hexadecimal numbers: the only form that W3C Trace Context allows.
enum Hex {
  /// The number of at most 16 digits; nil if a byte is not a lower-case digit.
  static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      guard let value = ASCII.hexValue(digit), ASCII.lowercased(digit) == digit else { return nil }
      number = number << 4 | UInt64(value)
    }
    return number
  }

  /// The number with leading zeros.
  static func text(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
  }
}

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
