import ErrandSupport
import ErrandCache
import ErrandCore

/// Receives questions and changes for the thread of a store. Starts the thread when the first one arrives.
final class RedisMailbox: Sendable {
  private struct State: Sendable {
    var traffic: RedisTraffic
    var pipe: WakePipe?
    var isAsleep = false
  }

  private let state: Locked<State>
  private let loop: @Sendable (RedisMailbox, WakePipe) -> Void

  /// Makes a mailbox.
  /// - Parameter loop: The loop of the thread. It returns when the thread must end.
  init(limits: RedisLimits, loop: @escaping @Sendable (RedisMailbox, WakePipe) -> Void) {
    state = Locked(State(traffic: RedisTraffic(limits: limits)))
    self.loop = loop
  }

  func ask(_ call: RedisCall, _ ticket: RedisTicket) {
    if !change({ $0.ask(call, ticket) }) { ticket.settle(nil) }
  }

  func write(_ write: RedisWrite) {
    change { $0.write(write) }
  }

  func barrier(_ ticket: RedisTicket) {
    if !change({ $0.barrier(ticket) }) { ticket.settle(nil) }
  }

  /// Whether Redis has applied all changes.
  var isSettled: Bool { state.withLock { $0.traffic.isSettled } }

  /// Whether an entry would be sent: Redis is available as far as is known, and the limit for pending entries is not
  /// reached.
  func takes(_ entry: CacheEntry) -> Bool {
    state.withLock { $0.traffic.isTrusted && $0.traffic.hasRoom(for: .put(entry)) }
  }

  /// Whether a removal waits until Redis is available and accepts it.
  var owesRemovals: Bool { state.withLock { $0.traffic.owesRemovals } }

  /// Asks the thread to end when all pending work has been sent or cannot be sent.
  func close() {
    let pipe = state.withLock { state in
      state.traffic.close()
      return state.pipe
    }
    pipe?.wake()
  }

  @discardableResult
  private func change<Result: Sendable>(_ body: (inout RedisTraffic) -> Result) -> Result {
    let (result, pipe, mustStart) = state.withLock { state in
      let result = body(&state.traffic)
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

  func next(hasRoom: Bool) -> RedisTraffic.Step {
    state.withLock { state in
      let step = state.traffic.next(now: .now, hasRoom: hasRoom)
      if case .wait = step { state.isAsleep = true } else { state.isAsleep = false }
      return step
    }
  }

  func progressed() { state.withLock { $0.traffic.progressed(.now) } }
  func connected() { state.withLock { $0.traffic.connected(.now) } }
  func answered() -> RedisJob? { state.withLock { $0.traffic.answered(.now) } }

  func finish(_ write: RedisWrite, _ number: UInt64, next: RedisWrite?) {
    for ticket in state.withLock({ $0.traffic.finish(write, number, next: next) }) { ticket.settle(.nothing) }
  }

  /// Keeps a change that Redis rejected, so that it is sent again.
  func owe(_ write: RedisWrite) { state.withLock { $0.traffic.owe(write) } }

  /// Records that the connection is lost or could not be established.
  func lost() {
    let spread = Double.random(in: 0...1)
    for ticket in state.withLock({ $0.traffic.lost(.now, spread: spread) }) { ticket.settle(nil) }
  }
}
