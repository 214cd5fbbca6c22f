import ErrandSupport

/// Refuses exchanges with an origin that keeps failing, and watches what comes of the others. It stands below
/// Admitting, so that calls that waited are refused, too, when their turn comes.
package struct Breaking: SelectiveStation {
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

  /// A trial whose body goes elsewhere while it comes: its head is the word on it.
  @inline(never)
  private func tried(
    _ request: HTTPRequest, into sink: any BodySink, _ round: UInt64, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let origin = request.url.origin
    let trial = TrialSink(sink) { status in end(Self.result(status), origin, round, context) }
    do {
      let response = try await next(request, in: context.with(sink: trial, onProgress: context.onProgress))
      if !trial.hasTold { end(Self.result(response.status), origin, round, context) }
      return response
    } catch {
      if !trial.hasTold { end(Self.result(error), origin, round, context) }
      throw error
    }
  }

  @inline(never)
  private func enter(_ origin: HTTPURL.Origin, _ context: CallContext) throws -> (round: UInt64, isTrial: Bool) {
    switch control.enter(origin, rule, at: context.call.timers.now) {
    case .pass(let round, let isTrial): return (round, isTrial)
    case .refused(let left): throw APIError.circuitOpen(origin, for: left)
    }
  }

  @inline(never)
  private func end(_ result: Breaker.Result, _ origin: HTTPURL.Origin, _ round: UInt64, _ context: CallContext) {
    guard control.end(result, origin, of: round, at: context.call.timers.now) else { return }
    context.plan.log?.info("\(origin) fails too often and is left alone for \(rule.pause)")
  }

  private static func result(_ status: Int) -> Breaker.Result { status >= 500 ? .failure : .success }

  /// What an error says about the origin.
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
  /// Whether it says something about the origin: not what lies on this side, and not what this call alone asked for.
  fileprivate var isOfOrigin: Bool {
    switch self {
    case .offline, .proxy, .proxyCredentials, .forbiddenAddress, .clientCertificateRequired, .clientCertificateRefused,
      .sink, .bodySource, .bodyChanged, .unsupported, .tooLarge, .undecodableContent:
      false
    default: true
    }
  }
}

/// Hands a body on, and tells the status of the answer as soon as that is there: the body of a trial may take longer
/// than a circuit waits for the word on it.
final class TrialSink: BodySink {
  private let inner: any BodySink
  private let tell: @Sendable (Int) -> Void
  private let told = Locked(false)

  init(_ inner: any BodySink, tell: @escaping @Sendable (Int) -> Void) {
    self.inner = inner
    self.tell = tell
  }

  /// Whether the status has been told.
  var hasTold: Bool { told.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    told.withLock { $0 = true }
    tell(head.status)
    return try inner.begin(head, flow: flow)
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}
