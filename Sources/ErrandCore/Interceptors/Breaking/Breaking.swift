import ErrandSupport

/// Rejects exchanges with an origin that keeps failing, and records the results of all other exchanges. This
/// interceptor runs after ``Admitting``. So a call is also rejected if its origin began to fail while the call waited
/// in the admission queue.
package struct Breaking: SelectiveInterceptor {
  private let control: BreakerControl
  private let rule: BreakerRule

  package init(_ control: BreakerControl, _ rule: BreakerRule) {
    self.control = control
    self.rule = rule
  }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isPreparing }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let (generation, isTrial) = try admit(request.url.origin, context)
    if isTrial, let sink = context.sink { return try await tried(request, into: sink, generation, context, next) }
    do {
      let response = try await next(request)
      end(Self.result(response.status), request.url.origin, generation, context)
      return response
    } catch {
      end(Self.result(error), request.url.origin, generation, context)
      throw error
    }
  }

  /// Sends a trial: a request that tests whether the origin has recovered. The response body is streamed to a sink. The
  /// result of the trial depends only on the status in the response headers.
  @inline(never)  // frame size
  private func tried(
    _ request: HTTPRequest, into sink: any BodySink, _ generation: UInt64, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let origin = request.url.origin
    let trial = HeadSink(sink) { head in end(Self.result(head.status), origin, generation, context) }
    do {
      let response = try await next(request, in: context.with { $0.sink = trial })
      if !trial.stopReporting() { end(Self.result(response.status), origin, generation, context) }
      return response
    } catch {
      if !trial.stopReporting() { end(Self.result(error), origin, generation, context) }
      throw error
    }
  }

  @inline(never)  // frame size
  private func admit(_ origin: HTTPURL.Origin, _ context: CallContext) throws -> (generation: UInt64, isTrial: Bool) {
    switch control.admit(origin, rule, at: context.call.timers.now) {
    case .admitted(let generation, let isTrial): return (generation, isTrial)
    case .rejected(let left):
      context.note(.circuitOpen(origin, for: left))
      throw APIError.circuitOpen(origin, for: left)
    }
  }

  @inline(never)  // frame size
  private func end(_ result: Breaker.Result, _ origin: HTTPURL.Origin, _ generation: UInt64, _ context: CallContext) {
    guard control.end(result, origin, of: generation, at: context.call.timers.now) else { return }
    context.plan.log?.info("too many calls to \(origin) failed; new calls are rejected for \(rule.pause)")
  }

  private static func result(_ status: Int) -> Breaker.Result { status >= 500 ? .failure : .success }

  /// Returns the result that the circuit breaker records for an error: a failure of the origin, or a result that says
  /// nothing about the origin.
  static func result(_ error: any Error) -> Breaker.Result {
    switch error {
    case let stopped as CallState.Stopped: stopped.reason == .expired ? .failure : .nothing
    case let failure as TransportFailure: failure.kind.isOfOrigin ? .failure : .nothing
    case let error as APIError where APIError.hasEndedAnotherCall(error): .nothing
    case let error as APIError: error.stage == .deadline ? .failure : error.cause.map(result) ?? .nothing
    default: .nothing
    }
  }
}

extension TransportFailure.Kind {
  /// True if the origin may have caused the failure. False if this device or a limit of the call caused the failure.
  fileprivate var isOfOrigin: Bool {
    switch self {
    case .offline, .proxy, .proxyCredentials, .forbiddenAddress, .clientCertificateRequired, .clientCertificateRefused,
      .sink, .bodySource, .bodyChanged, .unsupported, .tooLarge, .undecodableContent:
      false
    default: true
    }
  }
}

/// Rejects calls to an origin that keeps failing, before the calls wait in the admission queue. See also ``Breaking``.
package struct FailingFast: SelectiveInterceptor {
  private let control: BreakerControl
  private let rule: BreakerRule

  package init(_ control: BreakerControl, _ rule: BreakerRule) {
    self.control = control
    self.rule = rule
  }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isPreparing }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let origin = request.url.origin
    if let left = control.rejectionTime(origin, rule, at: context.call.timers.now) {
      context.note(.circuitOpen(origin, for: left))
      throw APIError.circuitOpen(origin, for: left)
    }
    return try await next(request)
  }
}
