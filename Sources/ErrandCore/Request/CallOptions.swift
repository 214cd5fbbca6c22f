import ErrandSupport

/// The options of one call. They override the settings of the request, of its ``RequestFamily`` and of the client.
public struct CallOptions: Sendable {
  /// The values of the options.
  private struct Values: Sendable {
    var timeouts = Timeouts()
    var priority: CallPriority?
    var tag: String?
    var headers = RequestHeaders()
    var accessories: [any Accessory] = []
    var bodySink: (any BodySink)?
    var cache = CacheReadMode.asDeclared
    var retries = RetryPolicy.inherited
    var joining = JoinRule.inherited
    var bodyLimit = BodyLimit.inherited
    var beforeCompletion: (@Sendable (Outcome<Void>) async -> Void)?
    var afterCompletion: (@Sendable (Outcome<Void>) -> Void)?
    var ownership: CallOwner.Reference?
    var requiredAccount: String?
    var requiresAccountAlways = false
    var ignoresRepeats = false
    var exchangeCheck: (@Sendable () throws(APIError) -> Void)?
    var noteDownload: (@Sendable (SentDownload) -> Void)?
    var isMember = false
  }

  /// The options share one object with their copies, so a call that passes them on copies a reference. Options that
  /// override nothing share one object.
  private var values: Boxed<Values>

  private static let none = Boxed(Values())

  /// The time-outs of this call. For each time-out that is nil, the time-out of the request applies.
  public var timeouts: Timeouts {
    get { values.value.timeouts }
    set { values.change { $0.timeouts = newValue } }
  }

  /// The priority of this call; nil for the priority of the request.
  public var priority: CallPriority? {
    get { values.value.priority }
    set { values.change { $0.priority = newValue } }
  }

  /// The owner of the call. When the owner is deallocated, the call is cancelled. The options hold a weak reference.
  public var owner: CallOwner? {
    get { ownership?.owner }
    set { ownership = newValue.map(CallOwner.Reference.init) }
  }

  /// A name by which several calls can be cancelled together.
  public var tag: String? {
    get { values.value.tag }
    set { values.change { $0.tag = newValue } }
  }

  /// Header fields that this call sets or removes.
  public var headers: RequestHeaders {
    get { values.value.headers }
    set { values.change { $0.headers = newValue } }
  }

  /// The observers of this call, in addition to the accessories of the client and the request.
  public var accessories: [any Accessory] {
    get { values.value.accessories }
    set { values.change { $0.accessories = newValue } }
  }

  /// The sink that receives the response body; nil to keep the body in memory. The sink does not receive the body of a
  /// redirect, of a response whose status or content type is rejected, or of a response that rejects the credential
  /// (``RefreshingProvider/isRejection(_:)``).
  public var bodySink: (any BodySink)? {
    get { values.value.bodySink }
    set { values.change { $0.bodySink = newValue } }
  }

  /// Whether this call reads stored responses, and whether it stores its response.
  public var cache: CacheReadMode {
    get { values.value.cache }
    set { values.change { $0.cache = newValue } }
  }

  /// The rule for retries of this call; ``RetryPolicy/inherited`` for the rule of the request.
  public var retries: RetryPolicy {
    get { values.value.retries }
    set { values.change { $0.retries = newValue } }
  }

  /// Decides whether this call may share an exchange with equal calls; ``JoinRule/inherited`` for the rule of the
  /// request.
  public var joining: JoinRule {
    get { values.value.joining }
    set { values.change { $0.joining = newValue } }
  }

  /// The maximum size of the response body in memory; ``BodyLimit/inherited`` for the limit of the request.
  public var bodyLimit: BodyLimit {
    get { values.value.bodyLimit }
    set { values.change { $0.bodyLimit = newValue } }
  }

  /// A hook that runs before the request's own hooks. The hook does not run on the ``CallbackExecutor`` of the call,
  /// but in a task that is cancelled when the call is cancelled. The call waits for the hook before it calls the
  /// delegate and the completion closure.
  public var beforeCompletion: (@Sendable (Outcome<Void>) async -> Void)? {
    get { values.value.beforeCompletion }
    set { values.change { $0.beforeCompletion = newValue } }
  }

