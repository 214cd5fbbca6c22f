import ErrandJSON
import Synchronization

/// One run of a request: works once, finishes once.
final class CallRun: Sendable {
  let state: CallState
  let info: CallInfo

  let typed: any CallTyping
  let options: CallOptions
  private let extras: Extras?
  let snapshot: ClientSnapshot
  private let registry: CallRegistry
  private let place: Int
  let accessories: [any Accessory]
  let record = CallRecord()
  let started: MonotonicInstant
  let delivery: Delivery
  /// Nil for a call that tells its end alone: its only job needs no order.
  let lane: CallbackLane?
  let timeouts: Timeouts
  let totalTimeout: Duration?
  let jsonDecoding: JSONDecoding
  let log: CallLog?
  /// What the rule for repeats made of the call; nil where there is none.
  let turn: RepeatTurn?
  /// How many calls this one is nested in.
  let nesting: Int
  /// Whether the call was begun by its own provider of credentials while that is asked for one.
  let isInsideProvider: Bool

  /// What many calls have not. Apart, so that those hold no room for it.
  private final class Extras: Sendable {
    let download: Download?
    let family: RequestFamily?

    init?(_ download: Download?, _ family: RequestFamily?) {
      if download == nil, family == nil { return nil }
      (self.download, self.family) = (download, family)
    }
  }

  /// The file that the answer goes into; nil for memory or a sink.
  var download: Download? { extras?.download }
  var family: RequestFamily? { extras?.family }

  /// Where progress goes besides the accessories, and where all of it is told.
  struct Delivery: Sendable {
    let executor: CallbackExecutor
    let onProgress: (@Sendable (CallInfo, TransferProgress) -> Void)?
  }

