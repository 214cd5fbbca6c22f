/// The error that is thrown inside the server to end a connection before its next request. None of these errors reaches
/// the test.
enum ConnectionEnd: Error {
  /// The client closed or reset the connection.
  case peerLeft
  /// The test has stopped the server, or the server is being deallocated.
  case stopped
  /// The scripted response contains a step that closes the connection.
  case close
  /// The scripted response contains a step that resets the connection.
  case reset
  /// The bytes that the client sent are not an HTTP/1.x request. The associated text states the mistake.
  case malformed(String)
}
