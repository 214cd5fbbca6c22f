import ErrandJSON
import ErrandSupport
import Synchronization

/// One run of a request, from building the request to reporting the result. `work()` and `finish` are each called once.
final class CallRun: Run {
  let state: CallState
  let info: CallInfo

  let typed: any AnyTypedCall
  let options: CallOptions
  let kind: RunKind
  private let extras: Extras?
  let snapshot: ClientSnapshot
  let registry: CallRegistry
  let place: Int
  let accessories: [any Accessory]
  let record: CallRecord
  let flags = CallFlags()
  let started: MonotonicInstant
  let callbacks: Callbacks
  let callbackQueue: CallbackQueue?
  let timeouts: Timeouts
  let totalTimeout: Duration?
  /// True if the response body goes to a sink or a file instead of memory.
  let isStreamed: Bool
  /// The formats of the request, with those of its family and of the client filled in.
  let formats: Formats
  let log: CallLog?
  /// The effect of the request's ``RepeatRule`` on this call; nil if the request has no repeat rule.
  let repeatState: RepeatState?
  /// A call is nested in an outer call if a hook, an interceptor or other code of the app sends the call on behalf of
  /// the outer call.
  let nesting: Int
  /// True if the client's credential provider sends this call in order to supply or refresh a credential.
  let isInsideProvider: Bool

  /// Properties that most calls do not need. They are in a separate object, so that a call that needs none of them
  /// takes less memory.
  private final class Extras: Sendable {
    let download: Download?
    /// Stored, because a comparison of ``download`` with nil copies it.
    let hasDownload: Bool
    let family: SharedFamily?
    let refusal: APIError?

    private init(_ download: Download?, _ family: SharedFamily?, _ refusal: APIError?) {
      hasDownload = download != nil
      (self.download, self.family, self.refusal) = (download, family, refusal)
    }

    /// Returns nil if there are no such properties. An initialiser that returns nil would allocate an object first.
    static func unlessEmpty(_ download: Download?, _ family: SharedFamily?, _ refusal: APIError?) -> Extras? {
      download == nil && family == nil && refusal == nil ? nil : Extras(download, family, refusal)
    }
  }

  /// The file that receives the response body; nil if the body goes to memory or to a sink.
  var download: Download? { extras?.download }
  var hasDownload: Bool { extras?.hasDownload == true }
  var family: SharedFamily? { extras?.family }
  /// The error of a call that is nested too deeply; nil for other calls. The error names the code that started the
  /// call, so it is made at the start of the call.
  var refusal: APIError? { extras?.refusal }

  /// The executor on which the callbacks of a call run, and the closure that receives the progress of the call.
  struct Callbacks: Sendable {
    var executor = CallbackExecutor.inPlace
    var onProgress: ProgressCallback?
  }

