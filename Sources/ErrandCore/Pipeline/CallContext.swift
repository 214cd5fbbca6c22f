import ErrandSupport

/// The state that accompanies a request through the pipeline: the call, and the settings of the call.
public final class CallContext: Sendable {
  /// The properties that are set when a context is made. Interceptors pass on copies of a context with some of these
  /// properties changed. The frozen request (see ``Freezing``) is not among the properties, because it is set later.
  package struct Parts: Sendable {
    package var call: CallState
    let info: CallInfo
    let plan: CallPlan
    var cache: CachePlan?
    var record: CallRecord
    var flags: CallFlags
    package var lookup: (any LookupResult)?
    var log: FreezeLog?
    var replay: FreezeReplay?
    package var sink: (any BodySink)?
    package var onProgress: (@Sendable (TransferProgress) -> Void)?
    var onInformational: (@Sendable (ResponseHead) -> Void)?
    var onUnknownAccount: (@Sendable () -> Void)?
    var sharedTimeLeft: (@Sendable () -> Duration?)?
    /// Stops the calls that share the exchange and whose deadline has passed. Returns false if no call is left. Nil if
    /// the exchange is not shared.
    var expireSharers: (@Sendable (MonotonicInstant) -> Bool)?
  }

  private let parts: Parts
  /// The frozen request; nil until ``Freezing`` has run. An interceptor may send several requests concurrently. Each of
  /// them has a separate context and so a separate frozen request.
  private let frozen: Locked<Frozen?>

  /// A frozen request (see ``Freezing``), and the account for which the request is sent. The type is a class, so that
  /// the contexts of a call and of its exchange share one object.
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

  /// The state of the call: its deadline and its cancellation. Every wait in the pipeline uses this object, so that the
  /// wait ends when the call is stopped.
  public var call: CallState { parts.call }
  /// The identity of the call: number, request, tag and priority.
  public var info: CallInfo { parts.info }

  package var plan: CallPlan { parts.plan }
  /// How the call uses the cache. Nil if no cache policy applies to the call, or if the response body goes to a sink or
  /// a file.
  package var cache: CachePlan? { parts.cache }
  /// The sink that receives the response body; nil if the body is collected in memory.
  package var sink: (any BodySink)? { parts.sink }
  package var onProgress: (@Sendable (TransferProgress) -> Void)? { parts.onProgress }
  /// The closure that receives the informational responses of every exchange.
  var onInformational: (@Sendable (ResponseHead) -> Void)? { parts.onInformational }
  package var record: CallRecord { parts.record }
  /// Records a decision for the client's ``FlightRecord``. Does nothing if the client records no calls.
  package func note(_ decision: @autoclosure () -> CallDecision) {
    if let flight = record.flight { flight.add(decision(), at: call.timers.now) }
  }
  /// Mutable state of the call that interceptors share, for example whether the credential was refreshed.
  package var flags: CallFlags { parts.flags }
  /// The result of the cache lookup, for the interceptors that run after the lookup.
  package var lookup: (any LookupResult)? { parts.lookup }
  /// The closure that reserves a shared exchange for one call. The other waiting calls then send their requests
  /// separately. The closure is called before a credential of an unknown account is sent, because the response must
  /// then reach only one call. Nil if the exchange is not shared.
  var onUnknownAccount: (@Sendable () -> Void)? { parts.onUnknownAccount }
  /// The log of the frozen requests (see ``Freezing``), for a later pass of the same call through the pipeline. Nil if
  /// no later pass can follow.
  var log: FreezeLog? { parts.log }
  /// The requests, in their final form, that the call sent when it ran through the pipeline before (see ``Freezing``).
  /// The call now sends these requests again without changes. Nil if the call runs through the pipeline for the first
  /// time.
  var replay: FreezeReplay? { parts.replay }

  /// The time until the deadline of the call; nil if the call has no deadline. A shared exchange uses the latest
  /// deadline of its waiting calls, or nil if one of these calls has no deadline.
  var timeLeft: Duration? { parts.sharedTimeLeft.map { $0() } ?? call.timeLeft }

  /// Stops the call if its deadline has passed, even if the timer of the deadline has not fired yet. An exchange that
  /// several calls share is stopped if the deadlines of all these calls have passed.
  func expire(at now: MonotonicInstant) {
    call.expire(at: now)
    if parts.expireSharers?(now) == false { call.stop(.expired) }
  }

  // MARK: - The frozen request

  /// The account for which the request is sent; nil if no account is logged in. Also nil in interceptors that run
  /// before the client has determined the account.
  public var account: String? { frozenState?.account }

  /// The origin of the frozen request; nil until ``Freezing`` has run.
  package var firstOrigin: HTTPURL.Origin? { frozenState?.request.url.origin }

  /// Whether an origin is the origin of the frozen request (see ``Freezing``), or the origin of a fallback server for
  /// the same base URL.
  func isFirstOrigin(_ origin: HTTPURL.Origin) -> Bool {
    plan.sending.home(of: origin) == firstOrigin.map(plan.sending.home)
  }

  func isFirstOriginOrUnknown(_ origin: HTTPURL.Origin) -> Bool { firstOrigin == nil || isFirstOrigin(origin) }

