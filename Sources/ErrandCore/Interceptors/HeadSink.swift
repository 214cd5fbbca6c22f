import ErrandSupport

/// A body sink that forwards the body to another sink, and reports the response headers as soon as they arrive. So an
/// interceptor does not wait for the end of the body, which may take very long.
final class HeadSink: BodySink {
  private let inner: any BodySink
  private let report: @Sendable (ResponseHead) -> Void
  private let isOver = Locked(false)

  /// Makes a sink that calls `report` at most once, on the thread of the transport.
  init(_ inner: any BodySink, report: @escaping @Sendable (ResponseHead) -> Void) {
    self.inner = inner
    self.report = report
  }

  /// Ends the reporting. Returns true if response headers have been reported.
  func stopReporting() -> Bool {
    isOver.withLock { isOver in
      defer { isOver = true }
      return isOver
    }
  }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    if !stopReporting() { report(head) }
    return try inner.begin(head, flow: flow)
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}
