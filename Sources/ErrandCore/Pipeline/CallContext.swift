import ErrandSupport

/// What stands beside a request on its way down the line: its call, and what was decided for it.
public final class CallContext: Sendable {
  /// The life of the call: every wait takes it.
  public let call: CallState
  /// Who the call is.
  public let info: CallInfo

  /// What was decided for the call.
  package let plan: CallPlan
  /// How the call uses the cache; nil where neither the request nor the client nor the call says anything about it.
  package let cache: CachePlan?
  /// Where the body goes; nil for memory.
  package let sink: (any BodySink)?
  /// Told how far the bodies have come.
  package let onProgress: (@Sendable (TransferProgress) -> Void)?
  /// Told before a credential is sent that nobody says whose it is; nil for an exchange of one call.
  let onUnowned: (@Sendable () -> Void)?
  /// The exchange that the call shares with others; nil for one of its own.
  private let flight: JoinFlight?
  /// What is noted on the way.
  package let record: CallRecord
  /// What a station left for those below it.
  package let note: (any StationNote)?
  /// Where what is frozen is noted for a later pass of the same call; nil for a call with one pass.
  let log: FreezeLog?
  /// What an earlier pass of the same call froze; this one sends it again.
  let replay: FreezeReplay?
  /// What was fixed on this way down. An interceptor may send several side by side, each with a context of its own.
  private let frozen: Locked<Frozen?>

  /// What the freeze notes. An object, since the contexts of a call and of its exchange hold the same.
  final class Frozen: Sendable {
    let request: HTTPRequest
    let account: String?

    init(request: HTTPRequest, account: String?) {
      self.request = request
      self.account = account
    }
  }

  init(
    call: CallState, info: CallInfo, plan: CallPlan, cache: CachePlan?, record: CallRecord, frozen: Frozen? = nil,
    note: (any StationNote)? = nil, log: FreezeLog? = nil, replay: FreezeReplay? = nil, sink: (any BodySink)?,
    onProgress: (@Sendable (TransferProgress) -> Void)?, onUnowned: (@Sendable () -> Void)? = nil,
    flight: JoinFlight? = nil
  ) {
    self.call = call
    self.info = info
    self.plan = plan
    self.cache = cache
    self.record = record
    self.frozen = Locked(frozen)
    self.note = note
    self.log = log
    self.replay = replay
    self.sink = sink
    self.onProgress = onProgress
    self.onUnowned = onUnowned
    self.flight = flight
  }

  /// The account the call was frozen with; nil for nobody, and above the freeze.
  public var account: String? { frozen.withLock { $0?.account } }

  /// The time until everybody who waits for the exchange has gone; nil where somebody waits for ever.
  var timeLeft: Duration? { flight.map(\.timeLeft) ?? call.timeLeft }

  /// The origin that the call was frozen for; nil above the freeze.
  package var opener: HTTPURL.Origin? { frozen.withLock { $0?.request.url.origin } }

  /// Whether an origin is the one that the call was meant for, or both are servers with the same answers.
  func isMeant(_ origin: HTTPURL.Origin) -> Bool { plan.home(of: origin) == opener.map(plan.home) }

  /// The fields that were frozen; nil above the freeze.
  var frozenFields: HTTPFields? { frozen.withLock { $0?.request.fields } }

  /// The request that was frozen; nil above the freeze.
  package var frozenRequest: HTTPRequest? { frozen.withLock { $0?.request } }

  private var whatIsFrozen: Frozen? { frozen.withLock { $0 } }

  func freeze(_ frozen: Frozen) {
    self.frozen.withLock { $0 = frozen }
    log?.note(frozen)
  }

  /// The same way down in the life of another call.
  package func with(_ call: CallState) -> CallContext {
    CallContext(
      call: call, info: info, plan: plan, cache: cache, record: record, frozen: whatIsFrozen, note: note, log: log,
      replay: replay, sink: sink, onProgress: onProgress, onUnowned: onUnowned, flight: flight)
  }

