import ErrandSupport

/// The admission queue of a client, shared by all its calls.
package final class AdmissionControl: Sendable {
  typealias Queue = AdmissionQueue<Wakeup>

  private struct State: Sendable {
    var queue: Queue
    var alarms = AdmissionAlarms()
  }

  /// The queue position of a call; nil before the call waits and after the call has left the queue.
  private final class Place: Sendable {
    let ticket = Locked<Queue.Ticket?>(nil)
  }

  private let state: Locked<State>

  init(limits: AdmissionLimits) { state = Locked(State(queue: Queue(limits: limits))) }

  /// The current limits.
  package var limits: AdmissionLimits { state.withLock { $0.queue.limits } }

  /// The numbers of running exchanges and of waiting calls.
  package var counts: (running: Int, waiting: Int) { state.withLock { ($0.queue.running, $0.queue.waiting) } }

  /// The numbers of running exchanges and of waiting calls at the origins of one host.
  func counts(at host: String) -> (running: Int, waiting: Int) { state.withLock { $0.queue.counts(at: host) } }

  /// Changes the limits, and admits waiting calls that the new limits allow. `limits` is called under the lock: if two
  /// threads change the limits at the same time, the later one cannot restore older limits.
  func change(_ timers: any Timers, _ limits: () -> AdmissionLimits) {
    let now = timers.now
    let hasChanged = state.withLock { state in
      let limits = limits()
      guard limits != state.queue.limits else { return false }
      state.queue.change(limits, now)
      return true
    }
    guard hasChanged else { return }
    while let next = state.withLock({ $0.queue.admitNext(now) }) { hand(next, timers) }
    for host in state.withLock({ $0.queue.waitedFor }) { tend(host, timers) }
  }

  // MARK: - Entering and leaving

  /// Waits for a slot.
  /// - Throws: ``ErrandHTTP/CallState/Stopped`` if the call is stopped, ``APIError`` if the queue is full. After an
  ///   error the call has no slot.
  func enter(_ origin: HTTPURL.Origin, _ context: CallContext) async throws -> Queue.Pass {
    if let pass = state.withLock({ $0.queue.tryEnter(origin) }) { return pass }
    let now = context.call.timers.now
    if let pass = state.withLock({ $0.queue.tryEnter(origin, now) }) { return pass }
    context.record.queues(since: now)
    defer { context.record.queued(since: now, until: context.call.timers.now) }
    if isWaitedFor { return try await enterBeyond(origin, context.call, now) }
    switch try await queue(origin, context, now) {
    case .admitted(let pass): return pass
    case .waits(let ticket): return Queue.Pass(host: ticket.host)
    case .full: throw APIError.queueFull(limits.waiting)
    }
  }

  /// True if another call, which may have a slot in this queue, waits for the current task. The current task must not
  /// wait for that slot.
  private var isWaitedFor: Bool {
    RefreshControl.isRefreshing || HeldSlot.present?.isHeld(of: self) == true
  }

  /// Waits only for a rate token, then takes a slot even if all slots are taken.
  private func enterBeyond(
    _ origin: HTTPURL.Origin, _ call: CallState, _ now: MonotonicInstant
  ) async throws -> Queue.Pass {
    var moment = state.withLock { $0.queue.reserveToken(origin, now) }
    do {
      while true {
        if let moment { try await call.sleep(until: moment) }
        let now = call.timers.now
        switch state.withLock({ $0.queue.enterBeyond(origin, now) }) {
        case .admitted(let pass): return pass
        case .closed(let until): moment = until
        }
      }
    } catch {
      state.withLock { $0.queue.giveBackToken(origin) }
      throw error
    }
  }

  private func queue(
    _ origin: HTTPURL.Origin, _ context: CallContext, _ now: MonotonicInstant
  ) async throws(CallState.Stopped) -> Queue.Entrance {
    let call = context.call
    var entrance = Queue.Entrance.full
    let place = Place()
    defer { call.whenPriorityChanges(nil) }
    do throws(CallState.Stopped) {
      try await call.whileAsking({ [self] _ in leave(place, call.timers) }) { () throws(CallState.Stopped) in
        try await call.wait { wakeup in
          entrance = state.withLock { state in
            let priority = call.priority
            let entrance = state.queue.enter(origin, owner: context.info.owner, priority, wakeup, now)
            if case .waits(let ticket) = entrance {
              call.whenPriorityChanges { [self, call] _ in follow(ticket, call) }
              // The priority may have changed before the listener was installed.
              if call.priority != priority { state.queue.change(ticket, to: call.priority, now) }
            }
            return entrance
          }
          switch entrance {
          case .admitted(let pass): if !wakeup.resume() { release(pass, call.timers, isUnused: true) }
          case .waits(let ticket):
            place.ticket.withLock { $0 = ticket }
            tend(ticket.host, call.timers)
          case .full: wakeup.resume()
          }
        }
      }
    } catch {
      leave(place, call.timers)
      throw error
    }
    return entrance
  }

  /// Releases a slot and hands the slot to the next waiting call that has not left the queue.
  ///
  /// - Parameter isUnused: True if no request was sent with the slot.
  func release(_ pass: Queue.Pass, _ timers: any Timers, isUnused: Bool = false) {
    if !isUnused, state.withLock({ $0.queue.releaseUnlessWaited(pass) }) { return }
    let now = timers.now
    let next = state.withLock { $0.queue.release(pass, isUnused: isUnused, now) }
    tend(pass.host, timers)
    if let next { hand(next, timers) }
  }

  /// Hands a slot to a waiting call. If this call has left the queue, the slot goes to the next waiting call.
  private func hand(_ grant: Queue.Grant, _ timers: any Timers) {
    var grant = grant
    while !grant.waiter.resume() {
      let (pass, now) = (grant.pass, timers.now)
      let next = state.withLock { $0.queue.release(pass, isUnused: true, now) }
      tend(pass.host, timers)
      guard let next else { return }
      grant = next
    }
    tend(grant.pass.host, timers)
  }

  /// Removes a call from the queue if the call still waits. This is done directly when the call is stopped. The call
  /// itself could do it only later, because its executor may be busy for a long time.
  private func leave(_ place: Place, _ timers: any Timers) {
    guard let ticket = place.ticket.withLock({ $0.take() }) else { return }
    state.withLock { $0.queue.leave(ticket) }
    tend(ticket.host, timers)
  }

  // MARK: - While waiting

  private func follow(_ ticket: Queue.Ticket, _ call: CallState) {
    let now = call.timers.now
    // The priority is read under the lock, so that the later of two concurrent changes takes effect.
    state.withLock { $0.queue.change(ticket, to: call.priority, now) }
  }

  // MARK: - Rates

  /// Sends nothing to a host with a rate limit until the host's `Retry-After` has passed, for at most one hour.
  func learn(from answer: HTTPResponse, _ pass: Queue.Pass, _ timers: any Timers) {
    guard state.withLock({ $0.queue.isRated(pass) }), let delay = RetryAfter.delay(in: answer.fields) else { return }
    let moment = timers.now.advanced(by: min(delay, .seconds(3_600)))
    state.withLock { $0.queue.close(pass, until: moment) }
  }

  /// Sets or removes the timer that admits waiting calls of a host when the host's next rate token is available.
  private func tend(_ host: Int, _ timers: any Timers) {
    let now = timers.now
    let order = state.withLock { state in
      state.alarms.tend(host, state.queue.wake(at: host, now), timers)
    }
    guard let order else { return }
    order.cancels?.cancel()
    guard let alarm = order.sets else { return }
    let token = timers.schedule(at: alarm.moment) { [weak self] in self?.goOff(alarm, host) }
    if !state.withLock({ $0.alarms.keep(token, alarm, for: host) }) { timers.cancel(token) }
  }

  private func goOff(_ alarm: AdmissionAlarms.Alarm, _ host: Int) {
    guard state.withLock({ $0.alarms.take(alarm, for: host) }) else { return }
    let now = alarm.timers.now
    while let next = state.withLock({ $0.queue.admitNext(at: host, now) }) { hand(next, alarm.timers) }
    tend(host, alarm.timers)
  }
}
