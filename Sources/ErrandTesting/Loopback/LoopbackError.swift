/// A failure of a ``LoopbackServer``, or of a test that waits for an event of the server.
public enum LoopbackError: Error, Sendable, Equatable {
  /// A call to the operating system failed with the error number `code` (`errno`).
  case system(call: String, code: Int32)
  /// The awaited event did not occur within the time limit.
  case notReached(String, within: Duration)
  /// The server was stopped, so the event for which the test waits can no longer occur.
  case stopped(waitingFor: String)
}

extension LoopbackError: CustomStringConvertible {
  /// A sentence that names the cause and the cure. If a system call failed, the sentence names only the cause.
  public var description: String {
    switch self {
    case .system(let call, let code):
      "the system call \(call) failed with errno \(code)"
    case .notReached(let what, let bound):
      "timed out after \(bound) waiting for \(what): check in `server.requests` what the client has sent so far"
    case .stopped(let what):
      "the loopback server stopped during a wait for \(what): keep the server alive until the test ends"
    }
  }
}