  /// Registers the call and tells the accessories that it starts.
  init<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, _ snapshot: ClientSnapshot, _ registry: CallRegistry,
    delivery: Delivery
  ) {
    let request = typed.request
    (nesting, isInsideProvider) = (AppScope.nesting, AppScope.isInside(provider: snapshot.providerID))
    let family = request.family
    timeouts = options.timeouts.filled(by: request.timeouts).filled(by: family?.timeouts)
      .filled(by: snapshot.configuration.timeouts)
    extras = Extras(request.download, family)
    let isStreamed = options.bodySink != nil || extras?.download != nil
    totalTimeout = (timeouts.total ?? (isStreamed ? .never : .seconds(120))).duration
    self.typed = typed
    self.options = options
    self.snapshot = snapshot
    self.registry = registry
    self.delivery = delivery
    jsonDecoding = request.jsonDecoding ?? snapshot.configuration.jsonDecoding
    started = snapshot.timers.now
    let now = started
    let priority = options.priority ?? request.priority
    state = CallState(
      deadline: totalTimeout.map { now.advanced(by: $0) }, timers: snapshot.timers, priority: priority)
    info = CallInfo(
      id: CallNumber.next(), request: request, tag: options.tag, priority: priority,
      owner: options.ownership?.number)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    let isTold = options.probe == nil && AppScope.refusal(of: nesting) == nil
    accessories = isTold ? snapshot.configuration.accessories + request.accessories + options.accessories : []
    place = registry.add(
      .init(
        state: state, info: info, owner: options.ownership?.number, tag: options.tag, record: record))
    if let ownership = options.ownership { Self.enlist(state, with: ownership, in: registry) }
    let tellsOnce = delivery.onProgress == nil && accessories.isEmpty && !typed.isTwofold
    lane = tellsOnce ? nil : CallbackLane(delivery.executor)
    turn =
      options.probe == nil
      ? registry.repeats.start(typed.repeats, of: R.self, options.ownership?.number, info, state) : nil
    for accessory in accessories {
      AppScope.during(type(of: accessory), in: nesting) { accessory.willStart(info) }
    }
  }

  /// Makes the call known to its owner; one that is freed already cancels it.
  static func enlist(_ state: CallState, with ownership: CallOwner.Reference, in registry: CallRegistry) {
    if let owner = ownership.owner { owner.note(registry) } else { state.stop(.cancelled) }
  }

  // MARK: - The work

  /// Builds, sends, judges and decodes; then runs the hook that is off the callback executor.
  func work() async -> CallEnding {
    await settled(await carryOut())
  }

  /// Apart, so that a call that waits holds no room for it.
  @inline(never)
  private func settled(_ came: CallEnding) async -> CallEnding {
    // User code that throws a cancellation of its own cancels the call: the handle and the error say the same.
    if came.error?.stage == .cancelled { state.stop(.cancelled) }
    state.settle()
    let ending = turned(came, by: state.endsBy)
    // A call that is nested too deeply was begun by code such as these hooks.
    if options.probe != nil || AppScope.refusal(of: nesting) != nil { return ending }
    if let hook = options.beforeCompletion {
      await AppScope.during(type(of: info.request), in: nesting) { await state.runningElsewhere { await hook(ending) } }
    }
    if let hook = typed.hook(before: ending) {
      await AppScope.during(type(of: info.request), in: nesting) { await state.runningElsewhere { await hook() } }
    }
    return ending
  }

  /// Waits for as long as the rule for repeats says.
  func takeTurn() async throws {
    guard let turn else { return }
    if let refusal = turn.refusal { throw refusal }
    guard let pause = turn.pause else { return }
    try await state.sleep(until: started.advanced(by: pause))
    registry.repeats.begin(turn)
  }

  // MARK: - The end

  /// Hands a job to the callback executor, behind the progress that was told before.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Claims the outcome and tells everybody, in one job on the executor it is called on.
  ///
  /// Accessories and hooks that run here may cancel the call; no success follows then.
  func finish<Told>(_ came: CallEnding, _ tell: (CallEnding) -> Told) -> Told {
    let claimed = turned(came, by: state.claim())
    // From here on the next one may start: also from a callback of this one.
    if let turn { registry.repeats.end(turn) }
    for accessory in accessories { accessory.willStop(info, claimed) }
    if let hook = options.afterCompletion { hook(turned(claimed, by: state.endsBy)) }
    let ending = turned(claimed, by: state.conclude())
    let told = tell(ending)
    for accessory in accessories { accessory.didStop(info, ending) }
    registry.remove(place)
    if let log { log.info(ending.error.map { "failed: \($0)" } ?? "done in \(ending.metrics.total)") }
    return told
  }

  /// What came, or the reason for which the call was stopped, whatever came.
  private func turned(_ ending: CallEnding, by reason: CallState.StopReason?) -> CallEnding {
    guard let reason else { return ending }
    let superseded = reason == .cancelled ? turn?.supersession ?? (record.isLoggedOut ? .loggedOut : nil) : nil
    let error = superseded ?? stopError(reason)
    if ending.error?.stage == error.stage, superseded == nil { return ending }
    return ending.replaced(by: complete(error, ending.response, ending.metrics, ending.request))
  }

  /// The error of a call that was stopped, by a cancel, by its own time-out or by that of its group.
  func stopError(_ reason: CallState.StopReason) -> APIError {
    reason == .expired && !state.isPastDeadline ? .groupExpired : .stopped(reason, limit: totalTimeout)
  }

  /// Adds what the run knows to an error.
  func complete(
    _ error: APIError, _ response: HTTPResponse?, _ metrics: CallMetrics, _ sent: HTTPRequest?
  ) -> APIError {
    error.with { details in
      details.request = details.request ?? sent
      details.response = details.response ?? response
      details.attempts = metrics.attempts
      // A stop has no words of others, and thousands of calls may be stopped at once.
      if error.stage == .cancelled || error.stage == .deadline { return }
      details.message = secrets(details.request, details.response).masked(details.message)
    }
  }

  /// What the words of an error must not show.
  private func secrets(_ request: HTTPRequest?, _ response: HTTPResponse?) -> KnownSecrets {
    var secrets = KnownSecrets(request, response)
    if case .own(let credential) = info.request.credential { secrets.add(credential) }
    if let fixed = snapshot.configuration.credentials as? FixedCredential { secrets.add(fixed) }
    guard request == nil else { return secrets }
    // It could not be built: what it would have been made of.
    for headers in [info.request.headers, family?.headers, snapshot.configuration.headers] {
      if let headers { secrets.add(headers) }
    }
    secrets.add(info.request.arguments)
    return secrets
  }
}

/// Numbers calls and groups.
enum CallNumber {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
