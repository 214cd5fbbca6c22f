import ErrandSupport
import Foundation

/// A body sink that forwards the body to another sink. A type that conforms implements ``BodySink/begin(_:flow:)``, and
/// the other functions only if they do more than forward.
package protocol ForwardingSink: BodySink {
  var inner: any BodySink { get }
}

extension ForwardingSink {
  package func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  package func end() throws { try inner.end() }
  package func settle() async throws { try await inner.settle() }
}

/// A body sink that forwards the body to the sink of the caller, and records how far the body has come. The bytes in
/// that sink cannot be taken back. So the request is not sent again after an accepted response, and an interceptor
/// cannot replace a response whose body ended too early.
final class WatchedSink: ForwardingSink {
  private struct State: Sendable {
    var isAsked = false
    var hasBegun = false
    var isWhole = false
  }

  let inner: any BodySink
  private let state = Locked(State())

  init(_ inner: any BodySink) { self.inner = inner }

  /// True if the sink of the caller has received the headers of a response, and so has chosen where its body goes.
  var isAsked: Bool { state.withLock { $0.isAsked } }

  /// True if the sink of the caller has accepted a response.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// True if the sink of the caller has accepted a response whose body has not arrived completely.
  var isIncomplete: Bool { state.withLock { $0.hasBegun && !$0.isWhole } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    state.withLock { $0.isAsked = true }
    let disposition = try inner.begin(head, flow: flow)
    if case .sink = disposition { state.withLock { $0 = State(isAsked: true, hasBegun: true) } }
    return disposition
  }

  func end() throws {
    try inner.end()
    state.withLock { $0.isWhole = true }
  }

  /// Passes a response that did not come from the transport to the sink of the caller, as a transport would do. Returns
  /// the response without its body, unless the sink leaves the body in memory.
  func take(_ response: HTTPResponse) async throws -> HTTPResponse {
    let disposition = try begin(response.head, flow: BodyFlow {})
    if case .memory = disposition { return response }
    if case .sink = disposition {
      _ = try response.body.withUnsafeBytes { try write($0) }
      try end()
      try await settle()
    }
    var rest = response
    rest.body = Data()
    return rest
  }
}

/// A body sink that keeps a response in memory if its headers reject the credential of the request, and forwards all
/// other responses to the sink of the caller. So the request can be sent again with a newer credential.
///
/// Only responses whose status and content type the call accepts arrive here (``GuardedSink``). If the call accepts the
/// status 401, the caller wants the body of such a response, so it is forwarded.
final class RejectionSink: ForwardingSink {
  private struct State: Sendable {
    var hasBegun = false
    /// The status of the last response that arrived here, if its headers rejected the credential.
    var rejectedStatus: Int?
  }

  let inner: any BodySink
  private let isRejection: @Sendable (ResponseHead) -> Bool
  private let state = Locked(State())

  /// Makes a sink that calls `isRejection` on the thread of the transport.
  init(_ inner: any BodySink, isRejection: @escaping @Sendable (ResponseHead) -> Bool) {
    self.inner = inner
    self.isRejection = isRejection
  }

  /// True if the sink of the caller has accepted a response.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Returns true if the headers of the given response rejected the credential, and forgets that response. False for
  /// another response that did not arrive here, for example because an exchange interceptor sent the request again and
  /// the call does not accept the status of the second response.
  func takeRejection(by response: HTTPResponse) -> Bool {
    state.withLock { state in
      defer { state.rejectedStatus = nil }
      return state.rejectedStatus == response.status
    }
  }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let isRejected = head.status != 401 && isRejection(head)
    state.withLock { $0.rejectedStatus = isRejected ? head.status : nil }
    if isRejected { return .memory(limit: GuardedSink.refusedLimit) }
    let disposition = try inner.begin(head, flow: flow)
    if case .sink = disposition { state.withLock { $0.hasBegun = true } }
    return disposition
  }
}

/// The cause of the error if an interceptor returns a response although the body that was streamed to the caller ended
/// too early.
struct IncompleteBody: Error {}

extension APIError {
  static var incompleteBody: APIError {
    APIError(
      .interceptor, .interceptor,
      "An interceptor returned a response although the body that is streamed to the caller ended too early; let the "
        + "interceptor throw the error of `next`, because a part of the body is already delivered.",
      cause: IncompleteBody())
  }
}

/// A body sink that forwards the body to another sink, and reports the response headers as soon as they arrive. So an
/// interceptor does not wait for the end of the body, which may take very long.
final class HeadSink: ForwardingSink {
  let inner: any BodySink
  private let report: @Sendable (ResponseHead) -> Void
  private let isOver = Locked(false)

  /// Makes a sink that calls `report` at most once, on the thread of the transport.
  init(_ inner: any BodySink, report: @escaping @Sendable (ResponseHead) -> Void) {
    self.inner = inner
    self.report = report
  }

  /// Ends the reporting. Returns true if response headers have been reported.
  func stopReporting() -> Bool { !isOver.setOnce() }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    if isOver.setOnce() { report(head) }
    return try inner.begin(head, flow: flow)
  }
}
