/// Holds exchanges back while too many run.
package struct Admitting: SelectiveStation {
  private let control: AdmissionControl

  package init(_ control: AdmissionControl) { self.control = control }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isStamping }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let pass = try await control.enter(request.url.origin, context)
    return try await admitted(pass, request, context, next)
  }

  /// Apart, so that a call that waits for its turn holds no room for it.
  @inline(never)
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
