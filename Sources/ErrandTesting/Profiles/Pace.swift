import ErrandCore
import ErrandSupport

/// Simulates a transfer at a given rate. Bytes are added to the transfer with ``add(_:)``. The class computes the time
/// at which all added bytes have been transferred, and can run an action at that time.
final class Pace: Sendable {
  private struct State: Sendable {
    var due: MonotonicInstant
    var token: TimerToken?
    var isOver = false
  }

  private let rate: Int?
  private let clock: any Timers
  private let state: Locked<State>

  init(rate: Int?, clock: any Timers) {
    self.rate = rate
    self.clock = clock
    state = Locked(State(due: clock.now))
  }

  /// The duration of a transfer of this many bytes; zero if there is no rate limit.
  func duration(of bytes: Int) -> Duration {
    guard let rate, bytes > 0 else { return .zero }
    return .seconds(Double(bytes) / Double(max(rate, 1)))
  }

  /// Adds bytes to the simulated transfer.
  func add(_ bytes: Int) {
    let (now, duration) = (clock.now, duration(of: bytes))
    state.withLock { $0.due = max($0.due, now).advanced(by: duration) }
  }

  /// Whether all added bytes have been transferred.
  var isFree: Bool { state.withLock { $0.due } <= clock.now }

  /// Runs `action` when all added bytes have been transferred.
  func whenFree(_ action: @escaping @Sendable () -> Void) {
    let token = clock.schedule(at: state.withLock { $0.due }, action)
    let isOver = state.withLock { state in
      state.token = token
      return state.isOver
    }
    if isOver { clock.cancel(token) }
  }

  /// Cancels the scheduled action. Call this function when the exchange has ended.
  func end() {
    let token = state.withLock { state in
      state.isOver = true
      return state.token
    }
    if let token { clock.cancel(token) }
  }
}

/// Slows a response body down to a simulated rate. After a piece, the body is paused until the rate allows the next
/// piece. The body also stays paused while the wrapped sink pauses it.
final class PacedSink: ForwardingSink {
  private struct State: Sendable {
    var isPausedByInner = false
    var isWaiting = false
    /// Whether the wrapped sink resumed the body before the wrapped sink's method `write(_:)` returned.
    var wasResumed = false
    var flow: BodyFlow?
  }

  let inner: any BodySink
  private let pace: Pace
  private let state = Locked(State())

  init(_ inner: any BodySink, _ pace: Pace) {
    self.inner = inner
    self.pace = pace
  }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    state.withLock { $0.flow = flow }
    return try inner.begin(head, flow: BodyFlow { [weak self] in self?.endInnerPause() })
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    state.withLock { $0.wasResumed = false }
    let acceptsMore = try inner.write(piece)
    pace.add(piece.count)
    let isFree = pace.isFree
    let pauses = state.withLock { state in
      state.isPausedByInner = !acceptsMore && !state.wasResumed
      state.isWaiting = !isFree
      return state.isPausedByInner || state.isWaiting
    }
    if !isFree { pace.whenFree { [weak self] in self?.endRatePause() } }
    return !pauses
  }

  private func endInnerPause() {
    resume { state in
      state.wasResumed = true
      defer { state.isPausedByInner = false }
      return state.isPausedByInner && !state.isWaiting
    }
  }

  private func endRatePause() {
    resume { state in
      state.isWaiting = false
      return !state.isPausedByInner
    }
  }

  private func resume(if decide: (inout State) -> Bool) {
    let flow = state.withLock { decide(&$0) ? $0.flow : nil }
    flow?.resume()
  }
}
