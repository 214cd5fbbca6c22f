#if os(Linux)
  import CCurl
  import ErrandHTTP

  extension CurlTransfer {
    /// How long libcurl may continue to send a request after the response is complete. Over HTTP/2 libcurl would wait
    /// forever if the server does not read the rest of the request.
    static let graceBehindAnswer = Duration.milliseconds(250)
    /// How often the connection is checked while the source of a body has no bytes.
    static let timeBetweenLooks = Duration.milliseconds(250)

    /// The time-out for connecting, minus the time that the resolver took; nil for no limit.
    var connectTimeout: Duration? { exchange.connectTimeout.map { max(.zero, $0 - lookup) } }

    /// When the transfer is checked next: at the connect or idle time-out, or earlier if the source of the request body
    /// has no bytes, because the server may have closed the connection. Nil for never, such as while the response's
    /// sink is paused.
    var watchEnd: MonotonicInstant? {
      if !hasConnected { return connectTimeout.map { started.advanced(by: $0) } }
      if isPaused { return nil }
      if upload != nil, hasWholeAnswer { return lastActivity.advanced(by: Self.graceBehindAnswer) }
      if waitsForSource { return nextLook }
      return exchange.idleTimeout.map { lastActivity.advanced(by: $0) }
    }

    /// Whether the transfer waits only for the source of the request body.
    var waitsForSource: Bool { hasConnected && !isPaused && !hasWholeAnswer && upload?.isPaused == true }

    /// Schedules a check of the connection. libcurl does not notice the end of a connection while there is something to
    /// send.
    func lookLater() {
      nextLook = loop.now.advanced(by: Self.timeBetweenLooks)
      loop.expectWatch(of: self)
    }

    /// Whether the server has closed the connection, and all received bytes were read.
    var isLeft: Bool { connection?.hasEnded == true }

    /// The code that libcurl would report if it noticed the close. Over HTTP/2 a close before the response's explicit
    /// end truncates the body.
    var codeOfLeaving: CURLcode {
      guard parser.hasBegun else { return CURLE_GOT_NOTHING }
      return parser.head.version == .http2 ? CURLE_PARTIAL_FILE : CURLE_OK
    }

    /// The result of a transfer whose time is over: the response if it is complete, otherwise a failure.
    func endOfPatience() throws -> HTTPResponse {
      guard hasWholeAnswer else { throw timeout }
      return try finish()
    }

    /// The failure of a transfer whose time is over.
    var timeout: TransportFailure {
      let origin = exchange.request.url.origin
      if hasConnected {
        let text = FailureText.idleTimeout(origin, after: exchange.idleTimeout)
        return TransportFailure(.idleTimeout, text)
      }
      let text = FailureText.connectTimeout(origin, after: exchange.connectTimeout)
      return TransportFailure(.connectTimeout, text, isCertainlyNotSent: true)
    }
  }
#endif
