import ErrandCore
import ErrandSupport

/// Pauses a response body after each piece. The body continues when the pace allows the next piece and the inner sink
/// accepts it.
final class PacedSink: BodySink {
  private struct State: Sendable {
    var isPausedInside = false
    var isWaiting = false
    /// Whether the inner sink resumed the body before its `write(_:)` returned.
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
    return try inner.begin(head, flow: BodyFlow { [weak self] in self?.resumedInside() })
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    state.withLock { $0.wasResumed = false }
    let goesOn = try inner.write(piece)
    pace.add(piece.count)
    let isFree = pace.isFree
    let pauses = state.withLock { state in
      state.isPausedInside = !goesOn && !state.wasResumed
      state.isWaiting = !isFree
      return state.isPausedInside || state.isWaiting
    }
    if !isFree { pace.whenFree { [weak self] in self?.passed() } }
    return !pauses
  }

  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }

  private func resumedInside() {
    goOn { state in
      state.wasResumed = true
      defer { state.isPausedInside = false }
      return state.isPausedInside && !state.isWaiting
    }
  }

  private func passed() {
    goOn { state in
      state.isWaiting = false
      return !state.isPausedInside
    }
  }

  private func goOn(_ decide: (inout State) -> Bool) {
    let flow = state.withLock { decide(&$0) ? $0.flow : nil }
    flow?.resume()
  }
}
