import ErrandJSON
import Synchronization

/// One run of a request: works once, finishes once.
final class CallRun: Sendable {
  let state: CallState
  let info: CallInfo

  private let typed: any CallTyping
  private let options: CallOptions
  private let family: RequestFamily?
  private let snapshot: ClientSnapshot
  private let registry: CallRegistry
  private let place: Int
  private let accessories: [any Accessory]
  private let record = CallRecord()
  private let started: MonotonicInstant
  private let delivery: Delivery
  /// Nil for a call that nobody wants progress of: its only job needs no order.
  private let lane: CallbackLane?
  private let timeouts: Timeouts
  private let totalTimeout: Duration?
  private let jsonDecoding: JSONDecoding
  private let log: CallLog?

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
    let family = request.family
    let timeouts = options.timeouts.filled(by: request.timeouts).filled(by: family?.timeouts)
      .filled(by: snapshot.configuration.timeouts)
    totalTimeout = (timeouts.total ?? (options.bodySink == nil ? .seconds(120) : .never)).duration
    self.typed = typed
    self.options = options
    self.family = family
    self.snapshot = snapshot
    self.registry = registry
    self.delivery = delivery
    self.timeouts = timeouts
    jsonDecoding = request.jsonDecoding ?? snapshot.configuration.jsonDecoding
    started = snapshot.timers.now
    let now = started
    state = CallState(deadline: totalTimeout.map { now.advanced(by: $0) }, timers: snapshot.timers)
    info = CallInfo(
      id: CallNumber.next(), request: request, tag: options.tag, priority: options.priority ?? request.priority)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    accessories = snapshot.configuration.accessories + request.accessories + options.accessories
    place = registry.add(.init(state: state, info: info, owner: options.ownership?.number))
    if let ownership = options.ownership { Self.enlist(state, with: ownership, in: registry) }
    lane = delivery.onProgress == nil && accessories.isEmpty ? nil : CallbackLane(delivery.executor)
    for accessory in accessories { accessory.willStart(info) }
  }

  /// Makes the call known to its owner; one that is freed already cancels it.
  private static func enlist(_ state: CallState, with ownership: CallOwner.Reference, in registry: CallRegistry) {
    if let owner = ownership.owner { owner.note(registry) } else { state.stop(.cancelled) }
  }

  // MARK: - The work

  /// Builds, sends, judges and decodes; then runs the hook that is off the callback executor.
  func work() async -> CallEnding {
    let came = await carryOut()
    // User code that throws a cancellation of its own cancels the call: the handle and the error say the same.
    if came.error?.stage == .cancelled { state.stop(.cancelled) }
    state.settle()
    let ending = turned(came, by: state.endsBy)
    if let hook = typed.hook(before: ending) {
      _ = try? await state.running { await hook() }
    }
    return ending
  }

  private func carryOut() async -> CallEnding {
    do {
      let plan = try plan()
      let built = try typed.build(snapshot.builder, family, options)
      record.built(built)
      let context = CallContext(call: state, info: info, plan: plan, record: record)
      let response = try await snapshot.line.get().run(built, from: 0, context)
      return ending(await decode(response, plan), response)
    } catch let stopped as CallState.Stopped {
      return ending(.stopped(stopped.reason, limit: totalTimeout), nil)
    } catch {
      return ending(await readingBody(of: .mapping(error, as: .transport)), nil)
    }
  }

  /// Adds what a refused answer holds, as the request's type for errors; bodies over 16 KiB are read elsewhere.
  private func readingBody(of error: APIError) async -> APIError {
    guard error.stage == .validate, let answer = error.response else { return error }
    let rules = DecodingRules(json: jsonDecoding, envelope: nil)
    let isLarge = answer.body.count > Validating.inlineLimit
    let body = isLarge ? await Self.readElsewhere(typed, answer, rules) : typed.errorBody(of: answer, rules)
    return error.with { $0.errorBody = body }
  }

  private static func readElsewhere(
    _ typed: any CallTyping, _ response: HTTPResponse, _ rules: DecodingRules
  ) async -> (any Sendable)? {
    await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in typed.errorBody(of: response, rules) }
  }

  /// Decodes and notes how long that took; bodies over 16 KiB elsewhere than on the caller's actor.
  private func decode(_ response: HTTPResponse, _ plan: CallPlan) async -> APIError? {
    let begin = snapshot.timers.now
    let rules = DecodingRules(json: jsonDecoding, envelope: plan.envelope)
    let error: APIError?
    if response.body.count > Validating.inlineLimit {
      error = await Self.decodeElsewhere(typed, response, rules)
    } else {
      error = typed.decode(response, rules)
    }
    record.decoded(in: begin.duration(to: snapshot.timers.now))
    return error
  }

  /// Off the caller's actor, and off the transport's thread where the task prefers that.
  private static func decodeElsewhere(
    _ typed: any CallTyping, _ response: HTTPResponse, _ rules: DecodingRules
  ) async -> APIError? {
    await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in typed.decode(response, rules) }
  }

  private func ending(_ error: APIError?, _ response: HTTPResponse?) -> CallEnding {
    let (metrics, sent) = record.ended(after: started.duration(to: snapshot.timers.now))
    let error = error.map { complete($0, response, metrics, sent) }
    let response = response ?? error?.response
    return CallEnding(
      error: error, request: sent, response: response, origin: response.map { _ in .network }, metrics: metrics)
  }

  // MARK: - The end

  /// Hands a job to the callback executor, behind the progress that was told before.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Claims the outcome and tells everybody, in one job on the executor it is called on.
  func finish<Told>(_ came: CallEnding, _ tell: (CallEnding) -> Told) -> Told {
    let ending = turned(came, by: state.claim())
    for accessory in accessories { accessory.willStop(info, ending) }
    let told = tell(ending)
    for accessory in accessories { accessory.didStop(info, ending) }
    registry.remove(place)
    if let log { log.info(ending.error.map { "failed: \($0)" } ?? "done in \(ending.metrics.total)") }
    return told
  }

  /// What came, or the reason for which the call was stopped, whatever came.
  private func turned(_ ending: CallEnding, by reason: CallState.StopReason?) -> CallEnding {
    guard let reason else { return ending }
    let error = APIError.stopped(reason, limit: totalTimeout)
    if ending.error?.stage == error.stage { return ending }
    return ending.replaced(by: complete(error, ending.response, ending.metrics, ending.request))
  }

  /// Adds what the run knows to an error.
  private func complete(
    _ error: APIError, _ response: HTTPResponse?, _ metrics: CallMetrics, _ sent: HTTPRequest?
  ) -> APIError {
    error.with { details in
      details.request = details.request ?? sent
      details.response = details.response ?? response
      details.attempts = metrics.attempts
    }
  }

  // MARK: - The plan

  private func plan() throws(APIError) -> CallPlan {
    if options.bodySink != nil, case .success = snapshot.line, !snapshot.capabilities.contains(.bodySink) {
      throw .build(
        .unsupported, "The transport cannot hand a body to a sink (capability bodySink); choose another one.")
    }
    let request = info.request
    let envelope = request.envelope ?? family?.envelope ?? snapshot.configuration.envelope
    if options.bodySink != nil, request.shape != nil || envelope?.code != nil {
      throw .build(
        .unsupported,
        "A call with a body sink has no body in memory to judge; declare no shape, and `Envelope.bare` as envelope.")
    }
    return CallPlan(
      statusRule: request.statusRule ?? family?.statusRule ?? snapshot.configuration.statusRule,
      contentTypes: request.contentTypes, shape: request.shape,
      envelope: envelope,
      credential: request.credential, provider: snapshot.configuration.credentials, base: snapshot.base,
      redirects: request.redirects ?? snapshot.configuration.redirects,
      connectTimeout: (timeouts.connect ?? .seconds(10)).duration,
      idleTimeout: (timeouts.idle ?? .seconds(60)).duration,
      limits: snapshot.configuration.limits, priority: info.priority, network: request.network, sink: options.bodySink,
      onProgress: progress(), log: log)
  }

  private func progress() -> (@Sendable (TransferProgress) -> Void)? {
    guard let lane else { return nil }
    return { [state, info, accessories, onProgress = delivery.onProgress] progress in
      lane.run {
        guard !state.isClaimed else { return }
        for accessory in accessories { accessory.progressed(info, progress) }
        onProgress?(info, progress)
      }
    }
  }
}

/// Numbers calls.
private enum CallNumber {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