  /// Registers the call and notifies the accessories that the call starts.
  init<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, _ kind: RunKind, _ snapshot: ClientSnapshot,
    _ registry: CallRegistry, callbacks: Callbacks, _ membership: RepeatMembership? = nil
  ) {
    let request = typed.request
    (nesting, isInsideProvider) = (UserCodeScope.nesting, UserCodeScope.isInside(provider: snapshot.providerID))
    let family = request.family.map(SharedFamily.init)
    timeouts = options.timeouts.filled(by: request.timeouts).filled(by: family?.value.timeouts)
      .filled(by: snapshot.configuration.timeouts)
    extras = .unlessEmpty(request.download, family, UserCodeScope.refusal(of: nesting))
    isStreamed = options.bodySink != nil || extras?.hasDownload == true
    totalTimeout = (timeouts.total ?? (isStreamed ? .never : .standardTotal)).duration
    (self.typed, self.options, self.kind) = (typed, options, kind)
    (self.snapshot, self.registry, self.callbacks) = (snapshot, registry, callbacks)
    formats = request.formats.filled(by: family?.value.formats).filled(by: snapshot.configuration.formats)
    let now = snapshot.timers.now
    started = now
    let priority = options.priority ?? request.priority
    state = CallState(
      deadline: totalTimeout.map { now.advanced(by: $0) }, timers: snapshot.timers, priority: priority)
    info = CallInfo(
      id: CallNumber.next(), request: request, tag: options.tag, priority: priority,
      owner: options.ownership?.number, indicator: typed.indicator)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    let notifies = kind.isOrdinary && extras?.refusal == nil
    let recording = snapshot.configuration.record
    record = CallRecord(
      flight: recording.isOn && kind.isOrdinary ? FlightNotes(bodyLimit: recording.bodyLimit) : nil,
      trace: notifies ? snapshot.configuration.tracer?.begin(info, snapshot.timers) : nil)
    accessories =
      notifies
      ? Self.joined(snapshot.configuration.accessories, Self.joined(typed.accessories, options.accessories)) : []
    place = registry.add(
      .init(state: state, subject: .call(info, flags)),
      as: kind.isOrdinary ? (options.isMember || nesting > 0 ? .part : .own) : .local)
    if let ownership = options.ownership { Self.enlist(state, with: ownership, in: registry) }
    let notifiesOnce = callbacks.onProgress == nil && accessories.isEmpty && !typed.givesCachedFirst
    callbackQueue = notifiesOnce ? nil : CallbackQueue(callbacks.executor)
    // A refused call sends nothing, so it neither stops other calls nor is stopped by them.
    let repeats = typed.overlap.repeats.filled(by: family?.value.overlap.repeats)
      .filled(by: snapshot.configuration.overlap.repeats)
    repeatState =
      notifies && !options.ignoresRepeats && place != CallRegistry.refused
      ? registry.repeats.start(repeats, of: R.self, options.ownership?.number, info, state, membership) : nil
    if refusal != nil { ProgressStream.end(in: Self.joined(typed.accessories, options.accessories)) }
    notifyAccessories { $0.willStart(info) }
  }

  /// Joins two lists. Usually only the client has accessories, and its list is then not copied.
  private static func joined(_ first: [any Accessory], _ second: [any Accessory]) -> [any Accessory] {
    second.isEmpty ? first : first + second
  }

  /// Registers the client with the owner of the call, so that the owner can cancel its calls on the client. If the
  /// owner is already deallocated, the call is cancelled.
  static func enlist(_ state: CallState, with ownership: CallOwner.Reference, in registry: CallRegistry) {
    if let owner = ownership.owner { owner.register(registry) } else { state.stop(.cancelled) }
  }

  // MARK: - The work

  /// Builds and sends the request, validates and decodes the response, then runs the hooks that do not run on the
  /// callback executor.
  func work() async -> Outcome<Void> {
    await completeWork(await carryOut())
  }

  /// Ends the work of the call and runs the hooks that do not run on the callback executor. The function is separate,
  /// so that its local variables do not enlarge the async frame of a waiting call.
  @inline(never)  // frame size
  private func completeWork(_ result: Outcome<Void>) async -> Outcome<Void> {
    // Code of the app may throw a cancellation error although the call was not cancelled. In that case the call is
    // cancelled now, so that both ``Call/isCancelled`` and the error say that the call was cancelled.
    if result.error?.stage == .cancelled { state.stop(.cancelled) }
    state.settle()
    let ending = applyStop(to: result, by: state.endsBy)
    if !runsHooks { return ending }
    if let hook = options.beforeCompletion {
      await UserCodeScope.during(type(of: info.request), in: nesting) {
        await state.runningElsewhere { await hook(ending) }
      }
    }
    // The call may have been cancelled while the hook of the options ran.
    if typed.hasHooks, let hook = typed.hook(before: applyStop(to: ending, by: state.endsBy)) {
      await UserCodeScope.during(type(of: info.request), in: nesting) { await state.runningElsewhere { await hook() } }
    }
    return ending
  }

  /// Waits until the debounce pause of the call (its waiting time before it is sent) is over. Throws an error if the
  /// repeat rule rejects the call.
  func applyRepeatRule() async throws {
    guard let repeatState else { return }
    if let rejection = repeatState.rejection { throw rejection }
    guard let pause = repeatState.pause else { return }
    try await state.sleep(until: started.advanced(by: pause))
  }

  // MARK: - The end

  var executor: CallbackExecutor { callbacks.executor }

  /// After this function, the next call with the same request type and owner may start, also from a callback of this
  /// call.
  func didClaim() {
    if let repeatState, !repeatState.isKept { registry.repeats.end(repeatState) }
  }

  func willStop(_ accessory: any Accessory, _ ending: Outcome<Void>) { accessory.willStop(info, ending) }

  func didStop(_ accessory: any Accessory, _ ending: Outcome<Void>) { accessory.didStop(info, ending) }

  func runHooks(after ending: () -> Outcome<Void>) {
    options.afterCompletion?(ending())
    if typed.hasHooks { typed.hook(after: ending())?() }
  }

  func logLine(_ ending: Outcome<Void>) -> String {
    ending.error.map { "failed: \($0)" } ?? "done in \(ending.metrics.total)"
  }

  /// True if the hooks of the call run. The hooks of a call that is nested too deeply do not run, and no accessory is
  /// notified. These hooks and accessories may have started the nested calls, and would start more.
  var runsHooks: Bool { kind.isOrdinary && refusal == nil }

  func applyStop(to ending: Outcome<Void>, by reason: CallState.StopReason?) -> Outcome<Void> {
    guard let reason else { return ending }
    let superseded = reason == .cancelled ? repeatState?.supersession ?? sessionEnd ?? ownerEnd : nil
    let error = superseded ?? stopError(reason)
    if ending.error?.stage == error.stage, superseded == nil { return ending }
    return ending.with(.failure(complete(error, ending.response, ending.metrics, ending.request)))
  }

  private var sessionEnd: APIError? { flags.isLoggedOut ? .loggedOut : nil }
  private var ownerEnd: APIError? { APIError.ownerGone(options.ownership, of: "call") }

  /// The error of a stopped call. The call was cancelled, or its total time-out passed, or the deadline of its group
  /// passed.
  func stopError(_ reason: CallState.StopReason) -> APIError {
    reason == .expired && !state.isPastDeadline ? .groupExpired : .stopped(reason, limit: totalTimeout)
  }

  /// Adds the request, the response and the metrics to an error, and masks secrets in its messages.
  func complete(
    _ error: APIError, _ response: HTTPResponse?, _ metrics: CallMetrics, _ sent: HTTPRequest?
  ) -> APIError {
    error.with { details in
      details.request = details.request ?? sent
      details.response = details.response ?? response
      details.isOfAnotherCall = APIError.hasEndedAnotherCall(error)
      details.metrics = metrics
      // The error message of a stopped call contains only text of the library, and needs no masking. Masking takes
      // time, and thousands of calls may be stopped at once.
      if error.stage == .deadline { details.message += queueSentence(metrics) }
      if error.stage == .cancelled || error.stage == .deadline { return }
      let search = secrets(details.request, details.response, mayQuote: details.stage != .admission).search
      details.message = search.masked(details.message)
      details.serverMessage = details.serverMessage.map { search.masked($0) }
    }
  }

  /// A sentence for the error of a call whose total time-out has passed. It is empty unless the call spent at least
  /// half of this time in the queue. The cause is then the limits of the client rather than a slow server.
  private func queueSentence(_ metrics: CallMetrics) -> String {
    guard state.isPastDeadline, let totalTimeout, metrics.queue * 2 >= totalTimeout else { return "" }
    return " The call waited \(metrics.queue.shown) of this time in the queue of the client; start fewer calls at a"
      + " time, or raise the limits of `admission`."
  }

  /// - Parameter mayQuote: Whether the message of the error may quote code of the app. Only then a JSON body is encoded
  ///   to find its secrets. Of calls that are refused before their request is built there may be thousands.
  private func secrets(_ request: HTTPRequest?, _ response: HTTPResponse?, mayQuote: Bool) -> KnownSecrets {
    var secrets = KnownSecrets(request, response)
    if case .own(let credential) = info.request.credential { secrets.add(credential) }
    if let fixed = snapshot.configuration.credentials as? FixedCredential { secrets.add(fixed.credential) }
    guard request == nil else { return secrets }
    // The request could not be built, so the secrets are taken from the parts of which it would have been made.
    let urls = [info.request.path.text, family?.value.baseURL, family?.value.cdnURL]
    for url in urls + snapshot.configuration.servers.urls { if let url { secrets.add(queryOf: url) } }
    for headers in [info.request.headers, family?.value.headers, snapshot.configuration.headers] {
      if let headers { secrets.add(headers) }
    }
    for arguments in [info.request.arguments, family?.value.arguments] {
      if let arguments { secrets.add(arguments) }
    }
    switch info.request.body?.content {
    case .form(let arguments)?: secrets.add(arguments)
    case .json(let encode)? where mayQuote:
      if let text = try? encode(formats.jsonEncoding) { secrets.add(json: text) }
    default: break
    }
    return secrets
  }
}

