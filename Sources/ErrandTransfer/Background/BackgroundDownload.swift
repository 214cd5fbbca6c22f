public import ErrandCore

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

  /// What it is known by, also after the app was started anew; no two downloads have the same.
  public var id: String { wait.id }
  /// The tag that it was started with.
  public var tag: String? { wait.tag }
  /// How far it is: the newest report, those in between dropped for a reader who is slow. Nothing is told of the time in
  /// which the app did not run. Ends with the download; for one reader.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<DownloadedFile>

  init(_ wait: BackgroundWait<DownloadedFile>) { self.wait = wait }

  /// Ends the download. What came of it is thrown away. No effect once its file is there whole and is being checked.
  public func cancel() { wait.cancel() }

  /// The file, once it is there.
  /// - Throws: ``ErrandCore/APIError``: why the download failed, or that it was cancelled. Where the task that waits is
  ///   cancelled, this throws, too, and the download goes on.
  public func value() async throws(APIError) -> DownloadedFile { try await wait.value() }
}

extension BackgroundDownload: BackgroundHandle {}