  /// A hook that runs on the ``CallbackExecutor`` of the call, before the request's own hook, the delegate and the
  /// completion closure.
  public var afterCompletion: (@Sendable (Outcome<Void>) -> Void)? {
    get { values.value.afterCompletion }
    set { values.change { $0.afterCompletion = newValue } }
  }

  private(set) var ownership: CallOwner.Reference? {
    get { values.value.ownership }
    set { values.change { $0.ownership = newValue } }
  }

  /// The account that must be logged in when the request is ready to be sent; nil to accept any account. If another
  /// account is logged in, the call fails. An empty text requires that no account is logged in. The value is set for
  /// calls that belong to a larger operation for one account, such as a group of calls.
  package var requiredAccount: String? {
    get { values.value.requiredAccount }
    set { values.change { $0.requiredAccount = newValue } }
  }

  /// Whether ``requiredAccount`` is also required if the request has a credential of its own or none. An outbox sets it,
  /// because the cookies and stored responses of a call belong to the account, too.
  package var requiresAccountAlways: Bool {
    get { values.value.requiresAccountAlways }
    set { values.change { $0.requiresAccountAlways = newValue } }
  }

  /// Whether the rule `repeats` of the request, its family and the client does not apply to the call. An outbox sets
  /// it, because the rule is meant for the taps of a user.
  package var ignoresRepeats: Bool {
    get { values.value.ignoresRepeats }
    set { values.change { $0.ignoresRepeats = newValue } }
  }

  /// Is called before each exchange of the call, on any thread. If it throws, nothing more is sent, and the call fails
  /// with the error. An outbox sets it, because the server may forget an idempotency key during a call.
  package var exchangeCheck: (@Sendable () throws(APIError) -> Void)? {
    get { values.value.exchangeCheck }
    set { values.change { $0.exchangeCheck = newValue } }
  }

  /// Is called before a download opens its partial file. A pausable download sets it, because it removes only the
  /// partial files of its own requests.
  package var noteDownload: (@Sendable (SentDownload) -> Void)? {
    get { values.value.noteDownload }
    set { values.change { $0.noteDownload = newValue } }
  }

  /// Whether the call is a member of a running group, which may continue while the client drains.
  var isMember: Bool {
    get { values.value.isMember }
    set { values.change { $0.isMember = newValue } }
  }

  /// Makes options that override nothing.
  public init() { values = Self.none }

  /// Makes options for a call. An option that is not given does not override the settings of the request.
  public init(
    timeouts: Timeouts = Timeouts(), priority: CallPriority? = nil, owner: CallOwner? = nil, tag: String? = nil,
    headers: RequestHeaders = RequestHeaders(), accessories: [any Accessory] = [], bodySink: (any BodySink)? = nil,
    cache: CacheReadMode = .asDeclared, retries: RetryPolicy = .inherited, joining: JoinRule = .inherited,
    bodyLimit: BodyLimit = .inherited, beforeCompletion: (@Sendable (Outcome<Void>) async -> Void)? = nil,
    afterCompletion: (@Sendable (Outcome<Void>) -> Void)? = nil
  ) {
    values = Boxed(
      Values(
        timeouts: timeouts, priority: priority, tag: tag, headers: headers, accessories: accessories,
        bodySink: bodySink, cache: cache, retries: retries, joining: joining, bodyLimit: bodyLimit,
        beforeCompletion: beforeCompletion, afterCompletion: afterCompletion,
        ownership: owner.map(CallOwner.Reference.init)))
  }

  /// Returns a copy of these options in which each option that is not set is taken from `other`. If neither these
  /// options nor `other` set an owner, the copy has the owner `ownership`. The same applies to the tag.
  func filled(by other: CallOptions, ownership: CallOwner.Reference?, tag: String?) -> CallOptions {
    if other.isEmpty, ownership == nil, tag == nil { return self }
    var options = self
    options.values.change { options in
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
    }
    return options
  }

  private var isEmpty: Bool {
    timeouts == Timeouts() && priority == nil && ownership == nil && tag == nil && headers.isEmpty
      && accessories.isEmpty && bodySink == nil && cache == .asDeclared && retries.isInherited
      && joining == .inherited && bodyLimit == .inherited && beforeCompletion == nil && afterCompletion == nil
      && requiredAccount == nil && !requiresAccountAlways && !ignoresRepeats && exchangeCheck == nil
      && noteDownload == nil
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
