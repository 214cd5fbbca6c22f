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
    context.call.expire(at: now)
    try context.call.check()
    if case .preparing(let probe) = context.plan.kind { return await probed(request, context, probe) }
    let mustNotBeStored =
      context.mayReachOthers && (showsMoreThanFrozen(request, context) || context.flags.isMaybeOfAnotherAccount)
    if mustNotBeStored { context.onUnknownAccount?() }
    let exchange = begin(request, context, at: now)
    do {
      let response = exchange.sink == nil ? try await send(exchange) : try await sendAndSettle(exchange)
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
    let recorder = context.record.sending(request, at: now)
    context.plan.log?.info("sending \(request)")
    return exchange(request, recorder, context)
  }

  @inline(never)  // frame size
  private func end(_ exchange: Exchange, _ response: HTTPResponse, _ context: CallContext) {
    exchange.handling.observer?.answered(response)
    context.plan.log?.info("\(response)")
  }

  @inline(never)  // frame size
  private func probed(_ request: HTTPRequest, _ context: CallContext, _ probe: FrozenProbe) async -> HTTPResponse {
    await probe(request, context)
    return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
  }

  /// True if the request identifies the user by data that is not part of the cache key. In this case the response must
  /// not reach other calls. There are two cases:
  ///
  /// - A credential, a cookie or another secret field was added or changed after ``Freezing``, and the cache key
  ///   contains no account. That happens if the provider names no account, or if an exchange interceptor added the
  ///   field.
  /// - The cookie jar supplied cookies that differ from the cookies of the cache lookup.
  private func showsMoreThanFrozen(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    let isOn = context.plan.cookies.isOn
    if isOn, let lookup = context.lookup, showsOtherCookies(request, than: lookup, context) { return true }
    let namesAccount = context.lookup?.namesAccount ?? (context.account != nil)
    if namesAccount { return false }
    let jars = isOn ? context.flags.cookies : nil
    let frozen = context.frozenFields ?? HTTPFields()
    return request.fields.all.contains { field in
      guard field.isSecret || frozen.holdsSecret(field.name) else { return false }
      if field.name == .authorization, context.plan.ownCredential.hasSameBytes(as: field.value) { return false }
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
    if frozen.isEmpty { sent = sent.compactMap { context.plan.cookies.cacheKeyValue(of: $0) } }
    if let keyed = lookup.cookies { return !sent.haveSameBytes(as: [keyed]) }
    return !sent.isEmpty && !sent.haveSameBytes(as: frozen)
  }

  /// Sends the exchange, then waits until the sink has written the response body.
  @inline(never)  // frame size
  private func sendAndSettle(_ exchange: Exchange) async throws -> HTTPResponse {
    guard let sink = exchange.sink else { return try await send(exchange) }
    do {
      let response = try await send(exchange)
      try await exchange.call.running { try await sink.settle() }
      return response
    } catch {
      try? await exchange.call.running { try await sink.settle() }
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
      context.plan.idempotency.allows(request.method) && (request.body?.isReplayable ?? true)
    handling.observer = recorder
    handling.dropsRedirectBodies = context.plan.redirects.mode == .follow && context.cache == nil
    return Exchange(
      request: request, call: context.call, connectTimeout: context.plan.connectTimeout,
      idleTimeout: context.plan.idleTimeout, limits: context.plan.limits, sink: guardedSink(context),
      priority: context.call.priority, network: context.plan.network,
      onInformational: context.plan.log?.informational, onProgress: context.onProgress, handling: handling)
  }

  /// The rule for the statuses whose response body goes to the sink. A download may request a range of the file, so a
  /// rule that accepts 200 also accepts 206 for a download.
  private static func rule(of plan: CallPlan) -> StatusRule {
    plan.hasDownload && plan.statusRule.accepts(200) ? plan.statusRule.or([206]) : plan.statusRule
  }

  private func guardedSink(_ context: CallContext) -> (any BodySink)? {
    guard let sink = context.sink else { return nil }
    return GuardedSink(
      inner: sink, rule: Self.rule(of: context.plan), contentTypes: context.plan.contentTypes,
      redirects: context.plan.redirects)
  }
}

extension HTTPFields {
  /// Whether at least one field of the given name is secret.
  fileprivate func holdsSecret(_ name: HTTPFieldName) -> Bool {
    contains(name) && all.contains { $0.isSecret && $0.name == name }
  }
}
