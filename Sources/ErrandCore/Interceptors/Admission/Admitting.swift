/// Delays an exchange while too many other exchanges run, see ``AdmissionLimits``.
package struct Admitting: SelectiveInterceptor {
  private let control: AdmissionControl

  package init(_ control: AdmissionControl) { self.control = control }

  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { !context.plan.isPreparing }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let slot = try await enter(request, context)
    if context.sink != nil, control.followsServer(slot) { return try await streamed(slot, request, context, next) }
    do {
      let response = try await next(Self.prioritized(request, context.call.priority))
      learn(from: response, slot, context)
      return response
    } catch {
      leave(slot, after: error, context)
      throw error
    }
  }

  // The following functions are separate, so that their local variables do not enlarge the async frame of a call that
  // waits for a slot or a response.

  @inline(never)  // frame size
  private func enter(_ request: HTTPRequest, _ context: CallContext) async throws -> AdmissionControl.Queue.Slot {
    try await control.enter(request.url.origin, context)
  }

  @inline(never)  // frame size
  private func learn(
    from response: HTTPResponse, _ slot: AdmissionControl.Queue.Slot, _ context: CallContext
  ) {
    control.learn(from: response, slot, context.call.timers)
    leave(slot, context)
  }

  /// Runs an exchange whose response body goes to a sink, with a host whose rate follows the server. The queue learns
  /// from the response headers when they arrive, because the body may take very long.
  @inline(never)  // frame size
  private func streamed(
    _ slot: AdmissionControl.Queue.Slot, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let timers = context.call.timers
    let watched = context.sink.map { sink in
      HeadSink(sink) { [control] head in control.headersArrived(head, slot, timers) }
    }
    let request = Self.prioritized(request, context.call.priority)
    let result = await Result<HTTPResponse, any Error>.catching {
      try await next(request, in: context.with { $0.sink = watched })
    }
    let isAnswered = watched?.stopReporting() == true
    var error: (any Error)?
    switch result {
    case .success(let response): if !isAnswered { control.learn(from: response, slot, timers) }
    case .failure(let failure): error = failure
    }
    leave(slot, isAnswered: isAnswered, after: error, context)
    return try result.get()
  }

  /// Releases the slot. If no request of the call was sent, for example because the call was stopped before, the
  /// exchange takes no token of the rate limit. The same applies if the circuit breaker has rejected the request, so
  /// that the calls that wait behind it are rejected at once.
  @inline(never)  // frame size
  private func leave(
    _ slot: AdmissionControl.Queue.Slot, isAnswered: Bool = false, after error: (any Error)? = nil,
    _ context: CallContext
  ) {
    var slot = slot
    slot.isAnswered = isAnswered
    let isUnused = error.map { APIError.isRefusal($0) || context.record.begun == nil } ?? false
    control.release(
      slot, context.call.timers, isUnused: isUnused, by: context.record.flight == nil ? nil : context.info.id)
  }

  /// The request with the priority of the call, unless the request has a field `Priority` (RFC 9218 section 5). The
  /// priority is read for each exchange, because it may change while the call waits. Interceptors of the app follow, so
  /// that they can sign the field.
  @inline(never)  // frame size
  private static func prioritized(_ request: HTTPRequest, _ priority: CallPriority) -> HTTPRequest {
    guard let value = priority.fieldValue, !request.fields.contains("Priority") else { return request }
    var request = request
    request.fields.append(HTTPField("Priority", value))
    return request
  }
}
