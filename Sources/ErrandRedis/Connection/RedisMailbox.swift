import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

/// Passes commands from callers to the thread of a ``RedisStore``. Starts the thread when the first command arrives.
final class RedisMailbox: Sendable {
  private struct State: Sendable {
    var queue: RedisCommandQueue
    var pipe: WakePipe?
    var isAsleep = false
  }

  private let state: Locked<State>
  private let loop: @Sendable (RedisMailbox, WakePipe) -> Void

  /// Makes a mailbox.
  /// - Parameter loop: The function that the thread runs. It returns when the thread must end.
  init(_ settings: RedisSettings, loop: @escaping @Sendable (RedisMailbox, WakePipe) -> Void) {
    state = Locked(State(queue: RedisCommandQueue(settings)))
    self.loop = loop
  }

  func request(_ call: RedisCall, _ pendingReply: PendingReply) {
    if !change({ $0.request(call, pendingReply) }) { pendingReply.settle(nil) }
  }

  func write(_ write: RedisWrite) {
    change { $0.write(write) }
  }

  func barrier(_ pendingReply: PendingReply) {
    if !change({ $0.barrier(pendingReply) }) { pendingReply.settle(nil) }
  }

  /// Whether Redis has applied all changes.
  var isSettled: Bool { state.withLock { $0.queue.isSettled } }

  /// Whether the store would send an entry to Redis. Redis must count as available, and the limit for pending entries
  /// must not be reached.
  func wouldSend(_ entry: CacheEntry) -> Bool {
    state.withLock { $0.queue.isTrusted && $0.queue.hasRoom(for: .put(entry)) }
  }

  /// Whether a removal is pending, because Redis is unavailable or has not accepted the removal yet.
  var hasPendingRemovals: Bool { state.withLock { $0.queue.hasPendingRemovals } }

  /// Asks the thread of the store to end. The thread first sends all pending commands, unless Redis is unavailable.
  func close() {
    let pipe = state.withLock { state in
      state.queue.close()
      return state.pipe
    }
    pipe?.wake()
  }

  @discardableResult
  private func change<Result: Sendable>(_ body: (inout RedisCommandQueue) -> Result) -> Result {
    let (result, pipe, mustStart) = state.withLock { state in
      let result = body(&state.queue)
      defer { state.isAsleep = false }
      guard state.pipe == nil else { return (result, state.isAsleep ? state.pipe : nil, false) }
      state.pipe = WakePipe()
      return (result, state.pipe, true)
    }
    if mustStart { start(pipe) } else { pipe?.wake() }
    return result
  }

  private func start(_ pipe: WakePipe?) {
    if let pipe, DetachedThread.start(named: "errand.redis", { [self] in loop(self, pipe) }) { return }
    state.withLock { $0.pipe = nil }
    lost()
  }

  // MARK: - The thread's side

  func next(hasRoom: Bool) -> RedisCommandQueue.Step {
    state.withLock { state in
      let step = state.queue.next(now: .now, hasRoom: hasRoom)
      if case .wait = step { state.isAsleep = true } else { state.isAsleep = false }
      return step
    }
  }

  func progressed() { state.withLock { $0.queue.progressed(.now) } }
  func connected() { state.withLock { $0.queue.connected(.now) } }
  func replied() -> RedisJob? { state.withLock { $0.queue.replied(.now) } }

  func finish(_ write: RedisWrite, _ number: UInt64, next: RedisWrite?) {
    for pendingReply in state.withLock({ $0.queue.finish(write, number, next: next) }) { pendingReply.settle(.nothing) }
  }

  /// Keeps a change that Redis rejected, so that the change is sent again.
  func recordPending(_ write: RedisWrite) { state.withLock { $0.queue.recordPending(write) } }

  /// Adapts the waiting changes to another salt of Redis.
  func saltChanged() {
    for pendingReply in state.withLock({ $0.queue.saltChanged() }) { pendingReply.settle(.nothing) }
  }

  /// Records that the connection to Redis is lost or could not be established.
  func lost() {
    let spread = Double.random(in: 0...1)
    for pendingReply in state.withLock({ $0.queue.lost(.now, spread: spread) }) { pendingReply.settle(nil) }
  }
}

/// The reply to one command for Redis.
typealias PendingReply = PendingResult<RedisReply>
