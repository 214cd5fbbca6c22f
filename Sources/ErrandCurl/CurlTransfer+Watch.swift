#if os(Linux)
  import ErrandCore

  extension CurlTransfer {
    /// How long libcurl may go on sending a request whose answer has come whole. Over HTTP/2 it would do so for ever
    /// where the server does not want the rest.
    static let graceBehindAnswer = Duration.milliseconds(250)

    /// When it has waited too long: for its connection first, for anything to move later. Nil for no bound, and while
    /// its own sink or source holds it up.
    var watchEnd: MonotonicInstant? {
      if !hasConnected { return exchange.connectTimeout.map { started.advanced(by: $0) } }
      if isPaused { return nil }
      if upload != nil, hasWholeAnswer { return lastActivity.advanced(by: Self.graceBehindAnswer) }
      if upload?.isPaused == true { return nil }
      return exchange.idleTimeout.map { lastActivity.advanced(by: $0) }
    }

    /// What comes of one that has waited too long: the answer where it came whole, a failure otherwise.
    func endOfPatience() throws -> HTTPResponse {
      guard hasWholeAnswer else { throw timeout }
      return try finish()
    }

    /// The failure of one that has waited too long.
    var timeout: TransportFailure {
      let origin = exchange.request.url.origin
      if hasConnected {
        let text = CurlFailureText.idleTimeout(origin, after: exchange.idleTimeout)
        return TransportFailure(.idleTimeout, text)
      }
      let text = CurlFailureText.connectTimeout(origin, after: exchange.connectTimeout)
      return TransportFailure(.connectTimeout, text, isCertainlyNotSent: true)
    }
  }
#endif