  /// The same way down with another place for the body, and others who are told of progress.
  package func with(
    sink: any BodySink, onProgress: (@Sendable (TransferProgress) -> Void)?
  ) -> CallContext {
    CallContext(
      call: call, info: info, plan: plan, cache: cache, record: record, frozen: whatIsFrozen, note: note, log: log,
      replay: replay, sink: sink, onProgress: onProgress, onUnowned: onUnowned, flight: flight)
  }

  /// The same way down with a note for the stations below.
  package func with(note: any StationNote) -> CallContext {
    CallContext(
      call: call, info: info, plan: plan, cache: cache, record: record, frozen: whatIsFrozen, note: note, log: log,
      replay: replay, sink: sink, onProgress: onProgress, onUnowned: onUnowned, flight: flight)
  }

  /// The same way down, past the cache; what comes is stored.
  func pastCache() -> CallContext {
    CallContext(
      call: call, info: info, plan: plan, cache: cache?.reading(.ignoringCache), record: record,
      frozen: whatIsFrozen, log: log, replay: replay?.again, sink: sink, onProgress: onProgress, onUnowned: onUnowned)
  }

  /// The same way down for an exchange that outlives the call: with a life and a record of its own, told to nobody.
  package func inBackground(_ call: CallState) -> CallContext {
    CallContext(
      call: call, info: info, plan: plan, cache: cache, record: CallRecord(), frozen: whatIsFrozen, note: note,
      sink: sink, onProgress: nil, onUnowned: onUnowned)
  }

  /// The same way down for one of two requests that are on their way side by side.
  func copied(_ call: CallState, _ record: CallRecord, tellsProgress: Bool) -> CallContext {
    CallContext(
      call: call, info: info, plan: plan, cache: cache, record: record, frozen: whatIsFrozen, note: note, sink: sink,
      onProgress: tellsProgress ? onProgress : nil, onUnowned: onUnowned, flight: flight)
  }

  /// The same way down for an exchange that several calls share.
  func shared(_ flight: JoinFlight, onUnowned: @escaping @Sendable () -> Void) -> CallContext {
    CallContext(
      call: flight.state, info: info, plan: plan, cache: cache, record: flight.record, frozen: whatIsFrozen,
      note: note, sink: sink, onProgress: { flight.tell($0) }, onUnowned: onUnowned, flight: flight)
  }
}

/// Who a call is.
public struct CallInfo: Sendable {
  /// Held once: a call, its run, its contexts and the client's list all have it.
  private final class Storage: Sendable {
    let id: UInt64
    let request: any APIRequest
    let tag: String?
    let priority: CallPriority
    let owner: UInt64?

    init(_ id: UInt64, _ request: any APIRequest, _ tag: String?, _ priority: CallPriority, _ owner: UInt64?) {
      self.id = id
      self.request = request
      self.tag = tag
      self.priority = priority
      self.owner = owner
    }
  }

  private let storage: Storage

  init(id: UInt64, request: any APIRequest, tag: String?, priority: CallPriority, owner: UInt64? = nil) {
    storage = Storage(id, request, tag, priority, owner)
  }

  /// The call's number, never used twice in a process.
  public var id: UInt64 { storage.id }
  /// The request as it was given.
  public var request: any APIRequest { storage.request }
  /// The tag it was started with.
  public var tag: String? { storage.tag }
  /// The priority it was started with; ``Call/priority`` is the one it has now.
  public var priority: CallPriority { storage.priority }
  /// The number of its owner, which outlives the owner; nil for a call of nobody's.
  package var owner: UInt64? { storage.owner }

  /// The name of the request's type.
  public var name: String { "\(type(of: request))" }
}

extension CallInfo: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The number and the name of the request's type; not what the request holds.
  public var description: String { "#\(id) \(name)" }
  /// The number and the name of the request's type.
  public var debugDescription: String { description }
  /// What a dump shows: not what the request holds.
  public var customMirror: Mirror {
    Mirror(self, children: ["call": description, "tag": tag ?? "none", "priority": priority], displayStyle: .struct)
  }
}
