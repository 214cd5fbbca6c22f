public import ErrandCore
public import Foundation

/// One stored answer: its head and its body, always written and read as a unit.
public struct CacheEntry: Sendable {
  /// Which answers it belongs to.
  public let key: CacheKey
  /// All but the body.
  public var head: CacheEntryHead
  /// The body, its content coding undone.
  public var body: Data
  /// What was decoded from it before; only in memory.
  package var decoded: DecodedValues?

  /// Makes an entry of its parts.
  public init(key: CacheKey, head: CacheEntryHead, body: Data) {
    self.key = key
    self.head = head
    self.body = body
  }
}

/// All that is known of a stored answer but its body.
public struct CacheEntryHead: Sendable, Hashable {
  /// Which of the answers under one key it is: the digest of the fields that `Vary` names, as they were sent.
  public var variant: Digest
  /// The fields that `Vary` names, as they were sent.
  public var vary: [VaryingField]
  /// Status, reason, version and fields of the answer; fields of the connection left out (RFC 9111 section 3.1).
  public var answer: ResponseHead
  /// When the request was sent, and when the answer's head came.
  public var requestTime: WallTime
  /// When the answer's head came.
  public var responseTime: WallTime
  /// The same on the monotonic clock of the process that received it; nil when read from a disk.
  public var received: MonotonicInstant?
  /// The policy that wrote it.
  public var policy: CachePolicy
  /// The version of the app that wrote it.
  public var appVersion: String
  /// Whether no byte of it may reach a disk.
  public var isMemoryOnly: Bool
  /// What people call it.
  public var label: CacheEntryLabel

  /// Makes a head of its parts.
  public init(
    variant: Digest, vary: [VaryingField] = [], answer: ResponseHead, requestTime: WallTime, responseTime: WallTime,
    received: MonotonicInstant? = nil, policy: CachePolicy, appVersion: String = "", isMemoryOnly: Bool = false,
    label: CacheEntryLabel
  ) {
    self.variant = variant
    self.vary = vary
    self.answer = answer
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.received = received
    self.policy = policy
    self.appVersion = appVersion
    self.isMemoryOnly = isMemoryOnly
    self.label = label
  }
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
}

/// What people call an entry: for lists and for removing by host or tag.
public struct CacheEntryLabel: Sendable, Hashable {
  /// The method.
  public let method: String
  /// The URL, the values of its query masked.
  public let url: String
  /// The host in lower case.
  public let host: String
  /// The tag of the call that stored it.
  public let tag: String?

  /// Makes a label.
  public init(method: String, url: String, host: String, tag: String?) {
    self.method = method
    self.url = url
    self.host = host
    self.tag = tag
  }
}
