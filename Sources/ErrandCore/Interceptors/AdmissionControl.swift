import ErrandSupport

/// The queue of a client, shared by all its calls.
package final class AdmissionControl: Sendable {
  private let queue: Locked<AdmissionQueue<Wakeup>>

  init(limits: AdmissionLimits) { queue = Locked(AdmissionQueue(limits: limits)) }

  /// The limits in force.
  package var limits: AdmissionLimits { queue.withLock { $0.limits } }

  /// Changes the limits; calls that wait may go on by it. They are read under the lock: of two threads that change
  /// them at the same time, the later one cannot bring the earlier ones back.
  func change(_ limits: () -> AdmissionLimits) {
    queue.withLock { $0.limits = limits() }
    while let next = queue.withLock({ $0.admitNext() }) {
      if !next.waiter.resume() { release(next.host) }
    }
  }

  /// Waits for a slot. Throws, with nothing taken, when the call is stopped.
  func enter(_ host: HTTPURL.Origin, _ context: CallContext) async throws(CallState.Stopped) {
    if queue.withLock({ $0.tryEnter(host) }) { return }
    let start = context.call.timers.now
    defer { context.record.queued(start.duration(to: context.call.timers.now)) }
    var ticket: AdmissionQueue<Wakeup>.Ticket?
    do throws(CallState.Stopped) {
      try await context.call.wait { wakeup in
        ticket = queue.withLock { $0.enter(host, context.call.priority, wakeup) }
        if ticket == nil, !wakeup.resume() { release(host) }
      }
    } catch {
      if let ticket { queue.withLock { $0.leave(ticket) } }
      throw error
    }
  }

  /// Gives a slot back: a grant that is refused goes to the next.
  func release(_ host: HTTPURL.Origin) {
    var host = host
    while let next = queue.withLock({ $0.release(host) }) {
      if next.waiter.resume() { return }
      host = next.host
    }
  }

  /// The exchanges that run and the calls that wait.
  package var counts: (running: Int, waiting: Int) { queue.withLock { ($0.running, $0.waiting) } }
}

/// Holds exchanges back while too many run.
package struct Admitting: Interceptor {
  let control: AdmissionControl

  package init(_ control: AdmissionControl) { self.control = control }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let host = request.url.origin
    try await control.enter(host, context)
    defer { control.release(host) }
    return try await next(request)
  }
}
