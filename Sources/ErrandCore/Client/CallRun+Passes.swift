/// Runs the request of a call through the pipeline, once or twice. Each run through the pipeline is called a *pass*.
/// Most calls make one pass. A call makes a second pass if its rules reject a cached response, or after it has
/// delivered the stored response of a `cachedThenFresh` call.
///
/// While a call waits, its async frames stay in memory, and thousands of calls may wait at once. The local variables of
/// inlined functions would enlarge these frames. So the functions that work before and after the wait must not be
/// inlined.
extension CallRun {
  @inline(never)  // frame size
  func carryOut() async -> Outcome<Void> {
    if repeatState != nil, let error = await repeatRejection() { return unbuilt(error) }
    switch prepared() {
    case .success(let pass):
      return givesCachedFirst(pass.context) ? await cachedThenFresh(pass) : await perform(pass)
    case .failure(let error): return unbuilt(error)
    }
  }

  /// Waits until the debounce pause of the call (its waiting time before it is sent) is over. Returns an error if the
  /// repeat rule rejects the call, or if the call is stopped. Returns nil if the call may proceed.
  @inline(never)  // frame size
  private func repeatRejection() async -> APIError? {
    do {
      try await applyRepeatRule()
      return nil
    } catch {
      return .mapping(error, as: .build)
    }
  }

  @inline(never)  // frame size
  private func unbuilt(_ error: APIError) -> Outcome<Void> { ending(error, nil) }

  private final class Pass: Sendable {
    let request: HTTPRequest
    let context: CallContext

    init(_ request: HTTPRequest, _ context: CallContext) {
      self.request = request
      self.context = context
    }
  }

  /// Builds the request. Calls that the additions of the client start are nested in this call.
  @inline(never)  // frame size
  private func prepared() -> Result<Pass, APIError> {
    if !snapshot.builder.runsAdditions { return prepare() }
    return UserCodeScope.during(RequestAdditions.self, in: nesting) { prepare() }
  }

  private func prepare() -> Result<Pass, APIError> {
    do {
      let plan = try plan()
      let cache = try cachePlan(plan)
      var built = try typed.build(snapshot.builder, family, options, formats)
      // With a cache plan, the cache adds these fields: they must not be part of what it compares with `Vary`.
      if cache == nil { for field in options.cache.fieldsToAdd(to: built.fields) { built.fields.append(field) } }
      try checkBody(of: built)
      #if DEBUG
        advise(on: built, plan)
      #endif
      if isTransfer(built) { state.removeDeadline() }
      record.recordBuilt(built)
      // A `FreezeLog` records the frozen requests (see ``Freezing``) of a pass, which is one run through the pipeline.
      // Without interceptors of the app, a pass has exactly one frozen request. The context contains this request, so
      // no log is needed.
      let log = cache?.bodiesAreFinal == false ? FreezeLog() : nil
      return .success(Pass(built, context(plan, cache, noting: log)))
    } catch {
      #if DEBUG
        adviseOnProperties()
      #endif
      return .failure(.mapping(error, as: .build))
    }
  }

  /// True if the call uploads a streamed body and no total time-out is set. Such an upload may take any time, so the
  /// caller removes the deadline of the call. False for a call that only checks or prepares a request and sends nothing
  /// (see ``RunKind``).
  private func isTransfer(_ request: HTTPRequest) -> Bool {
    timeouts.total == nil && kind.isOrdinary && !request.isComparable
  }

  private func checkBody(of request: HTTPRequest) throws(APIError) {
    // A call of the kind ``RunKind/preparing(_:)`` only prepares a request, which the operating system then sends. So
    // the capabilities of the transport do not matter.
    guard !kind.isPreparing, !request.isComparable, case .success = snapshot.pipeline else { return }
    let isWholeFile = request.body?.filePath != nil && snapshot.capabilities.contains(.fileBody)
    guard isWholeFile || snapshot.capabilities.contains(.bodySource) else {
      throw .build(
        .unsupported,
        "The transport cannot send a streamed body (capability bodySource); choose another transport, or give the body"
          + " as data.")
    }
  }

  @inline(never)  // frame size
  private func givesCachedFirst(_ context: CallContext) -> Bool {
    typed.givesCachedFirst && context.cache?.mode.asksTwice == true
  }

  private func context(
    _ plan: CallPlan, _ cache: CachePlan?, noting log: FreezeLog? = nil, replaying replay: FreezeReplay? = nil
  ) -> CallContext {
    CallContext(
      CallContext.Parts(
        call: state, info: info, plan: plan, cache: cache, record: record, flags: flags, log: log, replay: replay,
        sink: sink, onProgress: progress(), onInformational: informational()))
  }