  var frozenFields: HTTPFields? { frozenState?.request.fields }

  /// The frozen request; nil until ``Freezing`` has run.
  package var frozenRequest: HTTPRequest? { frozenState?.request }

  private var frozenState: Frozen? { frozen.withLock { $0 } }

  func freeze(_ frozen: Frozen) {
    self.frozen.withLock { $0 = frozen }
    log?.append(frozen)
  }

  // MARK: - Changed copies

  /// A copy of the context with changed properties. The frozen request (see ``Freezing``) is copied, too.
  package func with(_ change: (inout Parts) -> Void) -> CallContext {
    var parts = parts
    change(&parts)
    return CallContext(parts, frozen: frozenState)
  }

  /// A copy of the context for a request that does not read the cache. The response is still stored in the cache.
  func pastCache() -> CallContext {
    with {
      $0.cache = cache?.reading(.ignoringCache)
      $0.replay = replay?.again
      $0.lookup = nil
      ($0.sharedTimeLeft, $0.expireSharers) = (nil, nil)
    }
  }

  /// A copy of the context for an exchange that may run longer than the call. The copy has its own
  /// ``ErrandHTTP/CallState``, ``CallRecord`` and ``CallFlags``, and reports nothing to the caller.
  package func inBackground(_ call: CallState) -> CallContext {
    with {
      $0.call = call
      ($0.record, $0.flags) = (record.forExchange, CallFlags())
      ($0.onProgress, $0.onInformational) = (nil, nil)
      ($0.sharedTimeLeft, $0.expireSharers) = (nil, nil)
      ($0.log, $0.replay) = (nil, nil)
    }
  }
}

/// The result of the cache lookup of a call, for the interceptors that run after the lookup.
package protocol LookupResult: Sendable {
  /// Identifies the cache store, and the state of the store at the lookup. Only calls with equal marks share an
  /// exchange.
  var joinMark: JoinMark { get }
  /// Whether a stored response is served if the server fails now: with the given status, or without a response if the
  /// status is nil. In this case the call makes no further attempt.
  func hasFallbackResponse(after status: Int?, in context: CallContext) -> Bool
  /// The cookies of the cookie jar that are part of the cache key. A response to a request with other cookies is not
  /// stored under this key.
  var cookies: String? { get }
  /// Whether the cache key contains the account of the call.
  var namesAccount: Bool { get }
}

/// Identifies the cache store in which a call looked for a stored response, and the state of the store at that moment.
package struct JoinMark: Sendable, Hashable {
  /// The generation number of the store at the lookup. The number changes when responses are removed from the store. So
  /// a call that starts after the removal does not share an exchange that started before the removal.
  let generation: UInt64
  /// The bytes that identify the cache store.
  let store: [UInt8]

  package init(generation: UInt64, store: [UInt8]) {
    self.generation = generation
    self.store = store
  }
}

/// Records the frozen requests (see ``Freezing``) of a call. A call may pass through the pipeline several times. This
/// object belongs to one pass. One pass has several frozen requests if an interceptor of the app called `next` several
/// times.
final class FreezeLog: Sendable {
  private let requests = Locked<[CallContext.Frozen]>([])

  func append(_ frozen: CallContext.Frozen) { requests.withLock { $0.append(frozen) } }

  var all: [CallContext.Frozen] { requests.withLock { $0 } }
}

/// The frozen requests (see ``Freezing``) of an earlier pass of a call through the pipeline. A later pass sends the
/// same requests again.
final class FreezeReplay: Sendable {
  private let frozen: [CallContext.Frozen]
  private let used = Locked<Set<Int>>([])

  convenience init(_ log: FreezeLog) { self.init(log.all) }

  private init(_ frozen: [CallContext.Frozen]) { self.frozen = frozen }

  /// A new object with the same frozen requests, all unused. The new object is needed if the call passes through the
  /// pipeline once more.
  var again: FreezeReplay { FreezeReplay(frozen) }

  /// Returns the recorded frozen request that corresponds to `request`: an equal request, otherwise the first unused
  /// request with the same method, origin and path. For example, no request is equal if an interceptor adds the current
  /// time to each URL. Returns nil if no recorded request corresponds.
  func take(for request: HTTPRequest) -> CallContext.Frozen? {
    let place = frozen.firstIndex { $0.request.isSame(as: request) } ?? unused(like: request)
    guard let place else { return nil }
    used.withLock { _ = $0.insert(place) }
    return frozen[place]
  }

  /// The first of the recorded frozen requests; nil if the call has sent no request before.
  var first: CallContext.Frozen? { frozen.first }

  private func unused(like request: HTTPRequest) -> Int? {
    let used = used.withLock { $0 }
    return frozen.indices.first { !used.contains($0) && frozen[$0].request.leadsWhere(request) }
  }
}

extension HTTPRequest {
  fileprivate func isSame(as other: HTTPRequest) -> Bool {
    method == other.method && url == other.url && body == other.body
  }

  fileprivate func leadsWhere(_ other: HTTPRequest) -> Bool {
    method == other.method && url.origin == other.url.origin && url.path == other.url.path
  }
}
