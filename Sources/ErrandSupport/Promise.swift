/// A value that is set once. Any number of tasks can wait for it.
package final class Promise<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiting: [UnsafeContinuation<Value, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  package var isSet: Bool { state.withLock { $0.value != nil } }

  /// Returns the value as soon as it is set.
  package func value() async -> Value {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Value, Never>) in
      let value = state.withLock { state in
        if state.value == nil { state.waiting.append(continuation) }
        return state.value
      }
      if let value { continuation.resume(returning: value) }
    }
  }

  /// Sets the value. Later calls have no effect.
  package func set(_ value: Value) {
    let waiting = state.withLock { state in
      state.value = state.value ?? value
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: value) }
  }
}
