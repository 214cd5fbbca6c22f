import ErrandSupport

/// The state that accompanies a request through the pipeline: the call, and the settings of the call.
public final class CallContext: Sendable {
  /// The parts that are passed from one interceptor to the next. The request as ``Freezing`` fixed it is stored
  /// separately, because it is set later.
  struct Parts: Sendable {
    var call: CallState
    let info: CallInfo
    let plan: CallPlan
    var cache: CachePlan?
    var record: CallRecord
    var flags: CallFlags
    var note: (any LookupNote)?
    var log: FreezeLog?
    var replay: FreezeReplay?
    var sink: (any BodySink)?
    var onProgress: (@Sendable (TransferProgress) -> Void)?
    var onUnowned: (@Sendable () -> Void)?
    var sharedTimeLeft: (@Sendable () -> Duration?)?
  }

  private let parts: Parts
  /// The request as ``Freezing`` fixed it. An interceptor may send several requests concurrently, each with a separate
  /// context.
  private let frozen: Locked<Frozen?>

  /// A request as ``Freezing`` fixed it, and the account of the request. The type is a class, because the contexts of a
  /// call and of its exchange share one object.
  final class Frozen: Sendable {
    let request: HTTPRequest
    let account: String?

    init(request: HTTPRequest, account: String?) {
      self.request = request
      self.account = account
    }
  }

  init(_ parts: Parts, frozen: Frozen? = nil) {
    self.parts = parts
    self.frozen = Locked(frozen)
  }

  /// The state of the call: deadline and cancellation. Every wait uses it.
  public var call: CallState { parts.call }
  /// The identity of the call: number, request, tag and priority.
  public var info: CallInfo { parts.info }

  /// The settings of the call.
  package var plan: CallPlan { parts.plan }
  /// How the call uses the cache; nil if neither the call, the request, its family nor the client has a policy.
  package var cache: CachePlan? { parts.cache }
  /// The destination of the body; nil for memory.
  package var sink: (any BodySink)? { parts.sink }
  /// Receives the progress of the request body and of the response body.
  package var onProgress: (@Sendable (TransferProgress) -> Void)? { parts.onProgress }
  /// Records the events of the call.
  package var record: CallRecord { parts.record }
  /// The state of the call by which interceptors make decisions.
  package var flags: CallFlags { parts.flags }
  /// The result of the cache lookup, for the interceptors that run after the lookup.
  package var note: (any LookupNote)? { parts.note }
  /// This closure is called before a credential is sent whose account is unknown, because the response must then reach
  /// only one call. Nil if the exchange is not shared.
  var onUnowned: (@Sendable () -> Void)? { parts.onUnowned }
  /// Records the requests that ``Freezing`` fixed, for a later pass of the same call through the pipeline. Nil if there
  /// is no later pass.
  var log: FreezeLog? { parts.log }
  /// The requests that ``Freezing`` fixed in an earlier pass of the same call through the pipeline. The present pass
  /// sends these requests again.
  var replay: FreezeReplay? { parts.replay }

  /// The time until the deadline of the call; nil if there is no deadline. For a shared exchange, the time until the
  /// latest deadline of the waiting calls; nil if one of these calls has no deadline.
  var timeLeft: Duration? { parts.sharedTimeLeft.map { $0() } ?? call.timeLeft }

  // MARK: - The frozen request

  /// The account that the request is sent for. Nil if there is none, and in interceptors that run before the library
  /// has fixed the request.
  public var account: String? { whatIsFrozen?.account }

  /// The origin of the request as ``Freezing`` fixed it; nil before that.
  package var opener: HTTPURL.Origin? { whatIsFrozen?.request.url.origin }

  /// Whether an origin is the origin of the request as ``Freezing`` fixed it, or belongs to a server that gives the
  /// same responses.
  func isMeant(_ origin: HTTPURL.Origin) -> Bool { plan.home(of: origin) == opener.map(plan.home) }

  /// The fields of the request as ``Freezing`` fixed it; nil before that.
  var frozenFields: HTTPFields? { whatIsFrozen?.request.fields }

  /// The request as ``Freezing`` fixed it; nil before that.
  package var frozenRequest: HTTPRequest? { whatIsFrozen?.request }

  private var whatIsFrozen: Frozen? { frozen.withLock { $0 } }

  func freeze(_ frozen: Frozen) {
    self.frozen.withLock { $0 = frozen }
    log?.note(frozen)
  }

  // MARK: - Changed copies

  /// A copy with some parts changed. The request that ``Freezing`` fixed is copied, too.
  func with(_ change: (inout Parts) -> Void) -> CallContext {
    var parts = parts
    change(&parts)
    return CallContext(parts, frozen: whatIsFrozen)
  }

  /// A copy with the state of another call.
  package func with(_ call: CallState) -> CallContext { with { $0.call = call } }

  /// A copy with another destination for the body and another progress listener.
  package func with(sink: any BodySink, onProgress: (@Sendable (TransferProgress) -> Void)?) -> CallContext {
    with {
      $0.sink = sink
      $0.onProgress = onProgress
    }
  }

  /// A copy with the result of the cache lookup, for the interceptors that run after the lookup.
  package func with(note: any LookupNote) -> CallContext { with { $0.note = note } }

  /// A copy with which the cache is not read. The response is still stored.
  func pastCache() -> CallContext {
    with {
      $0.cache = cache?.reading(.ignoringCache)
      $0.replay = replay?.again
      $0.note = nil
      $0.sharedTimeLeft = nil
    }
  }

  /// A copy for an exchange that may run longer than the call. The copy has its own state, record and flags, and no
  /// progress listener.
  package func inBackground(_ call: CallState) -> CallContext {
    with {
      $0.call = call
      ($0.record, $0.flags) = (CallRecord(), CallFlags())
      $0.onProgress = nil
      $0.sharedTimeLeft = nil
      ($0.log, $0.replay) = (nil, nil)
    }
  }
}

/// The result of the cache lookup of a call, for the interceptors that run after the lookup.
package protocol LookupNote: Sendable {
  /// When and in which store the call looked for a stored response. Only calls with equal values share an exchange.
  var joinMark: JoinMark { get }
  /// True if a stored response may be served if the server fails. Then the call makes no further attempt.
  var hasStandIn: Bool { get }
  /// The cookies of the cookie jar that are part of the cache key. A response to a request with other cookies is not
  /// stored under this key.
  var cookies: String? { get }
  /// Whether the cache key contains the account of the call.
  var namesAccount: Bool { get }
}

/// When and in which store a call looked for a stored response.
package struct JoinMark: Sendable, Hashable {
  /// The generation of the store at the lookup, which changes when responses are removed. So a call that starts after
  /// the removal does not share an exchange that started before.
  let generation: UInt64
  /// The bytes that identify the store.
  let store: [UInt8]

  package init(generation: UInt64, store: [UInt8]) {
    self.generation = generation
    self.store = store
  }
}
