import ErrandSupport

/// The last interceptor of the pipeline, which passes the exchange to the transport.
package struct Transporting: Interceptor {
  private let transport: any Transport
  private let observesStop: Bool
  private let checksAgain: Bool

  /// Makes the interceptor that passes exchanges to a transport.
  ///
  /// - Parameter checksAgain: True if interceptors of the app run before this interceptor. Such interceptors may have
  ///   changed the header fields, so the fields are checked once more.
  package init(_ transport: any Transport, checksAgain: Bool) {
    self.transport = transport
    observesStop = transport.capabilities.contains(.observesStop)
    self.checksAgain = checksAgain
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    if checksAgain { try APIError.check(request) }
    let now = context.call.timers.now
    context.expire(at: now)
    try context.call.check()
    try context.plan.sending.exchangeCheck?()
    if case .preparing(let probe) = context.plan.kind { return await context.probed(request, by: probe) }
    let mustNotBeStored =
      context.mayReachOthers && (showsMoreThanFrozen(request, context) || context.flags.isMaybeOfAnotherAccount)
    if mustNotBeStored { context.onUnknownAccount?() }
    let exchange = begin(request, context, at: now)
    do {
      let isDirect = exchange.sink == nil && observesStop
      let response = isDirect ? try await transport.send(exchange) : try await sendAndSettle(exchange)
      end(exchange, response, context)
      return mustNotBeStored ? response.markedUnstorable() : response
    } catch {
      exchange.handling.observer?.failed(error, at: context.call.timers.now)
      throw error
    }
  }

  // The following functions are separate, so that their local variables do not enlarge the async frame of a call whose
  // exchange is running.

  @inline(never)  // frame size
  private func begin(_ request: HTTPRequest, _ context: CallContext, at now: MonotonicInstant) -> Exchange {
    var request = request
    let trace = context.record.trace?.begin(
      &request, isFirstOrigin: context.isFirstOriginOrUnknown(request.url.origin))
    let recorder = context.record.sending(request, at: now, trace)
    context.plan.log?.info("sending \(request)")
    return exchange(request, recorder, context)
  }

  @inline(never)  // frame size
  private func end(_ exchange: Exchange, _ response: HTTPResponse, _ context: CallContext) {
    exchange.handling.observer?.answered(response)
    context.plan.log?.info("\(response)")
  }

  /// True if the request identifies the user by data that is not part of the cache key. In this case the response must
  /// not reach other calls. There are two cases:
  ///
  /// - A credential, a cookie or another secret field was added or changed after ``Freezing``, and the cache key
  ///   contains no account. That happens if the provider names no account, or if an exchange interceptor added the
  ///   field.
  /// - The cookie jar supplied cookies that differ from the cookies of the cache lookup.
  private func showsMoreThanFrozen(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    let isOn = context.plan.access.cookies.isOn
    if isOn, let lookup = context.lookup, showsOtherCookies(request, than: lookup, context) { return true }
    let namesAccount = context.lookup?.namesAccount ?? (context.account != nil)
    if namesAccount { return false }
    let jars = isOn ? context.flags.cookies : nil
    let frozen = context.frozenFields ?? HTTPFields()
    return request.fields.all.contains { field in
      guard field.isSecret || frozen.holdsSecret(field.name) else { return false }
      if field.name == .authorization, context.plan.access.ownCredential.hasSameBytes(as: field.value) { return false }
      if field.name == .cookie, jars.hasSameBytes(as: field.value) { return false }
      return !frozen.values(of: field.name).containsBytes(of: field.value)
    }
  }

  /// Whether the cookie jar supplied cookies that differ from the cookies of the cache lookup.
  private func showsOtherCookies(
    _ request: HTTPRequest, than lookup: any LookupResult, _ context: CallContext
  ) -> Bool {
    let frozen = context.frozenFields?.values(of: .cookie) ?? []
    var sent = request.fields.values(of: .cookie)
    if frozen.isEmpty { sent = sent.compactMap { context.plan.access.cookies.cacheKeyValue(of: $0) } }
    if let keyed = lookup.cookies { return !sent.haveSameBytes(as: [keyed]) }
    return !sent.isEmpty && !sent.haveSameBytes(as: frozen)
  }

  /// Sends the exchange, then waits until the sink has written the response body. The sink is settled once, with or
  /// without success. If both fail, the error of the exchange counts.
  @inline(never)  // frame size
  private func sendAndSettle(_ exchange: Exchange) async throws -> HTTPResponse {
    guard let sink = exchange.sink else { return try await send(exchange) }
    let result = await Result.catching { try await send(exchange) }
    let settled = await Result.catching { try await exchange.call.running { try await sink.settle() } }
    do {
      let response = try result.get()
      try settled.get()
      return response
    } catch {
      try exchange.call.check()
      throw error
    }
  }

  private func send(_ exchange: Exchange) async throws -> HTTPResponse {
    if observesStop { return try await transport.send(exchange) }
    do {
      return try await exchange.call.running { [transport] in try await transport.send(exchange) }
    } catch {
      try exchange.call.check()
      throw error is CancellationError ? CallState.Stopped(reason: .cancelled) : error
    }
  }

  private func exchange(_ request: HTTPRequest, _ recorder: ExchangeRecorder, _ context: CallContext) -> Exchange {
    var handling = Exchange.Handling()
    handling.mayBeRepeated =
      context.plan.sending.idempotency.allows(request.method) && (request.body?.isReplayable ?? true)
    handling.observer = recorder
    handling.dropsRedirectBodies = context.plan.sending.redirects.mode == .follow && context.cache == nil
    return Exchange(
      request: request, call: context.call, connectTimeout: context.plan.sending.connectTimeout,
      idleTimeout: context.plan.sending.idleTimeout, limits: context.plan.sending.limits,
      sink: guardedSink(context, recorder), priority: context.call.priority, network: context.plan.sending.network,
      onInformational: informational(context), onProgress: context.onProgress, handling: handling)
  }

  /// Passes informational responses to the log and to the caller; nil if neither receives them.
  private func informational(_ context: CallContext) -> (@Sendable (ResponseHead) -> Void)? {
    guard let log = context.plan.log?.informational else { return context.onInformational }
    guard let report = context.onInformational else { return log }
    return { head in
      log(head)
      report(head)
    }
  }

  /// The rule for the statuses whose response body goes to the sink. A download may request a range of the file, so a
  /// rule that accepts 200 also accepts 206 for a download.
  private static func rule(of plan: CallPlan) -> StatusRule {
    plan.hasDownload && plan.rules.status.accepts(200) ? plan.rules.status.or([206]) : plan.rules.status
  }

  private func guardedSink(_ context: CallContext, _ recorder: ExchangeRecorder) -> (any BodySink)? {
    guard let sink = context.sink else { return nil }
    return GuardedSink(
      inner: sink, rule: Self.rule(of: context.plan), contentTypes: context.plan.rules.contentTypes,
      redirects: context.plan.sending.redirects, recorder: recorder)
  }
}

