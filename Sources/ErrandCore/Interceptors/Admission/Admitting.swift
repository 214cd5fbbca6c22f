/// Delays an exchange while too many other exchanges run, see ``AdmissionLimits``.
package struct Admitting: SelectiveInterceptor {
  private let control: AdmissionControl

  package init(_ control: AdmissionControl) { self.control = control }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isPreparing }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let slot = try await control.enter(request.url.origin, context)
    return try await admitted(slot, request, context, next)
  }

  /// This function is separate, so that its local variables do not enlarge the async frame of a call that waits for a
  /// slot.
  @inline(never)  // frame size
  private func admitted(
    _ slot: AdmissionControl.Queue.Slot, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let timers = context.call.timers
    defer { control.release(slot, timers) }
    let response = try await next(request)
    if response.status == 429 { control.learn(from: response, slot, timers) }
    return response
  }
}
