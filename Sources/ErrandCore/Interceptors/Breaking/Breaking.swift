import ErrandSupport

/// Rejects exchanges with an origin that keeps failing, and records the results of all other exchanges. It runs after
/// ``Admitting``. So a call is also rejected if its origin began to fail while the call waited in the queue.
package struct Breaking: SelectiveInterceptor {
  private let control: BreakerControl
  private let rule: BreakerRule

  package init(_ control: BreakerControl, _ rule: BreakerRule) {
    self.control = control
    self.rule = rule
  }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isStamping }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let (round, isTrial) = try enter(request.url.origin, context)
    if isTrial, let sink = context.sink { return try await tried(request, into: sink, round, context, next) }
    do {
      let response = try await next(request)
      end(Self.result(response.status), request.url.origin, round, context)
      return response
    } catch {
      end(Self.result(error), request.url.origin, round, context)
      throw error
    }
  }

  /// Sends a trial whose response body is streamed to a sink. The response headers decide the result of the trial.
  @inline(never)  // frame size
  private func tried(
    _ request: HTTPRequest, into sink: any BodySink, _ round: UInt64, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let origin = request.url.origin
    let trial = TrialSink(sink) { status in end(Self.result(status), origin, round, context) }
    do {
      let response = try await next(request, in: context.with(sink: trial, onProgress: context.onProgress))
      if !trial.hasReported { end(Self.result(response.status), origin, round, context) }
      return response
    } catch {
      if !trial.hasReported { end(Self.result(error), origin, round, context) }
      throw error
    }
  }

  @inline(never)  // frame size
  private func enter(_ origin: HTTPURL.Origin, _ context: CallContext) throws -> (round: UInt64, isTrial: Bool) {
    switch control.enter(origin, rule, at: context.call.timers.now) {
    case .pass(let round, let isTrial): return (round, isTrial)
    case .refused(let left): throw APIError.circuitOpen(origin, for: left)
    }
  }

  @inline(never)  // frame size
  private func end(_ result: Breaker.Result, _ origin: HTTPURL.Origin, _ round: UInt64, _ context: CallContext) {
    guard control.end(result, origin, of: round, at: context.call.timers.now) else { return }
    context.plan.log?.info("\(origin) fails too often; requests to it are rejected for \(rule.pause)")
  }

  private static func result(_ status: Int) -> Breaker.Result { status >= 500 ? .failure : .success }

  /// Whether an error counts as a failure of the origin.
  static func result(_ error: any Error) -> Breaker.Result {
    switch error {
    case let stopped as CallState.Stopped: stopped.reason == .expired ? .failure : .nothing
    case let failure as TransportFailure: failure.kind.isOfOrigin ? .failure : .nothing
    case let error as APIError: error.stage == .deadline ? .failure : error.cause.map(result) ?? .nothing
    default: .nothing
    }
  }
}

extension TransportFailure.Kind {
  /// False if this device or a limit of the call caused the failure. Such a failure says nothing about the origin.
  fileprivate var isOfOrigin: Bool {
    switch self {
    case .offline, .proxy, .proxyCredentials, .forbiddenAddress, .clientCertificateRequired, .clientCertificateRefused,
      .sink, .bodySource, .bodyChanged, .unsupported, .tooLarge, .undecodableContent:
      false
    default: true
    }
  }
}

/// Forwards a response body to another sink, and reports the status as soon as the response headers arrive. The body of
/// a trial may take longer than the circuit breaker waits for the result.
final class TrialSink: BodySink {
  private let inner: any BodySink
  private let report: @Sendable (Int) -> Void
  private let reported = Locked(false)

  init(_ inner: any BodySink, report: @escaping @Sendable (Int) -> Void) {
    self.inner = inner
    self.report = report
  }

  /// Whether the status has been reported.
  var hasReported: Bool { reported.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    reported.withLock { $0 = true }
    report(head.status)
    return try inner.begin(head, flow: flow)
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}
