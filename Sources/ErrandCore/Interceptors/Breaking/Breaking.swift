import ErrandSupport

/// Rejects exchanges with an origin that keeps failing, and records the results of all other exchanges. This
/// interceptor runs after ``Admitting``. So a call is also rejected if its origin began to fail while the call waited
/// in the admission queue.
package struct Breaking: SelectiveInterceptor {
  private let control: BreakerControl
  private let rule: BreakerRule
  private let admission: AdmissionControl

  /// Makes the interceptor.
  /// - Parameter admission: The queue whose slots show that a call is sent for another exchange with the same origin.
  package init(_ control: BreakerControl, _ rule: BreakerRule, _ admission: AdmissionControl) {
    self.control = control
    self.rule = rule
    self.admission = admission
  }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isPreparing }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let ticket = try admit(request.url.origin, context)
    if ticket.isTrial, let sink = context.sink { return try await tried(request, into: sink, ticket, context, next) }
    do {
      let response = try await next(request)
      end(Self.result(response.status), request.url.origin, ticket.generation, context)
      return response
    } catch {
      end(error, of: request, ticket, context)
      throw error
    }
  }

  /// The admission of an exchange.
  private struct Ticket {
    let generation: UInt64
    let isTrial: Bool
    /// The moment of the admission, from which the exchange could be sent.
    let moment: MonotonicInstant
  }

  /// Sends a trial: a request that tests whether the origin has recovered. The response body is streamed to a sink. The
  /// result of the trial depends only on the status in the response headers.
  @inline(never)  // frame size
  private func tried(
    _ request: HTTPRequest, into sink: any BodySink, _ ticket: Ticket, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let (origin, generation) = (request.url.origin, ticket.generation)
    let trial = HeadSink(sink) { head in end(Self.result(head.status), origin, generation, context) }
    do {
      let response = try await next(request, in: context.with { $0.sink = trial })
      if !trial.stopReporting() { end(Self.result(response.status), origin, generation, context) }
      return response
    } catch {
      if !trial.stopReporting() { end(error, of: request, ticket, context) }
      throw error
    }
  }

  @inline(never)  // frame size
  private func admit(_ origin: HTTPURL.Origin, _ context: CallContext) throws -> Ticket {
    let now = context.call.timers.now
    switch control.admit(origin, rule, at: now, isNested: ActiveSlot.isHeld(of: admission, at: origin)) {
    case .admitted(let generation, let isTrial):
      return Ticket(generation: generation, isTrial: isTrial, moment: now)
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

  /// Records the error of an exchange. If the deadline of the call cut the exchange off, it counts only if the server
  /// had enough time.
  @inline(never)  // frame size
  private func end(_ error: any Error, of request: HTTPRequest, _ ticket: Ticket, _ context: CallContext) {
    let result = Self.result(error) {
      CutOffExchange(request, since: ticket.moment, context, at: context.call.timers.now)
    }
    end(result, request.url.origin, ticket.generation, context)
  }

  private static func result(_ status: Int) -> Breaker.Result { status >= 500 ? .failure : .success }

  /// Returns the result that the circuit breaker records for an error: a failure of the origin, or a result that says
  /// nothing about the origin.
  ///
  /// - Parameter cutOff: Returns the facts about the exchange if the deadline of the call ended it.
  private static func result(_ error: any Error, _ cutOff: () -> CutOffExchange) -> Breaker.Result {
    if CutOffExchange.isDeadline(error) { return cutOff().isFailureOfServer ? .failure : .nothing }
    switch error {
    case let failure as TransportFailure: return failure.kind.isOfOrigin ? .failure : .nothing
    case let error as APIError where !APIError.hasEndedAnotherCall(error):
      return error.cause.map { result($0, cutOff) } ?? .nothing
    default: return .nothing
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
  private let admission: AdmissionControl

  /// Makes the interceptor.
  /// - Parameter admission: The queue whose slots show that a call is sent for another exchange with the same origin.
  package init(_ control: BreakerControl, _ rule: BreakerRule, _ admission: AdmissionControl) {
    self.control = control
    self.rule = rule
    self.admission = admission
  }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isPreparing }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let origin = request.url.origin
    let isNested = ActiveSlot.isHeld(of: admission, at: origin)
    if let left = control.rejectionTime(origin, rule, at: context.call.timers.now, isNested: isNested) {
      context.note(.circuitOpen(origin, for: left))
      throw APIError.circuitOpen(origin, for: left)
    }
    return try await next(request)
  }
}
