/// The options of one call. They override the settings of the request, of its ``RequestFamily`` and of the client.
public struct CallOptions: Sendable {
  /// The time-outs of this call. For each time-out that is nil, the time-out of the request applies.
  public var timeouts: Timeouts
  /// The priority of this call; nil for the priority of the request.
  public var priority: CallPriority?
  /// The owner of the call. When the owner is deallocated, the call is cancelled. The options hold a weak reference.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }
  /// A name by which several calls can be cancelled together.
  public var tag: String?
  /// Header fields that this call sets or removes.
  public var headers: RequestHeaders
  /// The observers of this call, in addition to the accessories of the client and the request.
  public var accessories: [any Accessory]
  /// The sink that receives the response body; nil to keep the body in memory. The sink does not receive the body of a
  /// redirect, of a response whose status or content type is rejected, or of a response that rejects the credential
  /// (``RefreshingProvider/isRejection(_:)``).
  public var bodySink: (any BodySink)?
  /// Whether this call reads stored responses, and whether it stores its response.
  public var cache: CacheReadMode
  /// The rule for retries of this call; ``RetryPolicy/inherited`` for the rule of the request.
  public var retries: RetryPolicy
  /// Decides whether this call may share an exchange with equal calls; ``JoinRule/inherited`` for the rule of the
  /// request.
  public var joining: JoinRule
  /// The maximum size of the response body in memory; ``BodyLimit/inherited`` for the limit of the request.
  public var bodyLimit: BodyLimit
  /// A hook that runs before the request's own hooks. The hook does not run on the ``CallbackExecutor`` of the call,
  /// but in a task that is cancelled when the call is cancelled. The call waits for the hook before it calls the
  /// delegate and the completion closure.
  public var beforeCompletion: (@Sendable (Outcome<Void>) async -> Void)?
  /// A hook that runs on the ``CallbackExecutor`` of the call, before the request's own hook, the delegate and the
  /// completion closure.
  public var afterCompletion: (@Sendable (Outcome<Void>) -> Void)?

  private(set) var ownership: CallOwner.Reference?
  /// The account that must be logged in when the request is ready to be sent; nil to accept any account. If another
  /// account is logged in, the call fails. An empty text requires that no account is logged in. The value is set for
  /// calls that belong to a larger operation for one account, such as a group of calls.
  package var requiredAccount: String?
  /// Whether ``requiredAccount`` is also required if the request has a credential of its own or none. An outbox sets it,
  /// because the cookies and stored responses of a call belong to the account, too.
  package var requiresAccountAlways = false
  /// Whether the rule `repeats` of the request, its family and the client does not apply to the call. An outbox sets
  /// it, because the rule is meant for the taps of a user.
  package var ignoresRepeats = false
  /// Is called before each exchange of the call, on any thread. If it throws, nothing more is sent, and the call fails
  /// with the error. An outbox sets it, because the server may forget an idempotency key during a call.
  package var exchangeCheck: (@Sendable () throws(APIError) -> Void)?
  /// Is called before a download opens its partial file. A pausable download sets it, because it removes only the
  /// partial files of its own requests.
  package var noteDownload: (@Sendable (SentDownload) -> Void)?
  /// Whether the call is a member of a running group, which may continue while the client drains.
  var isMember = false

  /// Makes options for a call. An option that is not given does not override the settings of the request.
  public init(
    timeouts: Timeouts = Timeouts(), priority: CallPriority? = nil, owner: CallOwner? = nil, tag: String? = nil,
    headers: RequestHeaders = RequestHeaders(), accessories: [any Accessory] = [], bodySink: (any BodySink)? = nil,
    cache: CacheReadMode = .asDeclared, retries: RetryPolicy = .inherited, joining: JoinRule = .inherited,
    bodyLimit: BodyLimit = .inherited, beforeCompletion: (@Sendable (Outcome<Void>) async -> Void)? = nil,
    afterCompletion: (@Sendable (Outcome<Void>) -> Void)? = nil
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
    self.bodyLimit = bodyLimit
    self.retries = retries
    self.beforeCompletion = beforeCompletion
    self.afterCompletion = afterCompletion
  }

  /// Returns a copy of these options in which each option that is not set is taken from `other`. If neither these
  /// options nor `other` set an owner, the copy has the owner `ownership`. The same applies to the tag.
  func filled(by other: CallOptions, ownership: CallOwner.Reference?, tag: String?) -> CallOptions {
    if other.isEmpty, ownership == nil, tag == nil { return self }
    var options = self
    options.timeouts = timeouts.filled(by: other.timeouts)
    options.priority = priority ?? other.priority
    options.ownership = self.ownership ?? other.ownership ?? ownership
    options.tag = self.tag ?? other.tag ?? tag
    options.headers = headers.filled(by: other.headers)
    options.accessories = accessories + other.accessories
    options.bodySink = bodySink ?? other.bodySink
    options.cache = cache == .asDeclared ? other.cache : cache
    options.retries = retries.filled(by: other.retries)
    options.joining = joining.filled(by: other.joining)
    options.bodyLimit = bodyLimit.filled(by: other.bodyLimit)
    options.requiredAccount = requiredAccount ?? other.requiredAccount
    options.requiresAccountAlways = requiresAccountAlways || other.requiresAccountAlways
    options.ignoresRepeats = ignoresRepeats || other.ignoresRepeats
    options.exchangeCheck = exchangeCheck ?? other.exchangeCheck
    options.noteDownload = noteDownload ?? other.noteDownload
    options.beforeCompletion = beforeCompletion ?? other.beforeCompletion
    options.afterCompletion = afterCompletion ?? other.afterCompletion
    return options
  }

  private var isEmpty: Bool {
    timeouts == Timeouts() && priority == nil && ownership == nil && tag == nil && headers.isEmpty
      && accessories.isEmpty && bodySink == nil && cache == .asDeclared && retries.isInherited
      && joining == .inherited && bodyLimit == .inherited && beforeCompletion == nil && afterCompletion == nil
      && requiredAccount == nil && !ignoresRepeats && exchangeCheck == nil && noteDownload == nil
  }

  /// Makes options with a time limit for the whole call.
  public static func deadline(_ limit: TimeLimit) -> CallOptions { CallOptions(timeouts: Timeouts(total: limit)) }
  /// Makes options with a time limit for the whole call, from a duration such as a variable.
  @_disfavoredOverload  // `.seconds(5)` is a `TimeLimit`, so that literals are not ambiguous
  public static func deadline(_ limit: Duration) -> CallOptions { .deadline(.after(limit)) }
  /// Makes options that determine whether the call reads stored responses and stores its response.
  public static func cache(_ mode: CacheReadMode) -> CallOptions { CallOptions(cache: mode) }
  /// Makes options with a tag, by which several calls can be cancelled together.
  public static func tag(_ tag: String) -> CallOptions { CallOptions(tag: tag) }
  /// Makes options with an owner, whose deallocation cancels the call.
  public static func owner(_ owner: CallOwner) -> CallOptions { CallOptions(owner: owner) }
}
