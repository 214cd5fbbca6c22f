public import ErrandCore
import ErrandSupport

/// The head of a stored response: its status, its fields and the data that the cache needs. The head contains
/// everything except the body.
public struct CacheEntryHead: Sendable, Hashable {
  private struct Parts: Sendable, Hashable {
    var variant: Digest
    var vary: [VaryingField]
    var answer: ResponseHead
    var requestTime: WallTime
    var responseTime: WallTime
    var received: MonotonicInstant?
    var policy: CachePolicy
    var appVersion: String
    var isMemoryOnly: Bool
    var label: CacheEntryLabel
  }

  private struct Kept: Sendable {
    var parts: Parts
    /// The age of the response when it arrived, in milliseconds. It is computed once from the header fields, because
    /// every lookup needs it.
    var initialAge: Int64

    init(_ parts: Parts) {
      self.parts = parts
      initialAge = CacheAge.initial(
        of: parts.answer.fields, requested: parts.requestTime, received: parts.responseTime)
    }
  }

  /// The properties are in a box (a reference to a shared value), because a lookup copies the head many times.
  private var kept: Boxed<Kept>

  /// Makes a head from its properties.
  public init(
    variant: Digest, vary: [VaryingField] = [], answer: ResponseHead, requestTime: WallTime, responseTime: WallTime,
    received: MonotonicInstant? = nil, policy: CachePolicy, appVersion: String = "", isMemoryOnly: Bool = false,
    label: CacheEntryLabel
  ) {
    kept = Boxed(
      Kept(
        Parts(
          variant: variant, vary: vary, answer: answer, requestTime: requestTime, responseTime: responseTime,
          received: received, policy: policy, appVersion: appVersion, isMemoryOnly: isMemoryOnly, label: label)))
  }

  /// The digest that identifies the response among all responses under one key. It is computed from the request fields
  /// that `Vary` names.
  public var variant: Digest { kept.value.parts.variant }

  /// The request fields that `Vary` names, with the values that were sent.
  public var vary: [VaryingField] {
    get { kept.value.parts.vary }
    set { change { $0.vary = newValue } }
  }

  /// Status, reason phrase, version and header fields of the response. Fields that apply to a single connection are
  /// left out (RFC 9111 section 3.1).
  public var answer: ResponseHead {
    get { kept.value.parts.answer }
    set { change { $0.answer = newValue } }
  }

  /// The time at which the request was sent.
  public var requestTime: WallTime {
    get { kept.value.parts.requestTime }
    set { change { $0.requestTime = newValue } }
  }

  /// The time at which the response headers arrived.
  public var responseTime: WallTime {
    get { kept.value.parts.responseTime }
    set { change { $0.responseTime = newValue } }
  }

  /// The time at which the response headers arrived, on the monotonic clock of the process that received them. Nil if
  /// the entry was read from a disk, because the clock of another process cannot be compared.
  public var received: MonotonicInstant? {
    get { kept.value.parts.received }
    set { change { $0.received = newValue } }
  }

  /// The policy of the request that stored the response.
  public var policy: CachePolicy {
    get { kept.value.parts.policy }
    set { change { $0.policy = newValue } }
  }

  /// The version of the app that stored the response.
  public var appVersion: String { kept.value.parts.appVersion }

  /// True if no byte of the entry may be written to a disk.
  public var isMemoryOnly: Bool {
    get { kept.value.parts.isMemoryOnly }
    set { change { $0.isMemoryOnly = newValue } }
  }

  /// A readable description of the entry, for lists and for removals by host or tag.
  public var label: CacheEntryLabel { kept.value.parts.label }

  /// The age of the response when it arrived, in milliseconds (RFC 9111 section 4.2.3).
  var initialAge: Int64 { kept.value.initialAge }

  private mutating func change(_ body: (inout Parts) -> Void) {
    var parts = kept.value.parts
    body(&parts)
    kept = Boxed(Kept(parts))
  }

  /// Whether both heads have equal properties.
  public static func == (left: CacheEntryHead, right: CacheEntryHead) -> Bool {
    left.kept.value.parts == right.kept.value.parts
  }
  /// Hashes all properties.
  public func hash(into hasher: inout Hasher) { hasher.combine(kept.value.parts) }
}

/// One field that `Vary` names, with its value in the request.
public struct VaryingField: Sendable, Hashable {
  /// The name in lower case.
  public let name: String
  /// The normalised value, or the digest of a secret value such as a credential. Nil if the request did not have the
  /// field.
  public let value: String?

  /// Makes a field from its name in lower case and its normalised value.
  public init(name: String, value: String?) {
    self.name = name
    self.value = value
  }

  /// Whether name and value have the same bytes.
  public static func == (left: VaryingField, right: VaryingField) -> Bool {
    left.name == right.name && left.value.hasSameBytes(as: right.value)
  }

  /// Hashes the bytes of name and value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(value.map { ByteText($0) })
  }
}
