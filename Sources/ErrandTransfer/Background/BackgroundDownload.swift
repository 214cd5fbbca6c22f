public import ErrandCore

/// A download that the system performs, whether or not the app is running.
///
/// The download continues even if the app keeps no reference to this handle. Its end is reported to the closure of
/// ``BackgroundDownloads`` and here.
public final class BackgroundDownload: Sendable, Identifiable {
  /// How a background download ended.
  public struct Ending: Sendable {
    /// The download's ``BackgroundDownload/id``.
    public let id: String
    /// The tag that the download was started with.
    public let tag: String?
    /// The file at its target, or the error.
    public let result: Result<DownloadedFile, APIError>
  }

  /// The identifier of the download, unique among all downloads. It stays the same when the app is launched again.
  public var id: String { wait.id }
  /// The tag that the download was started with.
  public var tag: String? { wait.tag }
  /// The progress of the download. A slow reader gets only the newest report. Nothing is reported for the time in which
  /// the app did not run. The stream finishes with the download and supports one reader.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<DownloadedFile>

  init(_ wait: BackgroundWait<DownloadedFile>) { self.wait = wait }

  /// Cancels the download and deletes the received bytes. Has no effect once the file is complete and is being checked.
  public func cancel() { wait.cancel() }

  /// Waits for the file.
  /// - Throws: ``ErrandCore/APIError``: why the download failed, or that it was cancelled. If the waiting task is
  ///   cancelled, this throws too, and the download continues.
  public func value() async throws(APIError) -> DownloadedFile { try await wait.value() }
}

extension BackgroundDownload: BackgroundHandle {}
