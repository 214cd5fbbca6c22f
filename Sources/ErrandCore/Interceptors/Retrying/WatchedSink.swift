import ErrandSupport

/// Knows whether a sink has been told an answer: from then on what it has taken cannot be taken back.
final class WatchedSink: BodySink {
  private let inner: any BodySink
  private let begun = Locked(false)

  init(_ inner: any BodySink) { self.inner = inner }

  var hasBegun: Bool { begun.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let disposition = try inner.begin(head, flow: flow)
    if case .sink = disposition { begun.withLock { $0 = true } }
    return disposition
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}
