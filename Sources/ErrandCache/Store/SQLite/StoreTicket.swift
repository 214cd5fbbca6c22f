import ErrandSupport
import ErrandCore

/// One question to the store's thread: the answer, and whether somebody still waits for it.
final class StoreTicket<Answer: Sendable>: Sendable {
  private struct State: Sendable {
    var answer: Answer?
    var wakeup: Wakeup?
    var isOver = false
  }

  private let state = Locked(State())

  /// Notes whom to wake.
  func begin(_ wakeup: Wakeup) {
    state.withLock { $0.wakeup = wakeup }
  }

  /// Whether nobody has answered and nobody has left.
  var isOpen: Bool { state.withLock { !$0.isOver } }

  /// Answers, or says by nil that no answer will come. Only the first counts.
  func settle(_ answer: Answer?) {
    let wakeup: Wakeup? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.answer = answer
      return state.wakeup
    }
    wakeup?.resume()
  }

  /// Ends the waiting; returns the answer that came.
  func leave() -> Answer? {
    state.withLock { state in
      state.isOver = true
      defer { state.answer = nil }
      return state.answer
    }
  }
}
