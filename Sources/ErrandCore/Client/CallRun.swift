import Synchronization

/// One run of a request: works once, finishes once.
final class CallRun<R: APIRequest>: Sendable {
  let request: R
  let state: CallState
  let info: CallInfo

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
  private let hooks: CompletionHooks<R.Response>?
  private let timeouts: Timeouts
  private let log: CallLog?

  /// Where progress goes besides the accessories, and where all of it is told.
  struct Delivery: Sendable {
    let executor: CallbackExecutor
    let onProgress: (@Sendable (CallInfo, TransferProgress) -> Void)?
  }

  /// Registers the call and tells the accessories that it starts.
  init(
    _ request: R, _ options: CallOptions, _ snapshot: ClientSnapshot, _ registry: CallRegistry, delivery: Delivery
  ) {
    let family = request.family
    let timeouts = options.timeouts.filled(by: request.timeouts).filled(by: family?.timeouts)
      .filled(by: snapshot.configuration.timeouts)
    let total = timeouts.total ?? (options.bodySink == nil ? .seconds(120) : .never)
    self.request = request
    self.options = options
    self.family = family
    self.snapshot = snapshot
    self.registry = registry
    self.delivery = delivery
    hooks = request.hooks
    self.timeouts = timeouts
    started = snapshot.timers.now
    let now = started
    state = CallState(deadline: total.duration.map { now.advanced(by: $0) }, timers: snapshot.timers)
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
  func work() async -> Outcome<R.Response> {
    let came = await carryOut()
    // User code that throws a cancellation of its own cancels the call: the handle and the error say the same.
    if came.error?.stage == .cancelled { state.stop(.cancelled) }
    state.settle()
    let outcome = turned(came, by: state.endsBy)
    if let before = hooks?.before {
      _ = try? await state.running { await before(outcome) }
    }
    return outcome
  }

  private func carryOut() async -> Outcome<R.Response> {
    var response: HTTPResponse?
    var decoding = Duration.zero
    let result: Result<R.Response, APIError>
    do {
      let plan = try plan()
      let built = try snapshot.builder.build(request, family, options)
      record.built(built)
      let context = CallContext(call: state, info: info, plan: plan, record: record)
      let answer = try await snapshot.line.get().run(built, from: 0, context)
      response = answer
      let begin = snapshot.timers.now
      result = await decode(answer, plan)
      decoding = begin.duration(to: snapshot.timers.now)
    } catch {
      result = .failure(.mapping(error, as: .transport))
    }
    record.ended(total: started.duration(to: snapshot.timers.now), decode: decoding)
    let failure = failure(of: result).map { complete($0, response) }
    let final = failure.map { .failure($0) } ?? result
    let answer = response ?? failure?.response
    return Outcome(result: final, response: answer, origin: answer.map { _ in .network }, metrics: record.metrics)
  }

  private func failure(of result: Result<R.Response, APIError>) -> APIError? {
    if case .failure(let error) = result { error } else { nil }
  }

  private func decode(_ response: HTTPResponse, _ plan: CallPlan) async -> Result<R.Response, APIError> {
    let decoder = request.decoder
    let rules = DecodingRules(
      json: request.jsonDecoding ?? snapshot.configuration.jsonDecoding, envelope: plan.envelope)
    if response.body.count > Validating.inlineLimit { return await Self.decodeElsewhere(response, decoder, rules) }
    return Self.decode(response, decoder, rules)
  }

  @concurrent
  private static func decodeElsewhere(
    _ response: HTTPResponse, _ decoder: ResponseDecoder<R.Response>, _ rules: DecodingRules
  ) async -> Result<R.Response, APIError> {
    decode(response, decoder, rules)
  }

  private static func decode(
    _ response: HTTPResponse, _ decoder: ResponseDecoder<R.Response>, _ rules: DecodingRules
  ) -> Result<R.Response, APIError> {
    do {
      return .success(try decoder.decode(response, rules))
    } catch let error as APIError {
      return .failure(error)
    } catch {
      let sentence = "The answer could not be read as \(decoder.name): \(error)"
      return .failure(APIError(.decode, .decoding, APIError.sentence(sentence), cause: error))
    }
  }

  // MARK: - The end

  /// Hands a job to the callback executor, behind the progress that was told before.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Claims the outcome and tells everybody, in one job on the executor it is called on.
  func finish(_ outcome: Outcome<R.Response>, _ callback: (Outcome<R.Response>) -> Void) -> Outcome<R.Response> {
    let final = turned(outcome, by: state.claim())
    let ending = final.ending
    for accessory in accessories { accessory.willStop(info, ending) }
    hooks?.after?(final)
    callback(final)
    for accessory in accessories { accessory.didStop(info, ending) }
    registry.remove(place)
    if let log { log.info(final.error.map { "failed: \($0)" } ?? "done in \(final.metrics.total)") }
    return final
  }

  /// What came, or the reason for which the call was stopped, whatever came.
  private func turned(_ outcome: Outcome<R.Response>, by reason: CallState.StopReason?) -> Outcome<R.Response> {
    guard let reason else { return outcome }
    let error = APIError.stopped(reason)
    if outcome.error?.stage == error.stage { return outcome }
    return outcome.replaced(by: complete(error, outcome.response))
  }

  /// Adds what the run knows to an error.
  private func complete(_ error: APIError, _ response: HTTPResponse?) -> APIError {
    let attempts = record.metrics.attempts
    return error.with { details in
      details.request = details.request ?? record.sent
      details.response = details.response ?? response
      details.attempts = attempts
      guard details.stage == .validate, details.errorBody == nil, let answer = details.response else { return }
      let rules = DecodingRules(json: snapshot.configuration.jsonDecoding, envelope: nil)
      details.errorBody = try? ResponseDecoder<R.ErrorBody>.automatic.decode(answer, rules)
    }
  }

  // MARK: - The plan

  private func plan() throws(APIError) -> CallPlan {
    let configuration = snapshot.configuration
    if options.bodySink != nil, case .success = snapshot.line, !snapshot.capabilities.contains(.bodySink) {
      throw .build(
        .unsupported, "The transport cannot hand a body to a sink (capability bodySink); choose another one.")
    }
    return CallPlan(
      statusRule: request.statusRule ?? family?.statusRule ?? configuration.statusRule,
      contentTypes: request.contentTypes, shape: request.shape,
      envelope: request.envelope ?? family?.envelope ?? configuration.envelope, credential: request.credential,
      provider: configuration.credentials, base: snapshot.base,
      redirects: request.redirects ?? configuration.redirects,
      connectTimeout: (timeouts.connect ?? .seconds(10)).duration,
      idleTimeout: (timeouts.idle ?? .seconds(60)).duration,
      limits: configuration.limits, priority: info.priority, network: request.network, sink: options.bodySink,
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
