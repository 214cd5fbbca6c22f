/// A point at which tasks wait until a test opens it. The test can also wait until tasks have arrived at this point.
///
/// A latch delays the response of a ``ScriptedTransport``, as a ``Gate`` delays the response of a ``LoopbackServer``.
///
/// ```swift
/// let latch = Latch()
/// let transport = ScriptedTransport { _ in
///   try await latch.wait()
///   return .text("late")
/// }
/// …
/// await latch.reached()      // the transport has the request and has not responded yet
/// call.cancel()
/// latch.open()
/// ```
public final class Latch: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var arrivals = 0
    var lastID = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var left: Set<Int> = []
  }

  private let state = Observed(State())

  /// Creates a closed latch.
  public init() {}

  /// The number of tasks that have arrived at the latch so far.
  public var arrivals: Int { state.value.arrivals }

  /// Waits until the latch is open, or the task is cancelled.
  /// - Throws: `CancellationError`.
  public func wait() async throws {
    let id = nextID()
    await withTaskCancellationHandler {
      await park(id)
    } onCancel: {
      let waiter = state.update { state in
        state.left.insert(id)
        return state.waiters.removeValue(forKey: id)
      }
      waiter?.resume()
    }
    try Task.checkCancellation()
  }

  /// Waits until the latch is open, even if the task is cancelled.
  public func waitStubbornly() async { await park(nextID()) }

  /// Opens the latch permanently.
  public func open() {
    let waiters = state.update { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until `count` tasks have arrived.
  ///
  /// - Parameters:
  ///   - count: The number of arrivals, counted from the creation of the latch.
  ///   - bound: The maximum time to wait.
  /// - Returns: True when the tasks have arrived; false after `bound`, or if the task is cancelled. The function does
  ///   not throw: if the tasks do not arrive, the test continues and reports its own failure.
  @discardableResult
  public func reached(_ count: Int = 1, within bound: Duration = .seconds(30)) async -> Bool {
    await state.reaches("arrival \(count) at a latch", within: bound) { $0.arrivals >= count }
  }

  private func nextID() -> Int {
    state.update { state in
      state.lastID += 1
      return state.lastID
    }
  }

  private func park(_ id: Int) async {
    await withCheckedContinuation { continuation in
      let isFree = state.update { state in
        state.arrivals += 1
        let isFree = state.isOpen || state.left.contains(id)
        if !isFree { state.waiters[id] = continuation }
        return isFree
      }
      if isFree { continuation.resume() }
    }
  }
}
