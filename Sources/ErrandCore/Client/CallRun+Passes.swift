/// The ways down the line: one for most calls, a second one past an entry that is refused or after a stored answer.
///
/// A call that waits keeps every frame from here down to its wait. So what is done before and after stands in functions
/// of their own, which must not be drawn in: thousands may wait at once.
extension CallRun {
  @inline(never)
  func carryOut() async -> CallEnding {
    if turn != nil, let error = await refusedTurn() { return unbuilt(error) }
    switch prepared() {
    case .success(let way):
      return isTwofold(way.context) ? await cachedThenFresh(way) : await descend(way)
    case .failure(let error): return unbuilt(error)
    }
  }

  /// Waits for as long as the rule for repeats says; returns why the call may not go on.
  @inline(never)
  private func refusedTurn() async -> APIError? {
    do {
      try await takeTurn()
      return nil
    } catch {
      return .mapping(error, as: .build)
    }
  }

  @inline(never)
  private func unbuilt(_ error: APIError) -> CallEnding { ending(error, nil) }

  /// What goes down the line, and with what beside it.
  private final class Way: Sendable {
    let request: HTTPRequest
    let context: CallContext

    init(_ request: HTTPRequest, _ context: CallContext) {
      self.request = request
      self.context = context
    }
  }

  @inline(never)
  private func prepared() -> Result<Way, APIError> {
    do {
      let plan = try plan()
      let cache = try cachePlan(plan)
      let built = try typed.build(snapshot.builder, family, options)
      try checkBody(of: built)
      if isTransfer(built) { state.liftDeadline() }
      record.built(built)
      // Without interceptors of the app one request is frozen, and the context has it.
      let log = cache?.bodiesAreFinal == false ? FreezeLog() : nil
      return .success(Way(built, context(plan, cache, noting: log)))
    } catch {
      return .failure(.mapping(error, as: .build))
    }
  }

  /// Whether a body goes out whose sending may take as long as it takes: one that is read while it is sent. What is only
  /// stamped sends nothing.
  private func isTransfer(_ request: HTTPRequest) -> Bool {
    timeouts.total == nil && options.probe == nil && !request.isComparable
  }

  private func checkBody(of request: HTTPRequest) throws(APIError) {
    // What is only stamped is carried by another one than the transport.
    guard !options.probesEnd, !request.isComparable, case .success = snapshot.line else { return }
    let isWholeFile = request.body?.filePath != nil && snapshot.capabilities.contains(.fileBody)
    guard isWholeFile || snapshot.capabilities.contains(.bodySource) else {
      throw .build(
        .unsupported,
        "The transport cannot send a body that is read while it is sent (capability bodySource); choose another one, or"
          + " give the body as data.")
    }
  }

  @inline(never)
  private func isTwofold(_ context: CallContext) -> Bool {
    typed.isTwofold && context.cache?.mode.asksTwice == true
  }

  private func context(
    _ plan: CallPlan, _ cache: CachePlan?, noting log: FreezeLog? = nil, replaying replay: FreezeReplay? = nil
  ) -> CallContext {
    CallContext(
      call: state, info: info, plan: plan, cache: cache, record: record, log: log, replay: replay,
      sink: options.bodySink, onProgress: progress())
  }

  /// The stored answer of any age is told first, unless this call's rules refuse it; then the server is asked in any
  /// case. What was frozen on the first way down is sent on the second.
  @inline(never)
  private func cachedThenFresh(_ way: Way) async -> CallEnding {
    let plan = way.context.plan
    guard let cache = way.context.cache else { return await descend(way) }
    let log = FreezeLog()
    let stored = await descend(
      Way(way.request, context(plan, cache.reading(.cacheOnlyAtAnyAge, isFollowed: true), noting: log)))
    if state.isStopped { return stored }
    if stored.error == nil, let job = typed.cachedJob(info, stored) {
      hand { [state] in
        if state.endsBy == nil { job() }
      }
    }
    let asking = cache.reading(cache.mode == .asDeclared ? .revalidating : cache.mode, asksAlways: true)
    var fresh = await descend(Way(way.request, context(plan, asking, replaying: FreezeReplay(log))))
    fresh.isUnchanged = stored.error == nil && fresh.error == nil && fresh.repeats(stored)
    return fresh
  }

  /// One way down. A stored answer that this call's rules refuse is removed, and the call goes down once more, unless
  /// it would change something a second time.
  @inline(never)
  private func descend(_ way: Way) async -> CallEnding { await concluded(await answer(way), way) }

  @inline(never)
  private func concluded(_ answer: Answer, _ way: Way) async -> CallEnding {
    let came = await judged(answer, way.context)
    guard let hit = came.refusedHit else { return came }
    hit.refuse()
    if way.context.cache?.mode.asksNobody == true { return ending(.cacheMiss(.damaged), nil) }
    // A hit that a redirect led to says nothing of what was sent before it.
    let isRepeatable = way.request.method.isSafe || came.metrics.redirects == 0 || came.metrics.attempts == 0
    guard isRepeatable else { return came }
    let past = Way(way.request, pastCache(way.context))
    return await judged(await self.answer(past), past.context)
  }

