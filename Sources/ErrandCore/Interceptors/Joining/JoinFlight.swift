import ErrandSupport

/// One exchange for all who wait for it, with a life and a record of its own and no caller's deadline.
final class JoinFlight: Sendable {
  typealias Seat = JoinControl.Table.Seat

  /// How the exchange ended. Apart, so that a flight under way holds no room for it.
  private final class Landing: Sendable {
    let result: Result<HTTPResponse, any Error>
    init(_ result: Result<HTTPResponse, any Error>) { self.result = result }
  }

  private struct Storage: Sendable {
    var landing: Landing?
    var owner: Seat?
    /// One who waits, and until when; the end of all time without a deadline. It stands apart: most flights have nobody
    /// else, and need no dictionary then.
    var first: (seat: Seat, deadline: MonotonicInstant)?
    /// Until when the others wait.
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

    /// The latest of all; nil where nobody waits.
    var latest: MonotonicInstant? {
      guard let first else { return deadlines.values.max() }
      return deadlines.values.reduce(first.deadline, max)
    }
  }

  let state: CallState
  let record = CallRecord()
  private let storage = Locked(Storage())

  init(priority: CallPriority, timers: any Timers) {
    state = CallState(deadline: nil, timers: timers, priority: priority)
  }

  // MARK: - While it is under way

  /// One who waits has this deadline.
  func serve(_ seat: Seat, until deadline: MonotonicInstant?) {
    storage.withLock { $0.serve(seat, until: deadline ?? Self.never) }
  }

  /// One who waited has left, and its deadline with it.
  func forget(_ seat: Seat) { storage.withLock { $0.forget(seat) } }

  /// The time until the latest deadline of those who are present; nil where one of them has none.
  var timeLeft: Duration? {
    guard let latest = storage.withLock({ $0.latest }) else { return .zero }
    return latest == Self.never ? nil : max(.zero, state.timers.now.duration(to: latest))
  }

  private static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

  // MARK: - The end

  /// Notes how the exchange ended.
  func land(_ result: Result<HTTPResponse, any Error>) {
    state.settle()
    let landing = Landing(result)
    storage.withLock { $0.landing = landing }
  }

  /// How the exchange ended for one who waited; nil for one who has to go on alone.
  func result(for seat: Seat) -> Result<HTTPResponse, any Error>? {
    storage.withLock { $0.owner == nil || $0.owner == seat ? $0.landing : nil }?.result
  }

  /// The exchange is given to one caller alone.
  func give(to seat: Seat) {
    storage.withLock { storage in
      storage.owner = seat
      storage.forgetAll(but: seat)
    }
  }

  /// Whether the exchange is a caller's, alone or together with others.
  func belongs(to seat: Seat) -> Bool { storage.withLock { $0.owner == nil || $0.owner == seat } }

  // MARK: - Progress

  /// Tells progress to those who are there.
  func tell(_ progress: TransferProgress) {
    let listeners = storage.withLock { Array($0.listeners.values) }
    for listener in listeners { listener.tell(progress) }
  }

  func add(_ listener: JoinListener) { storage.withLock { $0.listeners[ObjectIdentifier(listener)] = listener } }

  /// Returns when the listener is not being told anything, and will not be.
  func remove(_ listener: JoinListener) async {
    storage.withLock { _ = $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    await listener.close()
  }
}
