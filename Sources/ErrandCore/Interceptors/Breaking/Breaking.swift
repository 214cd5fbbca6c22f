/// Refuses exchanges with an origin that keeps failing, and watches what comes of the others. It stands below Admitting,
/// so that calls that waited are refused, too, when their turn comes.
package struct Breaking: SelectiveStation {
  private let control: BreakerControl
  private let rule: BreakerRule

  package init(_ control: BreakerControl, _ rule: BreakerRule) {
    self.control = control
    self.rule = rule
  }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isStamping }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let round = try enter(request.url.origin, context)
    do {
      let response = try await next(request)
      end(response.status >= 500 ? .failure : .success, request.url.origin, round, context)
      return response
    } catch {
      end(Self.result(error), request.url.origin, round, context)
      throw error
    }
  }

  @inline(never)
  private func enter(_ origin: HTTPURL.Origin, _ context: CallContext) throws -> UInt64 {
    switch control.enter(origin, rule, at: context.call.timers.now) {
    case .pass(let round): return round
    case .refused(let left): throw APIError.circuitOpen(origin, for: left)
    }
  }

  @inline(never)
  private func end(_ result: Breaker.Result, _ origin: HTTPURL.Origin, _ round: UInt64, _ context: CallContext) {
    guard control.end(result, origin, of: round, at: context.call.timers.now) else { return }
    context.plan.log?.info("\(origin) fails too often and is left alone for \(rule.pause)")
  }

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
