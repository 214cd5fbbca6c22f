import ErrandSupport

/// The options of one call. They override the settings of the request, its family and the client.
public struct CallOptions: Sendable {
  /// The time-outs of this call. A time-out that is nil is taken from the request.
  public var timeouts: Timeouts
  /// The priority of this call; nil for the priority of the request.
  public var priority: CallPriority?
  /// The owner of the call: the call is cancelled when the owner is deallocated. The reference is weak.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }
  /// A name by which several calls can be cancelled together.
  public var tag: String?
  /// Header fields to set or to remove.
  public var headers: RequestHeaders
  /// Accessories of this call, in addition to those of the client and the request.
  public var accessories: [any Accessory]
  /// The sink that receives the response body; nil to keep the body in memory. Bodies of redirects and of rejected
  /// statuses are not passed to the sink.
  public var bodySink: (any BodySink)?
  /// The cache mode of the call.
  public var cache: CacheReadMode
  /// The rule for retries.
  public var retries: RetryPolicy {
    get { ownRetries?.value ?? .inherited }
    set { ownRetries = newValue.isInherited ? nil : Boxed(newValue) }
  }
  /// Decides whether the call may share an exchange with equal calls; ``JoinRule/inherited`` for the request's rule.
  public var joining: JoinRule
  /// A hook that runs before the request's own hooks. It does not run on the callback executor, but in a task that is
  /// cancelled when the call is cancelled. The call waits for the hook before it calls the delegate and the closure.
  public var beforeCompletion: (@Sendable (CallEnding) async -> Void)?
  /// A hook that runs on the callback executor, before the request's own hook, the delegate and the closure.
  public var afterCompletion: (@Sendable (CallEnding) -> Void)?

  private(set) var ownership: CallOwner.Reference?
  /// The rule for retries of this call; nil for the rule of the request. It is boxed so that options without a rule
  /// stay small.
  private var ownRetries: Boxed<RetryPolicy>?
  /// The account that must be logged in when the call's request becomes final, because the call is part of a larger
  /// operation for this account; nil if any account is accepted.
  package var requiredAccount: String?

  /// Makes options.
  public init(
    timeouts: Timeouts = Timeouts(), priority: CallPriority? = nil, owner: CallOwner? = nil, tag: String? = nil,
    headers: RequestHeaders = RequestHeaders(), accessories: [any Accessory] = [], bodySink: (any BodySink)? = nil,
    cache: CacheReadMode = .asDeclared, retries: RetryPolicy = .inherited, joining: JoinRule = .inherited,
    beforeCompletion: (@Sendable (CallEnding) async -> Void)? = nil,
    afterCompletion: (@Sendable (CallEnding) -> Void)? = nil
  ) {
    self.timeouts = timeouts
    self.priority = priority
    ownership = owner.map(CallOwner.Reference.init)
    self.tag = tag
    self.headers = headers
    self.accessories = accessories
    self.bodySink = bodySink
    self.cache = cache
    self.joining = joining
    self.retries = retries
    self.beforeCompletion = beforeCompletion
    self.afterCompletion = afterCompletion
  }

  /// Returns these options; options that are not set are taken from `other`.
  func filled(by other: CallOptions, ownership: CallOwner.Reference?, tag: String?) -> CallOptions {
    if other.saysNothing, ownership == nil, tag == nil { return self }
    var options = self
    options.timeouts = timeouts.filled(by: other.timeouts)
    options.priority = priority ?? other.priority
    options.ownership = self.ownership ?? other.ownership ?? ownership
    options.tag = self.tag ?? other.tag ?? tag
    options.headers = headers.filled(by: other.headers)
    options.accessories = accessories + other.accessories
    options.bodySink = bodySink ?? other.bodySink
    options.cache = cache == .asDeclared ? other.cache : cache
    options.ownRetries = ownRetries ?? other.ownRetries
    options.joining = joining.filled(by: other.joining)
    options.requiredAccount = requiredAccount ?? other.requiredAccount
    options.beforeCompletion = beforeCompletion ?? other.beforeCompletion
    options.afterCompletion = afterCompletion ?? other.afterCompletion
    return options
  }

  /// True if no option is set.
  private var saysNothing: Bool {
    timeouts == Timeouts() && priority == nil && ownership == nil && tag == nil && headers.isEmpty
      && accessories.isEmpty && bodySink == nil && cache == .asDeclared && ownRetries == nil
      && joining == .inherited && beforeCompletion == nil && afterCompletion == nil && requiredAccount == nil
  }

  /// Options with a time limit for the whole call.
  public static func deadline(_ limit: TimeLimit) -> CallOptions { CallOptions(timeouts: Timeouts(total: limit)) }
  /// Options with a cache mode.
  public static func cache(_ mode: CacheReadMode) -> CallOptions { CallOptions(cache: mode) }
  /// Options with a tag.
  public static func tag(_ tag: String) -> CallOptions { CallOptions(tag: tag) }
  /// Options with an owner.
  public static func owner(_ owner: CallOwner) -> CallOptions { CallOptions(owner: owner) }
}
