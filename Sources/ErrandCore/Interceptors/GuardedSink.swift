/// A body sink that passes on only accepted responses to the sink of the caller. The bodies of redirects are discarded.
/// The bodies of rejected responses are kept in memory, up to a limit.
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

  /// Runs a function of the caller's sink. Wraps an error that the function throws, so that the error can be
  /// distinguished from failures of the transport.
  private static func naming<Value>(_ body: () throws -> Value) throws(SinkFailure) -> Value {
    do {
      return try body()
    } catch {
      throw SinkFailure(cause: error)
    }
  }
}
