import ErrandSupport

/// The flights of a client: one table for all its calls, whatever configuration they started with, so that what one
/// of them writes closes the flights of all.
package final class JoinControl: Sendable {
  typealias Table = JoinTable<JoinKey, JoinFlight, Wakeup>

  private let table = Locked(Table())

  /// Takes a seat for a call that is about to wait; from then on its listener is told.
  func join(
    _ key: JoinKey, at origin: HTTPURL.Origin, _ wakeup: Wakeup, _ priority: CallPriority, _ timers: any Timers,
    _ listener: JoinListener?
  ) -> Table.Boarding {
    let boarding = table.withLock { table in
      let boarding = table.join(key, at: origin, wakeup, priority) { JoinFlight(priority: priority, timers: timers) }
      if let listener { boarding.flight.add(listener) }
      return boarding
    }
    if boarding.priority != nil { urge(boarding.seat.flight, boarding.flight) }
    return boarding
  }

  /// Gives a seat up. The last to leave ends the exchange for the reason it leaves for; the table has forgotten it by
  /// then, so that the next call begins anew.
  func leave(_ seat: Table.Seat, _ reason: CallState.StopReason, _ request: HTTPRequest) {
    guard let departure = table.withLock({ $0.leave(seat) }) else { return }
    departure.flight.forget(seat)
    if departure.isLast {
      departure.flight.state.stop(reason)
      close(after: request)
    }
    if departure.priority != nil { urge(seat.flight, departure.flight) }
  }

  /// One who waits has another priority now.
  func change(_ seat: Table.Seat, to priority: CallPriority) {
    if let change = table.withLock({ $0.change(seat, to: priority) }) { urge(seat.flight, change.flight) }
  }

  /// Gives the exchange the highest priority of those who are present. Asked again after it was given, so that of two
  /// changes at the same time the later one has the last word.
  private func urge(_ id: Table.FlightID, _ flight: JoinFlight) {
    while let priority = table.withLock({ $0.priority(of: id) }), priority != flight.state.priority {
      flight.state.change(priority: priority)
    }
  }

  /// The exchange is over.
  func land(_ id: Table.FlightID) {
    let (opener, others) = table.withLock { $0.land(id) }
    opener?.resume()
    for waiter in others { waiter.resume() }
  }

  /// An exchange has ended. Where it may have written something to its origin, however it ended, who asks that origin
  /// from now on gets an answer that is asked for from now on.
  func close(after request: HTTPRequest) {
    if !request.method.isSafe { table.withLock { $0.close(request.url.origin) } }
  }

  /// The exchange turns out to be one that only a single caller may have. All but the first go on alone.
  func part(_ id: Table.FlightID, _ flight: JoinFlight) {
    guard let parted = table.withLock({ $0.part(id) }) else { return }
    flight.give(to: parted.stays)
    for waiter in parted.others { waiter.resume() }
  }

  /// The flights under way and the calls that wait for them.
  package var counts: (flights: Int, waiting: Int) { table.withLock { ($0.count, $0.waiting) } }

  /// Whether every exchange is over, also those that nobody waits for any more.
  package var isIdle: Bool { table.withLock { $0.isIdle } }
}
