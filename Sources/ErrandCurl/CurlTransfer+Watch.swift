#if os(Linux)
  import CCurl
  import ErrandHTTP

  extension CurlTransfer {
    /// The time for which libcurl may continue to send a request after the response is complete. Over HTTP/2 libcurl
    /// would wait forever if the server does not read the rest of the request.
    static let graceAfterResponse = Duration.milliseconds(250)
    /// The time between two checks of the connection while the source of the request body has no bytes.
    static let timeBetweenChecks = Duration.milliseconds(250)

    /// The connect time-out minus the duration of the custom resolver's lookup. Nil for no limit.
    var connectTimeout: Duration? { exchange.connectTimeout.map { max(.zero, $0 - lookup) } }

    /// The time of the next check of the transfer. Nil if no check is needed, for example while the sink of the
    /// response body has paused. The time depends on the state of the transfer:
    /// - While libcurl connects: the end of the connect time-out.
    /// - While libcurl still sends the request after a complete response: the end of the grace period.
    /// - While the source of the request body has no bytes: the next check whether the server has closed the
    ///   connection, or the end of the idle time-out.
    /// - In all other states: the end of the idle time-out.
    var watchEnd: MonotonicInstant? {
      if !hasConnected { return connectTimeout.map { started.advanced(by: $0) } }
      if isPaused { return nil }
      if upload != nil, hasWholeResponse { return lastActivity.advanced(by: Self.graceAfterResponse) }
      return waitsForSource ? .earliest(nextCheck, idleEnd) : idleEnd
    }

    /// The end of the idle time-out. Nil if there is none, for example while the source of the request body has no
    /// bytes. A source does not matter after the server has rejected the request.
    var idleEnd: MonotonicInstant? {
      if waitsForSource, !parser.isFinal || parser.head.status < 400 { return nil }
      return exchange.idleTimeout.map { lastActivity.advanced(by: $0) }
    }

    /// Whether the check of the transfer is due.
    func isDue(_ now: MonotonicInstant) -> Bool { watchEnd.map { $0 <= now } == true }

    /// Whether the source of the request body has no bytes, and the transfer waits only for this source.
    var waitsForSource: Bool { hasConnected && !isPaused && !hasWholeResponse && upload?.isPaused == true }

    /// Schedules a check of the connection. libcurl does not notice the end of a connection while a part of the request
    /// is still to be sent.
    func scheduleCheck() {
      nextCheck = loop.now.advanced(by: Self.timeBetweenChecks)
      loop.expectWatch(of: self)
    }

    /// Whether the server has closed the connection, and all received bytes were read.
    var isClosedByServer: Bool { connection?.hasEnded == true }

    /// The result code that libcurl would report if it noticed that the server closed the connection. Over HTTP/2, a
    /// close before the explicit end of the response truncates the body.
    var codeAfterClose: CURLcode {
      guard parser.hasBegun else { return CURLE_GOT_NOTHING }
      return parser.head.version == .http2 ? CURLE_PARTIAL_FILE : CURLE_OK
    }

    /// The failure of a transfer whose time-out has passed.
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