  /// The sink of the call. If the app has interceptors, the sink is watched: an interceptor may return a response of
  /// its own after the body of another response has ended too early.
  private var sink: (any BodySink)? {
    guard let sink = options.bodySink else { return nil }
    let interceptors = snapshot.configuration.interceptors
    return interceptors.calls.isEmpty && interceptors.exchanges.isEmpty ? sink : WatchedSink(sink)
  }

  /// First delivers the stored response of any age, unless the call's rules reject the response. Then always asks the
  /// server: runs the request through the pipeline again, with the frozen request (see ``Freezing``) of the first run.
  @inline(never)  // frame size
  private func cachedThenFresh(_ pass: Pass) async -> Outcome<Void> {
    let plan = pass.context.plan
    guard let cache = pass.context.cache else { return await perform(pass) }
    let log = FreezeLog()
    let stored = await perform(
      Pass(pass.request, context(plan, cache.reading(.cacheOnlyAtAnyAge, isFollowed: true), noting: log)))
    if state.isStopped { return stored }
    if stored.error == nil, let job = typed.cachedJob(info, stored) {
      // After a cancel, no value is delivered. After the deadline, the value precedes the error, as after any failure.
      hand { [state] in
        if state.endsBy != .cancelled { job() }
      }
    }
    let asking = cache.reading(cache.mode == .asDeclared ? .revalidating : cache.mode, asksAlways: true)
    var fresh = await perform(Pass(pass.request, context(plan, asking, replaying: FreezeReplay(log))))
    fresh.isUnchanged = stored.error == nil && fresh.error == nil && fresh.repeats(stored)
    return fresh
  }

  /// Runs the request through the pipeline once. If the call's rules reject a stored response, removes the response
  /// from the cache and runs the request through the pipeline again. The request is not run again if a second run could
  /// change something on the server twice.
  @inline(never)  // frame size
  private func perform(_ pass: Pass) async -> Outcome<Void> { await concluded(await answer(pass), pass) }

  @inline(never)  // frame size
  private func concluded(_ answer: Answer, _ pass: Pass) async -> Outcome<Void> {
    let first = await judged(answer, pass.context)
    guard let entry = first.rejectedEntry else { return first }
    entry.reject()
    if pass.context.cache?.mode.usesOnlyCache == true { return ending(.cacheMiss(.damaged), nil) }
    // The request may have been sent before the stored response was chosen, for example because a redirect led to it or
    // because the response replaces a failure. A server that answers with 304 has not carried out the request.
    let isUnsent = first.metrics.attempts == 0 || first.metrics.redirects == 0 && first.origin == .revalidated
    let isRepeatable = isUnsent || pass.context.plan.sending.idempotency.allows(pass.request.method)
    guard isRepeatable else { return first }
    let past = Pass(pass.request, pastCache(pass.context))
    return await judged(await self.answer(past), past.context)
  }

  /// The context of a second pass through the pipeline, which does not read the cache. The second pass sends the frozen
  /// request (see ``Freezing``) of the first pass, for the same account.
  private func pastCache(_ first: CallContext) -> CallContext {
    guard first.replay == nil, let log = freezes(of: first) else { return first.pastCache() }
    return context(first.plan, first.cache?.reading(.ignoringCache), replaying: FreezeReplay(log))
  }

  /// The frozen requests (see ``Freezing``) of a pass through the pipeline; nil if the pass ended before a request was
  /// frozen.
  private func freezes(of pass: CallContext) -> FreezeLog? {
    if let log = pass.log { return log }
    guard let request = pass.frozenRequest else { return nil }
    let log = FreezeLog()
    log.append(CallContext.Frozen(request: request, account: pass.account))
    return log
  }

  private typealias Answer = Result<HTTPResponse, any Error>

  private func answer(_ pass: Pass) async -> Answer {
    do {
      let response = try await snapshot.pipeline.get().run(pass.request, from: 0, pass.context)
      if pass.context.sink == nil { return .success(response) }
      return .success(try await delivering(response, pass.context))
    } catch {
      return .failure(error)
    }
  }

  /// Passes the body of a response that an interceptor of the app has made to the sink of the call. Otherwise the call
  /// would succeed although the destination of the body has received nothing.
  @inline(never)  // frame size
  private func delivering(_ response: HTTPResponse, _ context: CallContext) async throws -> HTTPResponse {
    guard let sink = context.sink as? WatchedSink, !sink.isAsked, !response.body.isEmpty else { return response }
    do {
      return try await state.running { try await sink.take(response) }
    } catch {
      try state.check()
      throw SinkFailure(cause: error)
    }
  }

