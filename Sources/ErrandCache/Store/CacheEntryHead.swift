public import ErrandCore
import ErrandSupport

/// All that is known of a stored answer but its body.
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
    /// Read of the fields once, not at every look-up.
    var initialAge: Int64

    init(_ parts: Parts) {
      self.parts = parts
      initialAge = CacheAge.initial(
        of: parts.answer.fields, requested: parts.requestTime, received: parts.responseTime)
    }
  }

  /// Held once: a look-up hands it on many times.
  private var kept: Boxed<Kept>

  /// Makes a head of its parts.
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

  /// Which of the answers under one key it is: the digest of the fields that `Vary` names, as they were sent.
  public var variant: Digest {
    get { kept.value.parts.variant }
    set { change { $0.variant = newValue } }
  }

  /// The fields that `Vary` names, as they were sent.
  public var vary: [VaryingField] {
    get { kept.value.parts.vary }
    set { change { $0.vary = newValue } }
  }

  /// Status, reason, version and fields of the answer; fields of the connection left out (RFC 9111 section 3.1).
  public var answer: ResponseHead {
    get { kept.value.parts.answer }
    set { change { $0.answer = newValue } }
  }

  /// When the request was sent.
  public var requestTime: WallTime {
    get { kept.value.parts.requestTime }
    set { change { $0.requestTime = newValue } }
  }

  /// When the answer's head came.
  public var responseTime: WallTime {
    get { kept.value.parts.responseTime }
    set { change { $0.responseTime = newValue } }
  }

  /// The same on the monotonic clock of the process that received it; nil when read from a disk.
  public var received: MonotonicInstant? {
    get { kept.value.parts.received }
    set { change { $0.received = newValue } }
  }

  /// The policy that wrote it.
  public var policy: CachePolicy {
    get { kept.value.parts.policy }
    set { change { $0.policy = newValue } }
  }

  /// The version of the app that wrote it.
  public var appVersion: String {
    get { kept.value.parts.appVersion }
    set { change { $0.appVersion = newValue } }
  }

  /// Whether no byte of it may reach a disk.
  public var isMemoryOnly: Bool {
    get { kept.value.parts.isMemoryOnly }
    set { change { $0.isMemoryOnly = newValue } }
  }

  /// What people call it.
  public var label: CacheEntryLabel {
    get { kept.value.parts.label }
    set { change { $0.label = newValue } }
  }

  /// How old the answer was when it came, in milliseconds (RFC 9111 section 4.2.3).
  var initialAge: Int64 { kept.value.initialAge }

  private mutating func change(_ body: (inout Parts) -> Void) {
    var parts = kept.value.parts
    body(&parts)
    kept = Boxed(Kept(parts))
  }

  /// Whether both say the same.
  public static func == (left: CacheEntryHead, right: CacheEntryHead) -> Bool {
    left.kept.value.parts == right.kept.value.parts
  }
  /// Hashes all of it.
  public func hash(into hasher: inout Hasher) { hasher.combine(kept.value.parts) }
}

/// One field that `Vary` names, as the request had it.
public struct VaryingField: Sendable, Hashable {
  /// The name in lower case.
  public let name: String
  /// The normalised value, or its digest for credentials and cookies; nil where the request had no such field.
  public let value: String?

  /// Makes a field.
  public init(name: String, value: String?) {
    self.name = name
    self.value = value
  }

  /// Whether name and value have the same bytes.
  public static func == (left: VaryingField, right: VaryingField) -> Bool {
    left.name == right.name && left.value.hasSameBytes(as: right.value)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(value.map { ByteText($0) })
  }
}
