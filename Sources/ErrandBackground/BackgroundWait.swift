import ErrandCore
import ErrandSupport

/// The handle with which the app controls a background transfer.
protocol BackgroundHandle: AnyObject, Sendable {
  associatedtype Value: Sendable
  var wait: BackgroundWait<Value> { get }
}

/// The result and the progress of one background transfer, for all callers that wait for its end.
final class BackgroundWait<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var result: Result<Value, APIError>?
    var lastBytes: Int64 = 0
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  let id: String
  let tag: String?
  let progress: AsyncStream<TransferProgress>
  private let kind: BackgroundKind
  private let reports: AsyncStream<TransferProgress>.Continuation
  private let end: @Sendable () -> Void
  private let state = Locked(State())

  init<Record: BackgroundState>(_ record: Record, cancel: @escaping @Sendable () -> Void) {
    id = record.id
    tag = record.tag
    kind = Record.kind
    (progress, reports) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    end = cancel
  }

  func cancel() { end() }

  func value() async throws(APIError) -> Value {
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
      throw APIError(.cancelled, .cancelled, "The wait for the \(kind) was cancelled; the \(kind) continues.")
    }
    return try result.get()
  }

  /// Reports progress. A smaller number of bytes than in the last report means that the system started the transfer
  /// again.
  func report(bytes: Int64, total: Int64?) {
    let isRestart = state.withLock { state in
      defer { state.lastBytes = bytes }
      return bytes < state.lastBytes
    }
    reports.yield(TransferProgress(kind.direction, bytes: bytes, total: total, isRestart: isRestart))
  }

  func finish(_ result: Result<Value, APIError>) {
    reports.finish()
    let waiting = state.withLock { state in
      if state.result == nil { state.result = result }
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }
}
