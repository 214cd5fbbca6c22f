import ErrandSupport
import ErrandCache
import ErrandCore

/// Where work for the thread of a store is left. Starts the thread at the first.
final class RedisMailbox: Sendable {
  private struct State: Sendable {
    var traffic: RedisTraffic
    var pipe: WakePipe?
    var isAsleep = false
  }

  private let state: Locked<State>
  private let loop: @Sendable (RedisMailbox, WakePipe) -> Void

  /// Makes a mailbox.
  /// - Parameter loop: What the thread does; returns when the traffic has ended.
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

  /// Whether Redis has taken all changes.
  var isSettled: Bool { state.withLock { $0.traffic.isSettled } }

  /// Whether an entry would be sent: Redis can be reached, as far as is known, and the backlog has room.
  func takes(_ entry: CacheEntry) -> Bool {
    state.withLock { $0.traffic.isTrusted && $0.traffic.hasRoom(for: .put(entry)) }
  }

  /// Whether a removal waits for a Redis that does not take it.
  var owesRemovals: Bool { state.withLock { $0.traffic.owesRemovals } }

  /// Lets the thread end when what waits has been sent, or cannot be.
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

  /// Takes back a change that Redis refused to make.
  func owe(_ write: RedisWrite) { state.withLock { $0.traffic.owe(write) } }

  /// Says that the connection is gone, or did not come.
  func lost() {
    let spread = Double.random(in: 0...1)
    for ticket in state.withLock({ $0.traffic.lost(.now, spread: spread) }) { ticket.settle(nil) }
  }
}