extension HTTPFields {
  fileprivate func holdsSecret(_ name: HTTPFieldName) -> Bool {
    contains(name) && all.contains { $0.isSecret && $0.name == name }
  }
}

/// A body sink that passes on only accepted responses to the sink of the caller. The bodies of redirects are discarded.
/// The bodies of rejected responses are kept in memory, up to a limit.
struct GuardedSink: BodySink {
  static let refusedLimit = 1 << 20

  let inner: any BodySink
  let rule: StatusRule
  let contentTypes: [String]?
  let redirects: RedirectPolicy
  let recorder: ExchangeRecorder

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let disposition = try destination(head, flow)
    recorder.bodyGoes(to: disposition)
    return disposition
  }

  private func destination(_ head: ResponseHead, _ flow: BodyFlow) throws -> BodyDisposition {
    if redirects.mode != .manual, StatusRule.isRedirect(head.status) { return .discard }
    guard rule.accepts(head.status), Validating.takes(head.fields, contentTypes) else {
      return .memory(limit: Self.refusedLimit)
    }
    return try Self.naming { () throws in try inner.begin(head, flow: flow) }
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    try Self.naming { () throws in try inner.write(piece) }
  }
  func end() throws { try Self.naming { () throws in try inner.end() } }

  func settle() async throws {
    do {
      try await inner.settle()
    } catch {
      throw SinkFailure(cause: error)
    }
  }

  /// Runs a function of the caller's sink. Wraps an error that the function throws, so that the error can be
  /// distinguished from failures of the transport.
  private static func naming<Value>(_ body: () throws -> Value) throws(SinkFailure) -> Value {
    do {
      return try body()
    } catch {
      throw SinkFailure(cause: error)
    }
  }
}
