public import ErrandCore
import ErrandSupport

/// A clock that advances only when a test advances it. With this clock, a test can check deadlines and delays without
/// waiting.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.timers = clock
/// …
/// #expect(await clock.waitForTimers(1))  // the call has set its timer
/// clock.advance(by: .seconds(120))       // the deadline of the call passes
/// ```
public final class ManualClock: Timers {
  private typealias Action = @Sendable () -> Void

  /// The order in which actions run: by their times, and at the same time in the order in which they were scheduled.
  private struct Order: Comparable, Sendable {
    let instant: MonotonicInstant
    let number: Int

    static func < (left: Order, right: Order) -> Bool {
      (left.instant, left.number) < (right.instant, right.number)
    }
  }

  private struct State: Sendable {
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// The actions that have not run yet, by their numbers.
    private(set) var actions: [Int: Action] = [:]
    private var heap = SlotHeap<Order>()
    /// The positions in the heap of all actions so far. The number of an action is its index.
    private var places: [Int] = []

    mutating func insert(at instant: MonotonicInstant, _ action: @escaping Action) -> TimerToken {
      let number = places.count
      places.append(SlotHeap<Order>.nowhere)
      actions[number] = action
      heap.insert(number, Order(instant: instant, number: number), &places)
      return TimerToken(number: UInt64(number))
    }

    /// Removes an action and returns it; nil if it has run or was removed before.
    mutating func remove(_ number: Int) -> Action? {
      guard let action = actions.removeValue(forKey: number) else { return nil }
      heap.remove(number, &places)
      return action
    }

    /// Removes and returns the first action that is due.
    mutating func popDue() -> Action? {
      guard let first = heap.first, first.key.instant <= now else { return nil }
      return remove(first.slot)
    }
  }

  private let state = Observed(State())

  /// Creates a clock that does not advance by itself.
  public init() {}

  /// The current time of this clock.
  public var now: MonotonicInstant { state.value.now }

  /// The number of scheduled actions that have not run yet.
  public var pending: Int { state.value.actions.count }

  /// Schedules `action` for the time `instant`. If that time has passed, the action runs immediately.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let token = state.update { $0.insert(at: instant, action) }
    runDue()
    return token
  }

  /// Cancels a scheduled action, so that it does not run.
  public func cancel(_ token: TimerToken) {
    state.update { $0.remove(Int(clamping: token.number)) }
  }

  /// Advances the clock and runs the actions that are due, on the caller's thread: in the order of their times, and at
  /// the same time in the order in which they were scheduled.
  public func advance(by duration: Duration) {
    state.update { $0.now = $0.now.advanced(by: duration) }
    runDue()
  }

  /// Waits until at least `count` actions are scheduled, for example until a call waits for its deadline.
  ///
  /// - Parameters:
  ///   - count: The number of actions.
  ///   - bound: The maximum time to wait, in real time.
  /// - Returns: True when the actions are scheduled; false after `bound`, or if the task is cancelled. Check the value,
  ///   with `#expect`: if a call ends before it sets its timer, no timer is set, and the test would continue after
  ///   `bound` without a reason for its failure.
  public func waitForTimers(_ count: Int, within bound: Duration = .seconds(30)) async -> Bool {
    await state.reaches("\(count) timers", within: bound) { $0.actions.count >= count }
  }

  private func runDue() {
    while let action = state.update({ $0.popDue() }) { action() }
  }
}
