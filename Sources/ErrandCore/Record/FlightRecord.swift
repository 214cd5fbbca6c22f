import ErrandSupport

/// The last calls of a client, with the decisions that the library made for them. See ``ClientConfiguration/record``.
///
/// A call is in the record as soon as its outcome is delivered. The functions may be called from any thread.
///
/// ```swift
/// if let call = client.flightRecord.calls.last { print(call.why) }
/// ```
public final class FlightRecord: Sendable {
  private struct State {
    var ring = FlightRing<FlightCall>()
    var observers: [Int: @Sendable (FlightCall) -> Void] = [:]
    var lastObserver = 0
  }

  private let state = Locked(State())

  init() {}

  /// The recorded calls, in the order in which they ended.
  public var calls: [FlightCall] { state.withLock { $0.ring.elements } }

  /// The recorded call with a number, such as `CallInfo.id`; nil if the record does not contain the call.
  public func call(_ number: UInt64) -> FlightCall? { calls.last { $0.number == number } }

  /// Removes all calls from the record.
  public func removeAll() { state.withLock { $0.ring = FlightRing() } }

  /// Adds a call that has ended. Afterwards the record has at most `limit` calls.
  func add(_ call: FlightCall, limit: Int) {
    let observers = state.withLock { state in
      state.ring.append(call, limit: limit)
      return state.observers
    }
    if !observers.isEmpty { for observer in observers.values { observer(call) } }
  }

  /// Calls a function with each call that is added from now on, on the thread that ended the call. Returns a number for
  /// ``removeObserver(_:)``.
  package func addObserver(_ observer: @escaping @Sendable (FlightCall) -> Void) -> Int {
    state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = observer
      return state.lastObserver
    }
  }

  /// Removes an observer. It may still be running on another thread when this function returns.
  package func removeObserver(_ number: Int) { state.withLock { $0.observers[number] = nil } }
}

/// A list of the last elements that were added, with a limit on their number.
struct FlightRing<Element: Sendable>: Sendable {
  private var storage: [Element] = []
  /// The index of the oldest element.
  private var oldest = 0

  /// The elements, oldest first.
  var elements: [Element] { Array(storage[oldest...] + storage[..<oldest]) }

  /// Adds an element. Removes the oldest elements so that at most `limit` elements remain.
  mutating func append(_ element: Element, limit: Int) {
    guard limit > 0 else { return self = FlightRing() }
    if storage.count == limit {
      storage[oldest] = element
      oldest = (oldest + 1) % limit
      return
    }
    if oldest == 0, storage.count < limit { return storage.append(element) }
    storage = Array(elements.suffix(limit - 1))
    oldest = 0
    storage.append(element)
  }
}
