/// Why a connection ends before its next request. None of these is an error of the test.
enum ConnectionEnd: Error {
  /// The client closed, reset or went away.
  case peerLeft
  /// The server is being stopped.
  case stopped
  /// The answer says to close.
  case close
  /// The answer says to reset.
  case reset
  /// The input is no HTTP/1.x request.
  case malformed(String)
}
