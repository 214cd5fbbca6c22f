import ErrandCore
import ErrandSupport
import ErrandTransfer

/// The handle with which the app controls a background transfer.
protocol BackgroundHandle: AnyObject, Sendable {
  associatedtype Value: Sendable
  var wait: BackgroundWait<Value> { get }
}

/// The result and the progress of one background transfer, for all callers that wait for its end.
final class BackgroundWait<Value: Sendable>: Sendable {
  let id: String
  let tag: String?
  let progress: AsyncStream<TransferProgress>
  private let kind: BackgroundKind
  private let reports: AsyncStream<TransferProgress>.Continuation
  private let onCancel: @Sendable () -> Void
  private let ending = TransferEnd<Value>()
  private let lastBytes = Locked<Int64>(0)

  init<Record: BackgroundState>(_ record: Record, cancel: @escaping @Sendable () -> Void) {
    id = record.id
    tag = record.tag
    kind = Record.kind
    (progress, reports) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    onCancel = cancel
  }

  func cancel() { onCancel() }

  func value() async throws(APIError) -> Value { try await ending.value(of: kind.rawValue) }

  /// Reports progress. A smaller number of bytes than in the last report means that the system started the transfer
  /// again.
  func report(bytes: Int64, total: Int64?) {
    let isRestart = lastBytes.withLock { last in
      defer { last = bytes }
      return bytes < last
    }
    reports.yield(TransferProgress(kind.direction, bytes: bytes, total: total, isRestart: isRestart))
  }

  func finish(_ result: Result<Value, APIError>) {
    reports.finish()
    ending.set(result)
  }
}
