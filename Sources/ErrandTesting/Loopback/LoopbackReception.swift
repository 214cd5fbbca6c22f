/// When a ``LoopbackServer`` reads the body of a request.
public enum LoopbackReception: Sendable {
  /// Reads the body, then answers; first says `100 Continue` if the request expects it.
  case automatic
  /// Reads the body, then answers; never says `100 Continue`.
  case withoutContinue
  /// Waits at the gate before a byte of the body is read, then goes on as `automatic`.
  case held(Gate)
  /// Answers at once, without `100 Continue`, and reads the body afterwards.
  case afterAnswer
  /// Answers at once and closes with the body unread, when the client has left or a quarter of a second later. The
  /// system then resets the connection where the client has sent some of it, as a server that refuses an upload often
  /// does.
  case never
}
