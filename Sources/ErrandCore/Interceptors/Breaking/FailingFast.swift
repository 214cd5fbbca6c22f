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
      throw APIError.circuitOpen(origin, for: left)
    }
    return try await next(request)
  }
}
