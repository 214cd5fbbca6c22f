import ErrandCore
import ErrandSupport

/// Slows a response body down to a simulated rate. After a piece, the body is paused until the rate allows the next
/// piece. The body also stays paused while the wrapped sink pauses it.
final class PacedSink: BodySink {
  private struct State: Sendable {
    var isPausedByInner = false
    var isWaiting = false
    /// Whether the wrapped sink resumed the body before the wrapped sink's method `write(_:)` returned.
    var wasResumed = false
    var flow: BodyFlow?
  }

  private let inner: any BodySink
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

  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }

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
