/// Delays exchanges while too many run.
package struct Admitting: SelectiveInterceptor {
  private let control: AdmissionControl

  package init(_ control: AdmissionControl) { self.control = control }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isStamping }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let pass = try await control.enter(request.url.origin, context)
    return try await admitted(pass, request, context, next)
  }

  /// In its own function so that its locals do not grow the async frame of a call that waits for a slot.
  @inline(never)  // frame size
  private func admitted(
    _ pass: AdmissionControl.Queue.Pass, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let timers = context.call.timers
    defer { control.release(pass, timers) }
    let response = try await next(request)
    if response.status == 429 { control.learn(from: response, pass, timers) }
    return response
  }
}
