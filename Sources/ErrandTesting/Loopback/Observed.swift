import ErrandSupport
import ErrandCore

/// A value that a lock protects. Callers can wait until the value meets a condition, without polling and with a time
/// limit.
final class Observed<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let isMet: @Sendable (State) -> Bool
    let what: String
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Storage: Sendable {
    var state: State
    var waiters: [UInt64: Waiter] = [:]
    /// The errors of calls of `wait` that failed before they were stored in `waiters`, for example because the task was
    /// cancelled. The key is the number of the call.
    var early: [UInt64: any Error] = [:]
    var lastID: UInt64 = 0
    var isClosed = false
  }

  private let storage: Locked<Storage>

  init(_ state: State) {
    storage = Locked(Storage(state: state))
  }

  var value: State { storage.withLock { $0.state } }

  /// Changes the value, and resumes all waits whose condition the new value meets.
  @discardableResult
  func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    let (result, met) = storage.withLock { storage in
      let result = change(&storage.state)
      return (result, Self.takeMet(&storage))
    }
    for continuation in met { continuation.resume() }
    return result
  }

  /// Makes all present and future calls of `wait` fail, except calls whose condition the value already meets.
  func close() {
    let left = storage.withLock { storage in
      storage.isClosed = true
      let left = Array(storage.waiters.values)
      storage.waiters = [:]
      return left
    }
    for waiter in left { waiter.continuation.resume(throwing: LoopbackError.stopped(waitingFor: waiter.what)) }
  }

  /// Waits until `isMet` returns true. Throws after the time `bound`, if the task is cancelled, or if this object is
  /// closed.
  func wait(
    for what: String, within bound: Duration, until isMet: @escaping @Sendable (State) -> Bool
  ) async throws {
    let id = storage.withLock { storage in
      storage.lastID += 1
      return storage.lastID
    }
    let timer = Task {
      try await Task.sleep(for: bound)
      self.fail(id, with: LoopbackError.notReached(what, within: bound))
    }
    defer {
      timer.cancel()
      storage.withLock { _ = $0.early.removeValue(forKey: id) }
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enlist(id, Waiter(isMet: isMet, what: what, continuation: continuation))
      }
    } onCancel: {
      fail(id, with: CancellationError())
    }
  }

  /// Waits until `isMet` returns true. Returns false after the time `bound`, if the task is cancelled, or if this
  /// object is closed.
  func reaches(
    _ what: String, within bound: Duration, _ isMet: @escaping @Sendable (State) -> Bool
  ) async -> Bool {
    do {
      try await wait(for: what, within: bound, until: isMet)
      return true
    } catch {
      return false
    }
  }

  private func enlist(_ id: UInt64, _ waiter: Waiter) {
    let outcome: Result<Void, any Error>? = storage.withLock { storage in
      if waiter.isMet(storage.state) { return .success(()) }
      if let error = storage.early.removeValue(forKey: id) { return .failure(error) }
      if storage.isClosed { return .failure(LoopbackError.stopped(waitingFor: waiter.what)) }
      storage.waiters[id] = waiter
      return nil
    }
    if let outcome { waiter.continuation.resume(with: outcome) }
  }

  private func fail(_ id: UInt64, with error: any Error) {
    let waiter = storage.withLock { storage in
      let waiter = storage.waiters.removeValue(forKey: id)
      if waiter == nil { storage.early[id] = error }
      return waiter
    }
    waiter?.continuation.resume(throwing: error)
  }

  private static func takeMet(_ storage: inout Storage) -> [CheckedContinuation<Void, any Error>] {
    guard !storage.waiters.isEmpty else { return [] }
    let met = storage.waiters.filter { $0.value.isMet(storage.state) }
    for id in met.keys { storage.waiters[id] = nil }
    return met.values.map(\.continuation)
  }
}
