import ErrandJSON
import Synchronization

/// One run of a request. `work()` and `finish` are each called once.
final class CallRun: Sendable {
  let state: CallState
  let info: CallInfo

  let typed: any AnyTypedCall
  let options: CallOptions
  let kind: RunKind
  private let extras: Extras?
  let snapshot: ClientSnapshot
  private let registry: CallRegistry
  private let place: Int
  let accessories: [any Accessory]
  let record = CallRecord()
  let flags = CallFlags()
  let started: MonotonicInstant
  let delivery: Delivery
  /// Keeps the callback jobs of the call in order; nil for a call that reports only its end, because a single job needs
  /// no order.
  let lane: CallbackQueue?
  let timeouts: Timeouts
  let totalTimeout: Duration?
  let jsonDecoding: JSONDecoding
  let log: CallLog?
  /// The effect of the request's repeat rule on this call; nil if the request has no repeat rule.
  let turn: RepeatTurn?
  /// The number of outer calls: a call is nested in another call if a hook, an interceptor or other code of the app
  /// sends it on behalf of the other call.
  let nesting: Int
  /// True if the client's credential provider sends this call while the provider is asked for a credential.
  let isInsideProvider: Bool

  /// Properties that most calls do not have. They are in a separate object, so that other calls save the memory.
  private final class Extras: Sendable {
    let download: Download?
    let family: RequestFamily?

    init?(_ download: Download?, _ family: RequestFamily?) {
      if download == nil, family == nil { return nil }
      (self.download, self.family) = (download, family)
    }
  }

  /// The file that receives the response body; nil if the body goes to memory or to a sink.
  var download: Download? { extras?.download }
  var family: RequestFamily? { extras?.family }

  /// The callback executor, and the progress closure of the caller.
  struct Delivery: Sendable {
    let executor: CallbackExecutor
    let onProgress: (@Sendable (CallInfo, TransferProgress) -> Void)?
  }

