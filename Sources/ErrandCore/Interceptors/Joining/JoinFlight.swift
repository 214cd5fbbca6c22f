import ErrandSupport

/// One exchange for all who wait for it, with a life and a record of its own and no caller's deadline.
final class JoinFlight: Sendable {
  typealias Seat = JoinControl.Table.Seat

  private struct Storage: Sendable {
    var result: Result<HTTPResponse, any Error>?
    var owner: Seat?
    var deadline = MonotonicInstant(nanoseconds: .min)
    var isEndless = false
    var listeners: [ObjectIdentifier: JoinListener] = [:]
  }

  let state: CallState
  let record = CallRecord()
  private let storage = Locked(Storage())

  init(priority: CallPriority, timers: any Timers) {
    state = CallState(deadline: nil, timers: timers, priority: priority)
  }

  // MARK: - While it is under way

  /// One who waits has this deadline.
  func serve(until deadline: MonotonicInstant?) {
    storage.withLock { storage in
      if let deadline { storage.deadline = max(storage.deadline, deadline) } else { storage.isEndless = true }
    }
  }

  /// The time until the latest deadline of those who have come; nil where one of them has none.
  var timeLeft: Duration? {
    let (deadline, isEndless) = storage.withLock { ($0.deadline, $0.isEndless) }
    return isEndless ? nil : max(.zero, state.timers.now.duration(to: deadline))
  }

  // MARK: - The end

  /// Notes how the exchange ended.
  func land(_ result: Result<HTTPResponse, any Error>) {
    state.settle()
    storage.withLock { $0.result = result }
  }

  /// How the exchange ended for one who waited; nil for one who has to go on alone.
  func result(for seat: Seat) -> Result<HTTPResponse, any Error>? {
    storage.withLock { $0.owner == nil || $0.owner == seat ? $0.result : nil }
  }

  /// The exchange is given to one caller alone.
  func give(to seat: Seat) { storage.withLock { $0.owner = seat } }

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
