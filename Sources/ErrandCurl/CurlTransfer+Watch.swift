#if os(Linux)
  import CCurl
  import ErrandHTTP

  extension CurlTransfer {
    /// How long libcurl may go on sending a request whose answer has come whole. Over HTTP/2 it would do so for ever
    /// where the server does not want the rest.
    static let graceBehindAnswer = Duration.milliseconds(250)
    /// How often the connection is looked at while the source of a body has nothing.
    static let timeBetweenLooks = Duration.milliseconds(250)

    /// How long its connection may take, without what the resolver took; nil for no bound.
    var connectTimeout: Duration? { exchange.connectTimeout.map { max(.zero, $0 - lookup) } }

    /// When it is to be looked at: since it has waited too long, for its connection first, for anything to move later;
    /// or since its source has nothing and the server may have left. Nil for never, such as while its sink holds it up.
    var watchEnd: MonotonicInstant? {
      if !hasConnected { return connectTimeout.map { started.advanced(by: $0) } }
      if isPaused { return nil }
      if upload != nil, hasWholeAnswer { return lastActivity.advanced(by: Self.graceBehindAnswer) }
      if waitsForSource { return nextLook }
      return exchange.idleTimeout.map { lastActivity.advanced(by: $0) }
    }

    /// Whether nothing but the source of its body holds it up.
    var waitsForSource: Bool { hasConnected && !isPaused && !hasWholeAnswer && upload?.isPaused == true }

    /// Has its connection looked at in a while. libcurl does not look: the end of what comes is nothing to it while
    /// something is left to send.
    func lookLater() {
      nextLook = loop.now.advanced(by: Self.timeBetweenLooks)
      loop.expectWatch(of: self)
    }

    /// Whether the server has ended the connection, and all that it sent has been taken.
    var isLeft: Bool { connection?.hasEnded == true }

    /// What libcurl would report if it saw that the server has left. Over HTTP/2 an answer has an end of its own.
    var codeOfLeaving: CURLcode {
      guard parser.hasBegun else { return CURLE_GOT_NOTHING }
      return parser.head.version == .http2 ? CURLE_PARTIAL_FILE : CURLE_OK
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
