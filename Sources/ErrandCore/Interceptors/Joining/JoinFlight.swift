import ErrandSupport

/// A *flight*: one exchange that several waiting calls share. It has its own ``CallState`` and record, and no deadline.
final class JoinFlight: Sendable {
  typealias Seat = JoinControl.Table.Seat

  /// The result of the exchange. It is a separate object, so that a running exchange needs no memory for a result.
  private final class Landing: Sendable {
    let result: Result<HTTPResponse, any Error>
    init(_ result: Result<HTTPResponse, any Error>) { self.result = result }
  }

  private struct Storage: Sendable {
    var landing: Landing?
    var owner: Seat?
    /// One waiting call and its deadline, which is `never` if the call has none. It is stored separately from
    /// `deadlines`: most exchanges have only one caller and then need no dictionary.
    var first: (seat: Seat, deadline: MonotonicInstant)?
    /// The deadlines of the other waiting calls.
    var deadlines: [Seat: MonotonicInstant] = [:]
    var listeners: [ObjectIdentifier: JoinListener] = [:]

    mutating func serve(_ seat: Seat, until deadline: MonotonicInstant) {
      if first == nil { first = (seat, deadline) } else { deadlines[seat] = deadline }
    }

    mutating func forget(_ seat: Seat) {
      if first?.seat == seat { first = nil } else { deadlines[seat] = nil }
    }

    mutating func forgetAll(but seat: Seat) {
      if first?.seat != seat { first = nil }
      deadlines = deadlines.filter { $0.key == seat }
    }

    /// The latest deadline; nil if no call waits.
    var latest: MonotonicInstant? {
      guard let first else { return deadlines.values.max() }
      return deadlines.values.reduce(first.deadline, max)
    }
  }

  let state: CallState
  let record = CallRecord()
  let flags = CallFlags()
  private let storage = Locked(Storage())

  init(priority: CallPriority, timers: any Timers) {
    state = CallState(deadline: nil, timers: timers, priority: priority)
  }

  // MARK: - While the exchange runs

  /// Adds a waiting call with its deadline.
  func serve(_ seat: Seat, until deadline: MonotonicInstant?) {
    storage.withLock { $0.serve(seat, until: deadline ?? Self.never) }
  }

  /// Removes a call that has left, together with its deadline.
  func forget(_ seat: Seat) { storage.withLock { $0.forget(seat) } }

  /// The time until the latest deadline of the waiting calls; nil if one of these calls has no deadline.
  var timeLeft: Duration? {
    guard let latest = storage.withLock({ $0.latest }) else { return .zero }
    return latest == Self.never ? nil : max(.zero, state.timers.now.duration(to: latest))
  }

  private static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

  // MARK: - The end

  /// Stores the result of the exchange.
  func land(_ result: Result<HTTPResponse, any Error>) {
    state.settle()
    let landing = Landing(result)
    storage.withLock { $0.landing = landing }
  }

  /// The result of the exchange for a waiting call; nil if this call must continue alone.
  func result(for seat: Seat) -> Result<HTTPResponse, any Error>? {
    storage.withLock { $0.owner == nil || $0.owner == seat ? $0.landing : nil }?.result
  }

  /// Reserves the exchange for one caller.
  func give(to seat: Seat) {
    storage.withLock { storage in
      storage.owner = seat
      storage.forgetAll(but: seat)
    }
  }

  /// Whether the exchange serves this caller, alone or together with others.
  func belongs(to seat: Seat) -> Bool { storage.withLock { $0.owner == nil || $0.owner == seat } }

  // MARK: - Progress

  /// Reports progress to all listeners.
  func tell(_ progress: TransferProgress) {
    let listeners = storage.withLock { Array($0.listeners.values) }
    for listener in listeners { listener.tell(progress) }
  }

  func add(_ listener: JoinListener) { storage.withLock { $0.listeners[ObjectIdentifier(listener)] = listener } }

  /// Removes a listener. When this method returns, the listener is not being called and is not called again.
  func remove(_ listener: JoinListener) async {
    storage.withLock { _ = $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    await listener.close()
  }
}