  /// Registers the call and notifies the accessories that the call starts.
  init<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, _ kind: RunKind, _ snapshot: ClientSnapshot,
    _ registry: CallRegistry,
    delivery: Delivery
  ) {
    let request = typed.request
    (nesting, isInsideProvider) = (UserCodeScope.nesting, UserCodeScope.isInside(provider: snapshot.providerID))
    let family = request.family
    timeouts = options.timeouts.filled(by: request.timeouts).filled(by: family?.timeouts)
      .filled(by: snapshot.configuration.timeouts)
    extras = Extras(request.download, family)
    let isStreamed = options.bodySink != nil || extras?.download != nil
    totalTimeout = (timeouts.total ?? (isStreamed ? .never : .seconds(120))).duration
    self.typed = typed
    self.options = options
    self.kind = kind
    self.snapshot = snapshot
    self.registry = registry
    self.delivery = delivery
    jsonDecoding = request.jsonDecoding.filled(by: family?.jsonDecoding)
      .filled(by: snapshot.configuration.jsonDecoding)
    started = snapshot.timers.now
    let now = started
    let priority = options.priority ?? request.priority
    state = CallState(
      deadline: totalTimeout.map { now.advanced(by: $0) }, timers: snapshot.timers, priority: priority)
    info = CallInfo(
      id: CallNumber.next(), request: request, tag: options.tag, priority: priority,
      owner: options.ownership?.number)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    let isTold = kind.isOrdinary && UserCodeScope.refusal(of: nesting) == nil
    accessories = isTold ? snapshot.configuration.accessories + request.accessories + options.accessories : []
    place = registry.add(
      .init(
        state: state, info: info, owner: options.ownership?.number, tag: options.tag, flags: flags))
    if let ownership = options.ownership { Self.enlist(state, with: ownership, in: registry) }
    let tellsOnce = delivery.onProgress == nil && accessories.isEmpty && !typed.givesCachedFirst
    lane = tellsOnce ? nil : CallbackQueue(delivery.executor)
    turn =
      kind.isOrdinary
      ? registry.repeats.start(typed.repeats, of: R.self, options.ownership?.number, info, state) : nil
    for accessory in accessories {
      UserCodeScope.during(type(of: accessory), in: nesting) { accessory.willStart(info) }
    }
  }

  /// Registers the client with the owner of the call. If the owner is already deallocated, the call is cancelled.
  static func enlist(_ state: CallState, with ownership: CallOwner.Reference, in registry: CallRegistry) {
    if let owner = ownership.owner { owner.note(registry) } else { state.stop(.cancelled) }
  }

  // MARK: - The work

  /// Builds and sends the request, validates and decodes the response, then runs the hooks that do not run on the
  /// callback executor.
  func work() async -> CallEnding {
    await completeWork(await carryOut())
  }

  /// Ends the work and runs the hooks. It is a separate function, so that its local variables do not enlarge the async
  /// frame of a waiting call.
  @inline(never)  // frame size
  private func completeWork(_ result: CallEnding) async -> CallEnding {
    // If code of the app throws its own cancellation error, the call is cancelled, so that the handle and the error
    // agree.
    if result.error?.stage == .cancelled { state.stop(.cancelled) }
    state.settle()
    let ending = applyStop(to: result, by: state.endsBy)
    // Hooks of a call that is nested too deeply do not run: code such as these hooks started the call, and would start
    // more.
    if !kind.isOrdinary || UserCodeScope.refusal(of: nesting) != nil { return ending }
    if let hook = options.beforeCompletion {
      await UserCodeScope.during(type(of: info.request), in: nesting) {
        await state.runningElsewhere { await hook(ending) }
      }
    }
    if let hook = typed.hook(before: ending) {
      await UserCodeScope.during(type(of: info.request), in: nesting) { await state.runningElsewhere { await hook() } }
    }
    return ending
  }

  /// Waits for the debounce pause of the repeat rule; throws if the rule refuses the call.
  func takeTurn() async throws {
    guard let turn else { return }
    if let refusal = turn.refusal { throw refusal }
    guard let pause = turn.pause else { return }
    try await state.sleep(until: started.advanced(by: pause))
    registry.repeats.begin(turn)
  }

  // MARK: - The end

  /// Passes a job to the callback executor. The job runs after all earlier progress reports.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Fixes the outcome, and notifies accessories, hooks and the callback, in one job on the current executor.
  ///
  /// If an accessory or a hook cancels the call here, the callback receives a cancellation and no success.
  func finish<Value>(_ result: CallEnding, _ notify: (CallEnding) -> Value) -> Value {
    let claimed = applyStop(to: result, by: state.claim())
    // From here the next call with the same request type and owner may start, also from a callback of this call.
    if let turn { registry.repeats.end(turn) }
    for accessory in accessories { accessory.willStop(info, claimed) }
    if let hook = options.afterCompletion { hook(applyStop(to: claimed, by: state.endsBy)) }
    let ending = applyStop(to: claimed, by: state.conclude())
    let value = notify(ending)
    for accessory in accessories { accessory.didStop(info, ending) }
    registry.remove(place)
    if let log { log.info(ending.error.map { "failed: \($0)" } ?? "done in \(ending.metrics.total)") }
    return value
  }

  /// The ending with the error of the stop if the call was stopped, otherwise the given ending.
  private func applyStop(to ending: CallEnding, by reason: CallState.StopReason?) -> CallEnding {
    guard let reason else { return ending }
    let superseded = reason == .cancelled ? turn?.supersession ?? (flags.isLoggedOut ? .loggedOut : nil) : nil
    let error = superseded ?? stopError(reason)
    if ending.error?.stage == error.stage, superseded == nil { return ending }
    return ending.replaced(by: complete(error, ending.response, ending.metrics, ending.request))
  }

  /// The error of a stopped call: the call was cancelled, its own time-out passed, or the deadline of its group passed.
  func stopError(_ reason: CallState.StopReason) -> APIError {
    reason == .expired && !state.isPastDeadline ? .groupExpired : .stopped(reason, limit: totalTimeout)
  }

  /// Adds request, response and attempts to an error, and masks secrets in its message.
  func complete(
    _ error: APIError, _ response: HTTPResponse?, _ metrics: CallMetrics, _ sent: HTTPRequest?
  ) -> APIError {
    error.with { details in
      details.request = details.request ?? sent
      details.response = details.response ?? response
      details.attempts = metrics.attempts
      // The message of a stop contains only text of the library, so it needs no masking. Thousands of calls may stop at
      // once, so the time for masking is saved.
      if error.stage == .cancelled || error.stage == .deadline { return }
      details.message = secrets(details.request, details.response).masked(details.message)
    }
  }

  /// The secrets to mask in the message of an error.
  private func secrets(_ request: HTTPRequest?, _ response: HTTPResponse?) -> KnownSecrets {
    var secrets = KnownSecrets(request, response)
    if case .own(let credential) = info.request.credential { secrets.add(credential) }
    if let fixed = snapshot.configuration.credentials as? FixedCredential { secrets.add(fixed) }
    guard request == nil else { return secrets }
    // The request could not be built, so the secrets are taken from the headers and arguments that it would contain.
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