  @inline(never)  // frame size
  private func judged(_ answer: Answer, _ context: CallContext) async -> Outcome<Void> {
    switch answer {
    case .success where (context.sink as? WatchedSink)?.isIncomplete == true: return ending(.incompleteBody, nil)
    // `with(nil)` drops the parsed JSON of the body, which would otherwise stay in memory as long as the app keeps the
    // outcome.
    case .success(let response): return ending(await decode(response, context), response.with(nil))
    case .failure(let stopped as CallState.Stopped):
      return ending(stopError(stopped.reason), nil)
    case .failure(let error): return ending(await readingBody(of: .mapping(error, as: .transport)), nil)
    }
  }

  // MARK: - Reading the response

  /// Validates and decodes a response that did not pass through the pipeline.
  func reading(_ response: HTTPResponse) async -> Outcome<Void> {
    do {
      let context = context(try plan(), nil)
      return await judged(await .catching { try await Validating().judged(response, context) }, context)
    } catch {
      return unbuilt(error)
    }
  }

  /// Adds the body of a rejected response to the error, decoded as the request's `ErrorBody`. If the server itself
  /// rejected the request, the decoded body may have the server's message, and if the body cannot be decoded, the
  /// message says why. Bodies over 16 KiB are decoded on the global executor.
  private func readingBody(of error: APIError) async -> APIError {
    guard error.stage == .validate, let answer = error.response else { return error }
    let rules = decodingRules(.none)
    let isLarge = answer.body.count > Validating.inlineLimit
    let read =
      isLarge
      ? await onGlobalExecutor { typed.errorBody(of: answer, rules) } : typed.errorBody(of: answer, rules)
    return error.with { details in
      details.errorBody = read.body
      guard error.code == .status || error.code == .business else { return }
      if details.serverMessage == nil, let text = read.message, !text.isEmpty {
        details.serverMessage = text
        details.message += APIError.serverSentence(text)
      }
      if let failure = read.failure { details.message += " " + failure }
    }
  }

  /// Decodes the response and records how long that takes. Bodies over 16 KiB are decoded on the global executor.
  private func decode(_ response: HTTPResponse, _ context: CallContext) async -> APIError? {
    let begin = snapshot.timers.now
    let rules = decodingRules(context.plan.rules.envelope)
    let kept = context.cache?.decodedRules
    let isKnown = kept.map { response.hit?.value(for: $0) != nil } ?? false
    let error: APIError?
    if response.body.count > Validating.inlineLimit, !isKnown {
      error = await onGlobalExecutor { typed.decode(response, rules, kept: kept) }
    } else {
      error = typed.decode(response, rules, kept: kept)
    }
    record.decoded(in: begin.duration(to: snapshot.timers.now))
    #if DEBUG
      if error == nil, !isKnown { await adviseOnDates(in: response, rules) }
    #endif
    return error
  }

  private func ending(_ error: APIError?, _ response: HTTPResponse?) -> Outcome<Void> {
    let now = snapshot.timers.now
    let (metrics, sent) = record.ended(after: started.duration(to: now), at: now)
    let error = error.map { complete($0, response, metrics, sent) }
    let response = response ?? error?.response
    return Outcome<Void>(
      error: error, request: sent, response: response, origin: response.map { origin(of: $0, metrics) },
      metrics: metrics)
  }

  /// The source of a response. The source is `local` if the response is not from the cache and no request was sent for
  /// it. Such a response was created in this process, for example by an interceptor.
  private func origin(of response: HTTPResponse, _ metrics: CallMetrics) -> ResponseOrigin {
    response.origin == .network && metrics.attempts == 0 ? .local : response.origin
  }
}

extension CacheReadMode {
  /// True if a `cachedThenFresh` call reads the cache and then asks the server. False if the mode reads no stored
  /// response or never asks the server; the call then makes only one pass through the pipeline.
  fileprivate var asksTwice: Bool {
    switch self {
    case .asDeclared, .revalidating, .cachedElseLoad, .networkElseCached: true
    case .ignoringCache, .withoutCache, .cacheOnly, .cacheOnlyAtAnyAge: false
    }
  }
}

extension Outcome<Void> {
  /// True if the response has the status and the body of the stored response. A status 304 (Not Modified) does not
  /// prove that the responses are equal, because another call may have replaced the cache entry in the meantime.
  fileprivate func repeats(_ stored: Outcome<Void>) -> Bool {
    guard let mine = response, let other = stored.response else { return false }
    return mine.status == other.status && mine.body == other.body
  }
}
