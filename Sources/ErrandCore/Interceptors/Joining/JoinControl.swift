import ErrandSupport

/// The shared exchanges of a client, called *flights* in the code. All calls of the client use one table, whatever
/// configuration they started with. So after an unsafe request of any call, no later call joins an older exchange.
package final class JoinControl: Sendable {
  typealias Table = JoinTable<JoinKey, JoinFlight, Wakeup>

  private let table = Locked(Table())

  /// Adds a call to a shared exchange, before the call waits for it. From then on the call's listener receives progress.
  func join(
    _ key: JoinKey, at origin: HTTPURL.Origin, _ wakeup: Wakeup, _ priority: CallPriority, _ timers: any Timers,
    _ listener: JoinListener?
  ) -> Table.Membership {
    let boarding = table.withLock { table in
      let boarding = table.join(key, at: origin, wakeup, priority) { JoinFlight(priority: priority, timers: timers) }
      if let listener { boarding.flight.add(listener) }
      return boarding
    }
    if boarding.priority != nil { urge(boarding.seat.flight, boarding.flight) }
    return boarding
  }

  /// Removes a waiting call from its shared exchange. If no other call waits, the exchange is stopped for the same
  /// reason, and the next call starts a new exchange.
  func leave(_ seat: Table.Seat, _ reason: CallState.StopReason, _ request: HTTPRequest) {
    guard let departure = table.withLock({ $0.leave(seat) }) else { return }
    departure.flight.forget(seat)
    if departure.isLast {
      departure.flight.state.stop(reason)
      close(after: request)
    }
    if departure.priority != nil { urge(seat.flight, departure.flight) }
  }

  /// Changes the priority of a waiting call.
  func change(_ seat: Table.Seat, to priority: CallPriority) {
    if let change = table.withLock({ $0.change(seat, to: priority) }) { urge(seat.flight, change.flight) }
  }

  /// Gives the exchange the highest priority of its waiting calls. Reads that priority again after each change, so that
  /// the later of two concurrent changes takes effect.
  private func urge(_ id: Table.FlightID, _ flight: JoinFlight) {
    while let priority = table.withLock({ $0.priority(of: id) }), priority != flight.state.priority {
      flight.state.change(priority: priority)
    }
  }

  /// Removes a shared exchange that has ended, and resumes the calls that wait for it.
  func land(_ id: Table.FlightID) {
    let (opener, others) = table.withLock { $0.land(id) }
    opener?.resume()
    for waiter in others { waiter.resume() }
  }

  /// If the method is unsafe, no later call joins a running exchange with the request's origin. The request may have
  /// changed data at the origin, even if it failed. So later calls need an exchange that starts after the request.
  func close(after request: HTTPRequest) {
    if !request.method.isSafe { table.withLock { $0.close(request.url.origin) } }
  }

  /// Splits a shared exchange that may serve only one caller. All calls except the first continue alone.
  func part(_ id: Table.FlightID, _ flight: JoinFlight) {
    guard let parted = table.withLock({ $0.part(id) }) else { return }
    flight.give(to: parted.stays)
    for waiter in parted.others { waiter.resume() }
  }

  /// The numbers of shared exchanges and of calls that wait for them.
  package var counts: (flights: Int, waiting: Int) { table.withLock { ($0.count, $0.waiting) } }

  /// Whether every shared exchange has ended, including exchanges that no call waits for any more.
  package var isIdle: Bool { table.withLock { $0.isIdle } }
}
