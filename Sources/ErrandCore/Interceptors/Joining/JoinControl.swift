import ErrandSupport

/// The shared exchanges of a client, in one table. All calls of the client use this table, even if the configuration of
/// the client changes. So a request with an unsafe method can close all older exchanges, and no later call joins them.
package final class JoinControl: Sendable {
  typealias Table = JoinTable<JoinKey, SharedExchange, Wakeup>

  private let table = Locked(Table())

  /// Adds a call to a shared exchange, before the call waits for the exchange. From this moment the call receives
  /// progress by its ``ReportGate``, and its deadline counts for the exchange.
  func join(
    _ key: JoinKey, at origin: HTTPURL.Origin, _ wakeup: Wakeup, _ priority: CallPriority, _ timers: any Timers,
    _ gate: ReportGate?
  ) -> Table.Membership {
    let membership = table.withLock { table in
      let membership = table.join(key, at: origin, wakeup, priority) {
        SharedExchange(of: key.context, priority: priority, timers: timers)
      }
      // Under the lock of the table, so that the exchange knows the deadline of each call that waits for it.
      membership.exchange.serve(membership.member, key.context.call)
      if let gate { membership.exchange.add(gate) }
      return membership
    }
    if membership.priority != nil { updatePriority(membership.member.exchange, membership.exchange) }
    return membership
  }

  /// Removes a waiting call from its shared exchange. If no other call waits, the exchange is stopped with the given
  /// reason, and the next equal call starts a new exchange.
  func leave(_ member: Table.MemberID, _ reason: CallState.StopReason, _ request: HTTPRequest) {
    let departure = table.withLock { table in
      let departure = table.leave(member)
      // Under the lock of the table, so that the exchange does not know the deadline of a call that has left.
      departure?.exchange.forget(member)
      return departure
    }
    guard let departure else { return }
    if departure.isLast {
      departure.exchange.state.stop(reason)
      close(after: request)
    }
    if departure.priority != nil { updatePriority(member.exchange, departure.exchange) }
  }

  func change(_ member: Table.MemberID, to priority: CallPriority) {
    if let change = table.withLock({ $0.change(member, to: priority) }) {
      updatePriority(member.exchange, change.exchange)
    }
  }

  /// Gives a shared exchange the highest priority of its waiting calls. The priority is read again after each change,
  /// so that the later of two concurrent changes takes effect.
  private func updatePriority(_ id: Table.ExchangeID, _ exchange: SharedExchange) {
    while let priority = table.withLock({ $0.priority(of: id) }), priority != exchange.state.priority {
      exchange.state.change(priority: priority)
    }
  }

  /// Removes a shared exchange that has ended, and resumes the calls that wait for it.
  func finish(_ id: Table.ExchangeID) {
    let (initiator, others) = table.withLock { $0.finish(id) }
    initiator?.resume()
    for waiter in others { waiter.resume() }
  }

  /// Closes the shared exchanges with the request's origin if the method of the request is unsafe, so that later calls
  /// do not join them. The request may have changed data at the origin, even if the request failed. So later calls need
  /// an exchange that starts after the request.
  func close(after request: HTTPRequest) {
    if !request.method.isSafe { table.withLock { $0.close(request.url.origin) } }
  }

  /// Stops the calls of a shared exchange whose deadline has passed, even if the timers of their deadlines have not
  /// fired yet. These calls leave the exchange.
  /// - Returns: False if no running call waits any more. The exchange is then closed, and the caller must stop it.
  func expireCalls(of id: Table.ExchangeID, _ exchange: SharedExchange, at now: MonotonicInstant) -> Bool {
    for call in exchange.calls { call.expire(at: now) }
    if exchange.hasRunningCall { return true }
    return table.withLock { table in
      // Under the lock of the table, so that no call joins an exchange that the caller is about to stop.
      if exchange.hasRunningCall { return true }
      table.close(id)
      return false
    }
  }

  /// Splits a shared exchange whose response may reach only one call. The first waiting call keeps the exchange, which
  /// gets the priority of this call. All other waiting calls send their requests separately.
  func split(_ id: Table.ExchangeID, _ exchange: SharedExchange) {
    let split = table.withLock { table in
      let split = table.split(id)
      // Under the lock of the table, so that the exchange always knows which calls the table has separated.
      if let split { exchange.reserve(for: split.stays) }
      return split
    }
    guard let split else { return }
    for waiter in split.others { waiter.resume() }
    updatePriority(id, exchange)
  }

  /// The numbers of shared exchanges and of calls that wait for them.
  package var counts: (exchanges: Int, waiting: Int) { table.withLock { ($0.count, $0.waiting) } }

  /// True if all shared exchanges have ended, even those for which no call waits any more.
  package var isIdle: Bool { table.withLock { $0.isIdle } }
}
