import ErrandSupport

/// What is chosen for one call: it beats the request, its family and the client.
public struct CallOptions: Sendable {
  /// The time-outs of this call; nil parts are left to the request.
  public var timeouts: Timeouts
  /// The priority; nil for the request's.
  public var priority: CallPriority?
  /// Who the call belongs to: it is cancelled when the owner is freed. Held weakly.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }
  /// A name to cancel the call by, together with others.
  public var tag: String?
  /// What this call says about header fields.
  public var headers: RequestHeaders
  /// Accessories of this call, beside those of the client and the request.
  public var accessories: [any Accessory]
  /// Where the body goes instead of memory. Redirects and refused statuses do not reach it.
  public var bodySink: (any BodySink)?
  /// How the call uses the cache.
  public var cache: CacheReadMode
  /// How the call is tried again; nil for the request's policy.
  public var retries: RetryPolicy? {
    get { ownRetries?.value }
    set { ownRetries = newValue.map(Boxed.init) }
  }
  /// Whether the call may share an exchange with equal ones; ``JoinRule/inherited`` for the request's rule.
  public var joining: JoinRule
  /// Runs before the request's own hook: off the callback executor, in a task that a cancel reaches, and is awaited
  /// before anybody is told.
  public var beforeCompletion: (@Sendable (CallEnding) async -> Void)?
  /// Runs on the callback executor, before the request's own hook, the delegate and the closure.
  public var afterCompletion: (@Sendable (CallEnding) -> Void)?

  private(set) var ownership: CallOwner.Reference?
  private var ownRetries: Boxed<RetryPolicy>?
  /// Who has to be present when the call is frozen, since it is a part of what was begun for them; nil for anybody.
  package var requiredAccount: String?
  /// Told what is frozen, in place of the rest of the line; nil for every call.
  var probe: FrozenProbe?
  /// Whether the probe is told at the end of the line, with all that is added below the freeze.
  var probesEnd = false

  /// Makes options.
  public init(
    timeouts: Timeouts = Timeouts(), priority: CallPriority? = nil, owner: CallOwner? = nil, tag: String? = nil,
    headers: RequestHeaders = RequestHeaders(), accessories: [any Accessory] = [], bodySink: (any BodySink)? = nil,
    cache: CacheReadMode = .asDeclared, retries: RetryPolicy? = nil, joining: JoinRule = .inherited,
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
    ownRetries = retries.map(Boxed.init)
    self.beforeCompletion = beforeCompletion
    self.afterCompletion = afterCompletion
  }

  /// These options, `other` filling what they do not say.
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

  /// Whether nothing is chosen.
  private var saysNothing: Bool {
    timeouts == Timeouts() && priority == nil && ownership == nil && tag == nil && headers.isEmpty
      && accessories.isEmpty && bodySink == nil && cache == .asDeclared && ownRetries == nil
      && joining == .inherited && beforeCompletion == nil && afterCompletion == nil && requiredAccount == nil
  }

  /// A call that ends at the latest after a time.
  public static func deadline(_ limit: TimeLimit) -> CallOptions { CallOptions(timeouts: Timeouts(total: limit)) }
  /// A call that uses the cache in a way of its own.
  public static func cache(_ mode: CacheReadMode) -> CallOptions { CallOptions(cache: mode) }
  /// A call with a tag.
  public static func tag(_ tag: String) -> CallOptions { CallOptions(tag: tag) }
  /// A call with an owner.
  public static func owner(_ owner: CallOwner) -> CallOptions { CallOptions(owner: owner) }
}
