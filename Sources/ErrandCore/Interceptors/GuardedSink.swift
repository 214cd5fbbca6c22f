/// Keeps redirects and refused answers out of a sink: the former are dropped, the latter held in bounded memory.
struct GuardedSink: BodySink {
  static let refusedLimit = 1 << 20

  let inner: any BodySink
  let rule: StatusRule
  let contentTypes: [String]?
  let redirects: RedirectPolicy

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    if redirects.mode != .manual, StatusRule.isRedirect(head.status) { return .discard }
    guard rule.accepts(head.status), Validating.takes(head.fields, contentTypes) else {
      return .memory(limit: Self.refusedLimit)
    }
    return try Self.naming { () throws in try inner.begin(head, flow: flow) }
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    try Self.naming { () throws in try inner.write(piece) }
  }
  func end() throws { try Self.naming { () throws in try inner.end() } }

  func settle() async throws {
    do {
      try await inner.settle()
    } catch {
      throw SinkFailure(cause: error)
    }
  }

  /// Marks what a sink throws, so that the caller can tell it from failures of the line.
  private static func naming<Value>(_ body: () throws -> Value) throws(SinkFailure) -> Value {
    do {
      return try body()
    } catch {
      throw SinkFailure(cause: error)
    }
  }
}
