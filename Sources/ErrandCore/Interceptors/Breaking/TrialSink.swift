import ErrandSupport

/// Hands a body on, and tells the status of the answer as soon as that is there: the body of a trial may take longer than
/// a circuit waits for the word on it.
final class TrialSink: BodySink {
  private let inner: any BodySink
  private let tell: @Sendable (Int) -> Void
  private let told = Locked(false)

  init(_ inner: any BodySink, tell: @escaping @Sendable (Int) -> Void) {
    self.inner = inner
    self.tell = tell
  }

  /// Whether the status has been told.
  var hasTold: Bool { told.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    told.withLock { $0 = true }
    tell(head.status)
    return try inner.begin(head, flow: flow)
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}
