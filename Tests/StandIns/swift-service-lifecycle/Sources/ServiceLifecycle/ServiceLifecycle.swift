// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Service: Sendable {
  func run() async throws
}

/// Tells the tasks of one test that they shut down. The package itself keeps this type internal.
public struct Shutdown: Sendable {
  @TaskLocal public static var current: Shutdown?

  private let events: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  public init() { (events, continuation) = AsyncStream.makeStream() }

  public func begin() { continuation.finish() }

  func wait() async { for await _ in events {} }
}

/// Waits until the service shuts down.
/// - Throws: `CancellationError` if the task is cancelled.
public func gracefulShutdown() async throws {
  await (Shutdown.current ?? Shutdown()).wait()
  try Task.checkCancellation()
}
