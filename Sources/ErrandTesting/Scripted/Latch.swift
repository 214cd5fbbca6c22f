/// A place where tasks wait until a test opens it, and where the test learns that they are there.
///
/// It holds the answer of a ``ScriptedTransport``, as a ``Gate`` holds that of a ``LoopbackServer``.
///
/// ```swift
/// let latch = Latch()
/// let transport = ScriptedTransport { _ in
///   try await latch.wait()
///   return .text("late")
/// }
/// …
/// await latch.reached()      // the call is on its way, nothing is answered yet
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

  /// Makes a latch that is shut.
  public init() {}

  /// How many have come here.
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

  /// Waits until the latch is open, whatever happens to the task.
  public func waitStubbornly() async { await park(nextID()) }

  /// Opens the latch for good.
  public func open() {
    let waiters = state.update { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until `count` have come here.
  ///
  /// - Parameters:
  ///   - count: How many, counted from the latch's making.
  ///   - bound: How long to wait at most.
  /// - Returns: Whether they have; false where `bound` has passed or the task is cancelled, so that a test whose call
  ///   never comes here goes on and says what it misses.
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
