/// A session of the system's that downloads and uploads while the app is suspended or does not run: the seam of
/// `BackgroundDownloads` and `BackgroundUploads`, each with a session of its own.
///
/// It knows transfers by the names that they were started with, and keeps these names with them over the end of the
/// process. It tells what happens on a thread of its own, one event after the other, and never from within a call to
/// it. A double for tests keeps the listener and tells what the test says:
///
/// ```swift
/// final class StillSession: BackgroundSession {
///   func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void) {}
///   func start(_ order: BackgroundOrder) throws {}
///   func cancel(_ name: String) {}
///   func names() async -> Set<String> { [] }
/// }
/// ```
public protocol BackgroundSession: Sendable {
  /// Begins to tell, also what happened while nobody listened. Called once, before everything else.
  func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void)
  /// Hands a transfer over to the system: an upload where the request has a body, which is a whole file then
  /// (``HTTPBody/filePath``), else a download. Throws where the system does not take it; nothing is told of it then.
  func start(_ order: BackgroundOrder) throws
  /// Ends a transfer; the end is told. No effect on one that the system does not have.
  func cancel(_ name: String)
  /// The names of the transfers that the system has and that have not ended.
  func names() async -> Set<String>
}