  /// The way past the cache: it sends what the first one froze, for the account that it froze.
  private func pastCache(_ first: CallContext) -> CallContext {
    guard first.replay == nil, let log = freezes(of: first) else { return first.pastCache() }
    return context(first.plan, first.cache?.reading(.ignoringCache), replaying: FreezeReplay(log))
  }

  /// What a way down has frozen; nil for nothing.
  private func freezes(of way: CallContext) -> FreezeLog? {
    if let log = way.log { return log }
    guard let request = way.frozenRequest else { return nil }
    let log = FreezeLog()
    log.note(CallContext.Frozen(request: request, account: way.account))
    return log
  }

  private typealias Answer = Result<HTTPResponse, any Error>

  private func answer(_ way: Way) async -> Answer {
    do {
      return .success(try await snapshot.line.get().run(way.request, from: 0, way.context))
    } catch {
      return .failure(error)
    }
  }

  @inline(never)
  private func judged(_ answer: Answer, _ context: CallContext) async -> CallEnding {
    switch answer {
    // The parsed body has done its duty; outcomes that are kept would hold it.
    case .success(let response): return ending(await decode(response, context), response.with(nil))
    case .failure(let stopped as CallState.Stopped):
      return ending(stopError(stopped.reason), nil)
    case .failure(let error): return ending(await readingBody(of: .mapping(error, as: .transport)), nil)
    }
  }

  // MARK: - Reading the answer

  /// Judges and decodes an answer that came by another way than the line.
  func reading(_ response: HTTPResponse) async -> CallEnding {
    do {
      let context = context(try plan(), nil)
      return await judged(await verdict(on: response, context), context)
    } catch {
      return unbuilt(error)
    }
  }

  private func verdict(on response: HTTPResponse, _ context: CallContext) async -> Answer {
    do {
      return .success(try await Validating().judged(response, context))
    } catch {
      return .failure(error)
    }
  }

  /// Adds what a refused answer holds, as the request's type for errors; bodies over 16 KiB are read elsewhere.
  private func readingBody(of error: APIError) async -> APIError {
    guard error.stage == .validate, let answer = error.response else { return error }
    let rules = decodingRules(nil)
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
  private func decode(_ response: HTTPResponse, _ context: CallContext) async -> APIError? {
    let begin = snapshot.timers.now
    let rules = decodingRules(context.plan.envelope)
    let kept = context.cache?.decodedRules
    let isKnown = kept.map { response.hit?.value(for: $0) != nil } ?? false
    let error: APIError?
    if response.body.count > Validating.inlineLimit, !isKnown {
      error = await Self.decodeElsewhere(typed, response, rules, kept)
    } else {
      error = typed.decode(response, rules, kept: kept)
    }
    record.decoded(in: begin.duration(to: snapshot.timers.now))
    return error
  }

  /// Off the caller's actor, and off the transport's thread where the task prefers that.
  private static func decodeElsewhere(
    _ typed: any CallTyping, _ response: HTTPResponse, _ rules: DecodingRules, _ kept: DecodedRules?
  ) async -> APIError? {
    await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
      typed.decode(response, rules, kept: kept)
    }
  }

  private func ending(_ error: APIError?, _ response: HTTPResponse?) -> CallEnding {
    let now = snapshot.timers.now
    let (metrics, sent) = record.ended(after: started.duration(to: now), at: now)
    let error = error.map { complete($0, response, metrics, sent) }
    let response = response ?? error?.response
    return CallEnding(
      error: error, request: sent, response: response, origin: response.map { origin(of: $0, metrics) },
      metrics: metrics)
  }

  /// An answer that nobody was asked for and that does not come from the cache was made here.
  private func origin(of response: HTTPResponse, _ metrics: CallMetrics) -> ResponseOrigin {
    response.origin == .network && metrics.attempts == 0 ? .local : response.origin
  }
}

extension CacheReadMode {
  /// Whether a call that wants the stored answer first goes down twice: not where it reads nothing or asks nobody.
  fileprivate var asksTwice: Bool {
    switch self {
    case .asDeclared, .revalidating, .cachedElseLoad, .networkElseCached: true
    case .ignoringCache, .withoutCache, .cacheOnly, .cacheOnlyAtAnyAge: false
    }
  }
}

extension CallEnding {
  /// Whether it is the same as the stored answer. A 304 alone does not say so: it may be about another one by now.
  fileprivate func repeats(_ stored: CallEnding) -> Bool {
    guard let mine = response, let other = stored.response else { return false }
    return mine.status == other.status && mine.body == other.body
  }
}
