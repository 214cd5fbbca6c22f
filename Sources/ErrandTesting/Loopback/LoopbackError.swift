/// What can go wrong with a ``LoopbackServer`` or with waiting for one.
public enum LoopbackError: Error, Sendable, Equatable {
  /// A call to the operating system failed, with its `errno`.
  case system(call: String, code: Int32)
  /// What was waited for did not come within the bound.
  case notReached(String, within: Duration)
  /// The server was stopped while something was waited for that can no longer come.
  case stopped(waitingFor: String)
}

extension LoopbackError: CustomStringConvertible {
  /// One sentence that names the culprit and what to look at.
  public var description: String {
    switch self {
    case .system(let call, let code):
      "the system call \(call) failed with errno \(code)"
    case .notReached(let what, let bound):
      "waited \(bound) for \(what) in vain: look at what the client has sent so far in `server.requests`"
    case .stopped(let what):
      "the loopback server was stopped while \(what) was waited for: keep the server alive until the test ends"
    }
  }
}
