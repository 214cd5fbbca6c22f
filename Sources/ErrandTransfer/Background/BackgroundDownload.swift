public import ErrandCore
import ErrandSupport

/// A download that the system carries out, be the app running or not.
///
/// It goes on though nobody holds the handle. How it ends is told to the closure of ``BackgroundDownloads`` and here.
public final class BackgroundDownload: Sendable, Identifiable {
  /// How a background download ended.
  public struct Ending: Sendable {
    /// The download's ``BackgroundDownload/id``.
    public let id: String
    /// The tag that it was started with.
    public let tag: String?
    /// The file, under its name, or why there is none.
    public let result: Result<DownloadedFile, APIError>
  }

  private struct State: Sendable {
    var result: Result<DownloadedFile, APIError>?
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  /// What it is known by, also after the app was started anew; no two downloads have the same.
  public let id: String
  /// The tag that it was started with.
  public let tag: String?
  /// How far it is: the newest report, those in between dropped for a reader who is slow. Nothing is told of the time in
  /// which the app did not run. Ends with the download; for one reader.
  public let progress: AsyncStream<TransferProgress>

  private let report: AsyncStream<TransferProgress>.Continuation
  private let end: @Sendable () -> Void
  private let state = Locked(State())

  init(_ record: BackgroundRecord, cancel: @escaping @Sendable () -> Void) {
    id = record.id
    tag = record.tag
    (progress, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    end = cancel
  }

  /// Ends the download. What came of it is thrown away. No effect once its file is there whole and is being checked.
  public func cancel() { end() }

  /// The file, once it is there.
  /// - Throws: ``ErrandCore/APIError``: why the download failed, or that it was cancelled. Where the task that waits is
  ///   cancelled, this throws, too, and the download goes on.
  public func value() async throws(APIError) -> DownloadedFile {
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
      throw APIError(.cancelled, .cancelled, "The wait for the download was cancelled; the download goes on.")
    }
    return try result.get()
  }

  func tell(_ progress: TransferProgress) { report.yield(progress) }

  func finish(_ result: Result<DownloadedFile, APIError>) {
    report.finish()
    let waiting = state.withLock { state in
      if state.result == nil { state.result = result }
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }
}
