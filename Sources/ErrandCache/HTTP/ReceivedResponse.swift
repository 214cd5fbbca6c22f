package import ErrandCore

/// A response of the server, with all properties on which the decision to store it depends.
package struct ReceivedResponse: Sendable {
  /// The status and the header fields.
  package var head: ResponseHead
  /// The length of the body in bytes, after content decoding.
  package var bodyLength: Int
  /// Whether the whole body arrived.
  package var isComplete: Bool
  /// True if the caller's status rule accepts the response, or if the response is a redirect that is followed. If the
  /// request declares a lifetime, only an accepted response is stored.
  package var isAccepted: Bool
  /// The time at which the request was sent.
  package var requestTime: WallTime
  /// The time at which the response headers arrived.
  package var responseTime: WallTime
  /// The time at which the response headers arrived, on the monotonic clock.
  package var received: MonotonicInstant?
  /// The names, in lower case, of request fields that an interceptor between the cache and the server changed or added,
  /// such as the fields of a signature.
  package var changedFields: Set<String> = []

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
