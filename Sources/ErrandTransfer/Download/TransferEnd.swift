package import ErrandCore
import ErrandSupport

/// The end of a transfer, for all tasks that wait for it.
package final class TransferEnd<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var result: Result<Value, APIError>?
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  private let state = Locked(State())

  package init() {}

  /// Sets the result of the transfer. Later calls have no effect.
  package func set(_ result: Result<Value, APIError>) {
    let waiting = state.withLock { state in
      state.result = state.result ?? result
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }

  /// Waits for the result of the transfer. Cancelling the waiting task ends the wait but not the transfer.
  /// - Parameter name: The transfer, for the message of the error after a cancellation.
  package func value(of name: String) async throws(APIError) -> Value {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      if state.result == nil { state.waiting[state.lastWaiter] = continuation } else { continuation.finish() }
      return state.lastWaiter
    }
    for await _ in stream {}
    let result = state.withLock { state in
      state.waiting[waiter] = nil
      return state.result
    }
    guard let result else {
      throw APIError(.cancelled, .cancelled, "The wait for the \(name) was cancelled; the \(name) continues.")
    }
    return try result.get()
  }
}
