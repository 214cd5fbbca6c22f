/// The time at which a ``LoopbackServer`` reads the body of a request.
public enum LoopbackReception: Sendable {
  /// Reads the body before the response. If the request has `Expect: 100-continue`, the server sends `100 Continue`
  /// first.
  case automatic
  /// Reads the body before the response, and never sends `100 Continue`.
  case withoutContinue
  /// Waits at the gate before reading the body, then continues like `automatic`.
  case held(Gate)
  /// Responds immediately, without `100 Continue`, and reads the body afterwards.
  case afterAnswer
  /// Responds immediately, and does not read the body. The server closes the connection when the client has closed it,
  /// or after 250 milliseconds. If the client has sent some of the body, the system then resets the connection. Many
  /// servers that reject an upload behave in this way.
  case never
}
