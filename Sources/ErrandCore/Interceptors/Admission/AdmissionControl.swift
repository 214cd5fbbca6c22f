import ErrandSupport

/// The admission queue of a client, shared by all its calls.
package final class AdmissionControl: Sendable {
  typealias Queue = AdmissionQueue<WaitingCall>

  private struct State: Sendable {
    var queue: Queue
    var alarms = AdmissionAlarms()
    /// The calls that hold slots now, in the order in which they got them. Only recorded calls are in this list.
    var holders: [(slot: Queue.Slot, call: UInt64)] = []

    /// Takes a slot if one is free, and records that the call holds it.
    mutating func tryEnter(_ origin: HTTPURL.Origin, _ now: MonotonicInstant? = nil, by call: UInt64?) -> Queue.Slot? {
      guard let slot = queue.tryEnter(origin, now) else { return nil }
      hold(slot, by: call)
      return slot
    }

    mutating func hold(_ slot: Queue.Slot, by call: UInt64?) {
      if let call { holders.append((slot, call)) }
    }

    /// Changes the rate of a host as a response asks.
    mutating func learn(_ head: ResponseHead, _ slot: Queue.Slot, since arrival: MonotonicInstant) {
      guard let followsServer = queue.followsServer(slot) else { return }
      queue.learn(ServerPace.decide(head.status, head.fields, followsServer: followsServer), slot, since: arrival)
    }

    mutating func unhold(_ slot: Queue.Slot, by call: UInt64?) {
      guard let call, let place = holders.firstIndex(where: { $0.call == call && $0.slot.host == slot.host }) else {
        return
      }
      holders.remove(at: place)
    }

    /// The reason why a call to an origin cannot get a slot now.
    func shortage(at origin: HTTPURL.Origin, _ now: MonotonicInstant) -> CallDecision.AdmissionShortage {
      queue.shortage(at: origin, now) { slot in
        holders.filter { slot == nil || $0.slot.host == slot?.host }.map(\.call)
      }
    }
  }

  /// Stores the place of a call in the queue. The place is nil before the call waits and after the call has left the
  /// queue.
  private final class Place: Sendable {
    let ticket = Locked<Queue.Ticket?>(nil)
  }

  private let state: Locked<State>

  init(limits: AdmissionLimits) { state = Locked(State(queue: Queue(limits: limits))) }

  package var limits: AdmissionLimits { state.withLock { $0.queue.limits } }

  package var counts: (running: Int, waiting: Int) { state.withLock { ($0.queue.running, $0.queue.waiting) } }

  /// The numbers of running exchanges and of waiting calls at the origins of one host.
  func counts(at host: String) -> (running: Int, waiting: Int) { state.withLock { $0.queue.counts(at: host) } }

  /// Changes the limits, and admits waiting calls that the new limits allow. The closure `limits` runs while the lock
  /// is held. So if two threads change the limits at the same time, the newest limits take effect.
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
    for host in state.withLock({ $0.queue.waitedFor }) { updateTimer(of: host, timers) }
  }

  // MARK: - Entering and leaving

  /// Waits for a slot, which is the permission to run one exchange. If the call is recorded, the slot is recorded as
  /// held by it, so that the record of a call that waits can name the call.
  /// - Throws: ``ErrandHTTP/CallState/Stopped`` if the call is stopped, ``APIError`` if the queue is full. After an
  ///   error the call has no slot.
  func enter(_ origin: HTTPURL.Origin, _ context: CallContext) async throws -> Queue.Slot {
    let call = context.record.flight == nil ? nil : context.info.id
    if let slot = state.withLock({ $0.tryEnter(origin, by: call) }) { return slot }
    let now = context.call.timers.now
    if let slot = state.withLock({ $0.tryEnter(origin, now, by: call) }) { return slot }
    // In a box, so that it does not enlarge the async frame. Nil if the call does not wait.
    var shortage = context.record.flight == nil ? nil : Boxed(state.withLock { $0.shortage(at: origin, now) })
    context.record.beginWait(at: now)
    defer { context.record.endWait(since: now, until: context.call.timers.now, because: shortage) }
    let slot: Queue.Slot
    if isWaitedFor {
      let entered = try await enterBeyond(origin, context.call, now)
      slot = entered.slot
      if !entered.hasWaited { shortage = nil }
    } else {
      switch try await queue(origin, context, now) {
      case .admitted(let free):
        slot = free
        shortage = nil
      case .waits(let ticket): slot = Queue.Slot(host: ticket.host)
      case .full:
        shortage = nil
        throw APIError.queueFull(limits.waiting)
      }
    }
    if call != nil { state.withLock { $0.hold(slot, by: call) } }
    return slot
  }

  /// True if another call waits for the current task. The other call may have a slot for an exchange in this queue. So
  /// the current task must not wait for a slot, because both could wait forever.
  private var isWaitedFor: Bool {
    RefreshControl.isRefreshing || ActiveSlot.current?.isHeld(of: self) == true
  }

  /// Waits only for a token of the rate limit, then takes a slot for an exchange even if all slots are taken.
  private func enterBeyond(
    _ origin: HTTPURL.Origin, _ call: CallState, _ now: MonotonicInstant
  ) async throws -> (slot: Queue.Slot, hasWaited: Bool) {
    var moment = state.withLock { $0.queue.reserveToken(origin, now) }
    var hasWaited = false
    do {
      while true {
        if let moment {
          hasWaited = true
          try await call.sleep(until: moment)
        }
        let now = call.timers.now
        switch state.withLock({ $0.queue.enterBeyond(origin, now) }) {
        case .admitted(let slot): return (slot, hasWaited)
        case .closed(let until): moment = until
        }
      }
    } catch {
      // The timer of the host may be set to a later token than the one that is free now.
      if let host = state.withLock({ $0.queue.giveBackToken(origin) }) { updateTimer(of: host, call.timers) }
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
            let entrance = state.queue.enter(
              origin, owner: context.info.owner, priority, WaitingCall(wakeup: wakeup, context: context), now)
            if case .waits(let ticket) = entrance {
              place.ticket.withLock { $0 = ticket }
              call.whenPriorityChanges { [self, call] _ in follow(ticket, call) }
              // The priority of the call may have changed after it was read above, and before `whenPriorityChanges` was
              // called.
              if call.priority != priority { state.queue.change(ticket, to: call.priority, now) }
            }
            return entrance
          }
          switch entrance {
          case .admitted(let slot): if !wakeup.resume() { release(slot, call.timers, isUnused: true) }
          case .waits(let ticket):
            updateTimer(of: ticket.host, call.timers)
            // The call may have been stopped before it had a ticket, so that the closure above removed nothing.
            if call.isStopped { leave(place, call.timers) }
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

  /// Releases the slot of an exchange, and hands the slot to the next waiting call that has not left the queue.
  ///
  /// - Parameters:
  ///   - isUnused: True if no request was sent with the slot.
  ///   - call: The recorded call that holds the slot; nil if the call is not recorded.
  func release(_ slot: Queue.Slot, _ timers: any Timers, isUnused: Bool = false, by call: UInt64? = nil) {
    let isReleased = state.withLock { state in
      state.unhold(slot, by: call)
      return !isUnused && state.queue.releaseUnlessWaited(slot)
    }
    if isReleased { return }
    let now = timers.now
    let next = state.withLock { $0.queue.release(slot, isUnused: isUnused, now) }
    updateTimer(of: slot.host, timers)
    if let next { hand(next, timers) }
  }

  /// Hands a slot for an exchange to a waiting call. If this call has left the queue or its deadline has passed, the
  /// slot goes to the next waiting call.
  private func hand(_ admission: Queue.Admission, _ timers: any Timers) {
    var admission = admission
    while !admission.waiter.resume() {
      let (slot, now) = (admission.slot, timers.now)
      let next = state.withLock { $0.queue.release(slot, isUnused: true, now) }
      updateTimer(of: slot.host, timers)
      guard let next else { return }
      admission = next
    }
    updateTimer(of: admission.slot.host, timers)
  }

  /// Removes a call from the queue if the call still waits. When a call is stopped, this method runs on the thread that
  /// stops the call. So the removal is not delayed while the executor of the call is busy.
  private func leave(_ place: Place, _ timers: any Timers) {
    guard let ticket = place.ticket.withLock({ $0.take() }) else { return }
    state.withLock { $0.queue.leave(ticket) }
    updateTimer(of: ticket.host, timers)
  }

  // MARK: - While waiting

  private func follow(_ ticket: Queue.Ticket, _ call: CallState) {
    let now = call.timers.now
    // The priority is read under the lock, so that the later of two concurrent changes takes effect.
    state.withLock { $0.queue.change(ticket, to: call.priority, now) }
  }

  // MARK: - Rates

  /// Whether the responses of the host of a slot limit the requests, see ``HostRate/followsServer``.
  func followsServer(_ slot: Queue.Slot) -> Bool { state.withLock { $0.queue.followsServer(slot) == true } }

  /// Changes the rate of a host as its response asks, see ``ServerPace``. Does nothing for a host without a rate limit.
  /// The caller then releases the slot, which admits waiting calls.
  func learn(from response: HTTPResponse, _ slot: Queue.Slot, _ timers: any Timers) {
    guard state.withLock({ $0.queue.followsServer(slot) }) != nil else { return }
    // The times count from the head of the response, which a long body may follow.
    let body = response.metrics.total.flatMap { total in response.metrics.firstByte.map { max(.zero, total - $0) } }
    let arrival = timers.now.advanced(by: .zero - (body ?? .zero))
    state.withLock { $0.learn(response.head, slot, since: arrival) }
  }

  /// Changes the rate of a host when response headers arrive, before the body. Admits waiting calls that the response
  /// allows. The caller later releases the slot as answered.
  func headersArrived(_ head: ResponseHead, _ slot: Queue.Slot, _ timers: any Timers) {
    let now = timers.now
    state.withLock { state in
      state.learn(head, slot, since: now)
      state.queue.countAnswered(slot)
    }
    updateTimer(of: slot.host, timers)
  }

  /// Sets or removes the timer that admits waiting calls of a host when the next token of the host's rate limit is
  /// available.
  private func updateTimer(of host: Int, _ timers: any Timers) {
    let now = timers.now
    let order = state.withLock { state in
      state.alarms.update(host, state.queue.wake(at: host, now), timers)
    }
    guard let order else { return }
    order.cancels?.cancel()
    guard let alarm = order.sets else { return }
    let token = timers.schedule(at: alarm.moment) { [weak self] in self?.fire(alarm, host) }
    if !state.withLock({ $0.alarms.keep(token, alarm, for: host) }) { timers.cancel(token) }
  }

  private func fire(_ alarm: AdmissionAlarms.Alarm, _ host: Int) {
    guard state.withLock({ $0.alarms.take(alarm, for: host) }) else { return }
    let now = alarm.timers.now
    while let next = state.withLock({ $0.queue.admitNext(at: host, now) }) { hand(next, alarm.timers) }
    updateTimer(of: host, alarm.timers)
  }
}

struct WaitingCall: Sendable {
  let wakeup: Wakeup
  let context: CallContext

  /// Ends the wait, so that the call uses its slot. Returns false if the call has left the queue. A call whose deadline
  /// has passed is stopped and so leaves: the timers of many deadlines fire one after another, and a call whose timer
  /// is not the first must not be sent in the meantime. The deadline is compared with the clock of this call, which may
  /// differ from that of the call that releases the slot.
  func resume() -> Bool {
    context.expire(at: context.call.timers.now)
    return wakeup.resume()
  }
}

/// The timers of an admission queue, at most one for each host. A timer fires when the rate limit of its host has a new
/// token, and the queue then admits a waiting call. This type only decides which timers are needed. The caller
/// schedules and cancels the timers.
struct AdmissionAlarms: Sendable {
  /// The timer of one host. The timer is scheduled already, or the caller is about to schedule it.
  struct Alarm: Sendable {
    fileprivate let number: UInt64
    let moment: MonotonicInstant
    let timers: any Timers
    /// Identifies the scheduled timer, so that the timer can be cancelled; nil until the timer is scheduled.
    fileprivate(set) var token: TimerToken?

    /// Cancels the timer if it is scheduled already. Otherwise another thread is about to schedule the timer. That
    /// thread cancels the timer itself, because ``AdmissionAlarms/keep(_:_:for:)`` returns false for this alarm.
    func cancel() {
      if let token { timers.cancel(token) }
    }
  }

  /// The timer that the caller must cancel, and the timer that the caller must schedule. The caller does both after it
  /// has released its lock.
  struct Order: Sendable {
    var cancels: Alarm?
    var sets: Alarm?
  }

  private var alarms: [Int: Alarm] = [:]
  private var last: UInt64 = 0

  /// Makes sure that the alarm of a host fires no later than `moment`. If `moment` is nil, removes the alarm. Returns
  /// the timers that the caller must change; nil if no timer changes.
  mutating func update(_ host: Int, _ moment: MonotonicInstant?, _ timers: any Timers) -> Order? {
    guard let moment else {
      return alarms.isEmpty ? nil : alarms.removeValue(forKey: host).map { Order(cancels: $0) }
    }
    if let present = alarms[host], present.moment <= moment { return nil }
    last &+= 1
    let alarm = Alarm(number: last, moment: moment, timers: timers)
    return Order(cancels: alarms.updateValue(alarm, forKey: host), sets: alarm)
  }

  /// Stores the token of a timer that was scheduled. Returns false if the alarm has already fired, or was removed or
  /// replaced.
  mutating func keep(_ token: TimerToken, _ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host]?.token = token
    return true
  }

  /// Removes an alarm whose timer has fired. Returns false if the alarm was already removed or replaced.
  mutating func take(_ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host] = nil
    return true
  }
}
