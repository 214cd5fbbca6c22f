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
    let isRecorded = context.record.flight != nil
    defer {
      if isRecorded { control.unhold(slot, by: context.info.id) }
      control.release(slot, timers)
    }
    let response = try await next(Self.prioritized(request, context.call.priority))
    if response.status == 429 || response.status == 503 || response.fields.contains("RateLimit") {
      control.learn(from: response, slot, timers)
    }
    return response
  }

  /// The request with the priority of the call, unless the request has a field `Priority` (RFC 9218 section 5). The
  /// priority is read for each exchange, because it may change while the call waits. Interceptors of the app follow, so
  /// that they can sign the field.
  private static func prioritized(_ request: HTTPRequest, _ priority: CallPriority) -> HTTPRequest {
    guard let value = priority.fieldValue, !request.fields.contains("Priority") else { return request }
    var request = request
    request.fields.append(HTTPField("Priority", value))
    return request
  }
}
