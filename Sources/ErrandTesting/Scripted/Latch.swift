import ErrandSupport
import ErrandCore

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
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  /// Makes a latch that is shut.
  public init() {}

  /// How many have come here.
  public var arrivals: Int { state.withLock { $0.arrivals } }

  /// Waits until the latch is open, or the task is cancelled.
  /// - Throws: `CancellationError`.
  public func wait() async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await park(id)
    } onCancel: {
      let waiter = state.withLock { state in
        state.left.insert(id)
        return state.waiters.removeValue(forKey: id)
      }
      waiter?.resume()
    }
    try Task.checkCancellation()
  }

  /// Waits until the latch is open, whatever happens to the task.
  public func waitStubbornly() async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await park(id)
  }

  /// Opens the latch for good.
  public func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until `count` have come here.
  public func reached(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.arrivals >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  private func park(_ id: Int) async {
    await withCheckedContinuation { continuation in
      let (isFree, woken) = state.withLock { state in
        state.arrivals += 1
        let count = state.arrivals
        let woken = state.watchers.filter { $0.count <= count }.map(\.continuation)
        state.watchers.removeAll { $0.count <= count }
        let isFree = state.isOpen || state.left.contains(id)
        if !isFree { state.waiters[id] = continuation }
        return (isFree, woken)
      }
      for watcher in woken { watcher.resume() }
      if isFree { continuation.resume() }
    }
  }
}