/// Generates the numbers of calls and groups, which are unique in the process.
enum CallNumber {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Adds the call to the client's ``FlightRecord`` when it has ended, and notifies its ``CallTrace``.
extension CallRun {
  func didConclude(_ ending: Outcome<Void>) {
    record.trace?.ended(ending)
    guard let flight = record.flight else { return }
    snapshot.flightRecord.add(recorded(flight, ending), limit: snapshot.configuration.record.calls)
  }

  @inline(never)  // frame size
  private func recorded(_ flight: FlightNotes, _ ending: Outcome<Void>) -> FlightCall {
    let metrics = ending.metrics
    return FlightCall(
      storage: .init(
        info, flight, started: started, duration: metrics.total, Self.outcome(ending), attempts: metrics.attempts,
        last: lastDecision(ending), snapshot.flightClient))
  }

  /// The decision that ended a call without success, if no interceptor has recorded it.
  private func lastDecision(_ ending: Outcome<Void>) -> CallDecision? {
    guard let error = ending.error else { return nil }
    switch error.stage {
    case .deadline: return .deadlinePassed(limit: state.isPastDeadline ? totalTimeout : nil)
    case .cancelled: return .cancelled(error.code == .cancelled ? nil : error.message)
    default: return missingPolicy(error)
    }
  }

  /// The decision not to retry a call that has no retry policy, if another attempt might have succeeded.
  private func missingPolicy(_ error: APIError) -> CallDecision? {
    guard error.attempts > 0, let request = error.request, case .success(nil) = snapshot.hosts,
      !retries(of: info.request).sendsAgain
    else { return nil }
    var result = TransportFailure.behind(error).map { RetryDecision.Result.failure($0) }
    if error.stage == .validate, error.code == .status, let status = error.status {
      result = .status(status, retryAfter: nil)
    }
    guard let result, RetryDecision.mayHelp(after: result, .none) else { return nil }
    return .notRetried(RetryDecision.reason(for: result), request.method, because: .policy)
  }

  private static func outcome(_ ending: Outcome<Void>) -> FlightCall.Outcome {
    if let error = ending.error {
      return .failure(error.stage, error.code, message: error.message, status: error.status)
    }
    return .success(status: ending.response?.status, ending.origin)
  }
}
