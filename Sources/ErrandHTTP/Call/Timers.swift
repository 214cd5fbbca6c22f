import Dispatch
import ErrandSupport

/// A clock with timers. The timers schedule everything that waits for a point in time: deadlines, delays and idle
/// timeouts of all calls.
///
/// An implementation keeps the timers of all its calls in one heap, so that no call needs a task for its timers. A
/// transport with its own thread, such as the engine on Linux, provides timers that run on that thread. All other
/// transports share ``SharedTimers``, and tests use a clock that they advance manually.
public protocol Timers: AnyObject, Sendable {
  /// The current time of this clock.
  var now: MonotonicInstant { get }

  /// Runs `action` once on the thread of the timers: at `instant` or shortly after it, or immediately if `instant` has
  /// passed.
  ///
  /// The action must be short and must not block. No lock is held while the action runs.
  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken

  /// Removes a scheduled action. Has no effect if the action has already run or is about to run.
  func cancel(_ token: TimerToken)
}

/// Identifies one scheduled action of ``Timers``.
public struct TimerToken: Sendable, Hashable {
  /// The number of the action. The timers never use a number twice.
  public let number: UInt64

  /// Makes a token from a number. An implementation of ``Timers`` must never use a number twice.
  public init(number: UInt64) {
    self.number = number
  }
}

/// The timers of all transports that have no thread of their own. All timers share one heap and one dispatch timer.
public final class SharedTimers: Timers {
  /// The instance that all calls share.
  public static let shared = SharedTimers()

  private struct State: Sendable {
    var heap = TimerHeap()
    var armed: MonotonicInstant?
  }

  private let state = Locked(State())
  nonisolated(unsafe) private let source: any DispatchSourceTimer  // dispatch sources may be used from any thread

  init() {
    source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "errand.timers", qos: .userInitiated))
    source.setEventHandler { [weak self] in self?.fire() }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  /// The current time of the system's monotonic clock.
  public var now: MonotonicInstant { .now }

  /// Runs `action` once at `instant`, on the dispatch queue of the timers.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.withLock { state in
      let token = state.heap.insert(at: instant, action)
      arm(&state)
      return token
    }
  }

  /// Removes a scheduled action. Has no effect if the action has already run or is about to run.
  public func cancel(_ token: TimerToken) {
    let removed = state.withLock { $0.heap.remove(token) }
    _ = removed
  }

  private func fire() {
    state.withLock { $0.armed = nil }
    while let action = state.withLock({ $0.heap.popDue(.now) }) { action() }
    state.withLock { arm(&$0) }
  }

  /// Sets the dispatch timer to the time of the earliest action. The caller holds the lock. Otherwise two threads could
  /// set the timer in the wrong order, and the earliest action would run too late.
  private func arm(_ state: inout State) {
    guard let next = state.heap.next else { return }
    if let armed = state.armed, armed <= next { return }
    state.armed = next
    let deadline = DispatchTime(uptimeNanoseconds: UInt64(clamping: next.nanoseconds))
    source.schedule(deadline: deadline, leeway: .nanoseconds(0))
  }
}

/// Scheduled actions in the order of their times. Each action can be removed by its token.
///
/// The actions are stored in a table. The low 32 bits of a token's number are an index in this table. The high 32 bits
/// count how often the element of the table was reused, so that an old token never refers to a new action.
@usableFromInline
package struct TimerHeap: Sendable {
  @usableFromInline package typealias Action = @Sendable () -> Void

  private struct Slot {
    var action: Action?
    var generation: UInt32
  }

  private var heap = SlotHeap<Int64>()
  private var places: [Int] = []
  private var slots: [Slot] = []
  private var free: [Int] = []

  package init() {}

  package var count: Int { heap.count }

  /// The time of the earliest action; nil if nothing is scheduled.
  package var next: MonotonicInstant? {
    heap.first.map { MonotonicInstant(nanoseconds: $0.key) }
  }

  package mutating func insert(at instant: MonotonicInstant, _ action: @escaping Action) -> TimerToken {
    let slot: Int
    if let reused = free.popLast() {
      slot = reused
      slots[slot].action = action
    } else {
      slot = slots.count
      slots.append(Slot(action: action, generation: 0))
      places.append(SlotHeap<Int64>.nowhere)
    }
    heap.insert(slot, instant.nanoseconds, &places)
    return TimerToken(number: UInt64(slots[slot].generation) << 32 | UInt64(slot))
  }

  /// Removes an action and returns it. The caller can then release the objects that the action has captured, without
  /// holding a lock.
  @usableFromInline package mutating func remove(_ token: TimerToken) -> Action? {
    let slot = Int(token.number & 0xFFFF_FFFF)
    guard slot < slots.count, slots[slot].generation == UInt32(token.number >> 32), slots[slot].action != nil else {
      return nil
    }
    return take(slot)
  }

  /// Removes and returns the earliest action if it is due at `now`.
  @usableFromInline package mutating func popDue(_ now: MonotonicInstant) -> Action? {
    guard let first = heap.first, first.key <= now.nanoseconds else { return nil }
    return take(first.slot)
  }

  private mutating func take(_ slot: Int) -> Action? {
    heap.remove(slot, &places)
    let action = slots[slot].action
    slots[slot].action = nil
    slots[slot].generation &+= 1
    free.append(slot)
    return action
  }
}
