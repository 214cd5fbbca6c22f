// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import ServiceLifecycle

public struct GracefulShutdownTestTrigger: Sendable {
  let shutdown: Shutdown

  public func triggerGracefulShutdown() { shutdown.begin() }
}

public func testGracefulShutdown<Value>(
  operation: (GracefulShutdownTestTrigger) async throws -> Value
) async rethrows -> Value {
  let shutdown = Shutdown()
  return try await Shutdown.$current.withValue(shutdown) {
    try await operation(GracefulShutdownTestTrigger(shutdown: shutdown))
  }
}
