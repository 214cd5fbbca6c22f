public import ErrandCore

/// A download that the system performs, whether or not the app is running.
///
/// The download continues even if the app keeps no reference to this handle. The end of the download is reported to the
/// `onEnd` closure of ``BackgroundDownloads`` and to the callers of ``value()``.
public final class BackgroundDownload: Sendable, Identifiable {
  /// The result of a background download that has ended.
  public struct Ending: Sendable {
    /// The download's ``BackgroundDownload/id``.
    public let id: String
    /// The app's own name for the download, as it was passed to ``BackgroundDownloads/start(_:tag:)``; nil if no tag
    /// was passed.
    public let tag: String?
    /// The downloaded file at its target path, or the error if the download failed.
    public let result: Result<DownloadedFile, APIError>
  }

  /// The identifier of the download, unique among all downloads. It stays the same when the app is launched again.
  public var id: String { wait.id }
  /// The app's own name for the download, as it was passed to ``BackgroundDownloads/start(_:tag:)``; nil if no tag was
  /// passed.
  public var tag: String? { wait.tag }
  /// The progress of the download. A slow reader gets only the newest report. Nothing is reported for the time in which
  /// the app did not run. The stream finishes when the download ends. Only one task may read the stream.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<DownloadedFile>

  init(_ wait: BackgroundWait<DownloadedFile>) { self.wait = wait }

  /// Cancels the download and deletes the received bytes. Has no effect after the system has delivered the complete
  /// file.
  public func cancel() { wait.cancel() }

  /// Waits until the downloaded file is at its target path, and returns the file.
  /// - Throws: ``ErrandCore/APIError`` if the download failed or was cancelled. If the waiting task is cancelled, this
  ///   method throws too, but the download continues.
  public func value() async throws(APIError) -> DownloadedFile { try await wait.value() }
}

extension BackgroundDownload: BackgroundHandle {}
