package import ErrandCore

/// An answer of the server, as storing has to know it.
package struct ReceivedAnswer: Sendable {
  /// Status and fields.
  package var head: ResponseHead
  /// The body's length in memory, its content coding undone.
  package var bodyLength: Int
  /// Whether the whole body came.
  package var isComplete: Bool
  /// Whether the caller's status rule accepts it, or it is a redirect that is followed: what a declared lifetime keeps.
  package var isAccepted: Bool
  /// When the request was sent.
  package var requestTime: WallTime
  /// When the head came.
  package var responseTime: WallTime
  /// The same on the monotonic clock.
  package var received: MonotonicInstant?
  /// Names of fields, in lower case, that were sent otherwise than the cache saw them: those of a signature.
  package var stamped: Set<String> = []

  package init(
    head: ResponseHead, bodyLength: Int, isComplete: Bool = true, isAccepted: Bool, requestTime: WallTime,
    responseTime: WallTime, received: MonotonicInstant?
  ) {
    self.head = head
    self.bodyLength = bodyLength
    self.isComplete = isComplete
    self.isAccepted = isAccepted
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.received = received
  }
}
