/// The reason why a connection ends before its next request. No reason makes the test fail.
enum ConnectionEnd: Error {
  /// The client closed or reset the connection.
  case peerLeft
  /// The server is stopping.
  case stopped
  /// A step of the response closes the connection.
  case close
  /// A step of the response resets the connection.
  case reset
  /// The input is not an HTTP/1.x request.
  case malformed(String)
}
