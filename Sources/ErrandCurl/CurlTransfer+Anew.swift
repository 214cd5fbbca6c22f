#if os(Linux)
  import CCurl
  import ErrandHTTP

  /// When an exchange starts again, and which requests are never sent twice.
  extension CurlTransfer {
    /// Whether the request may reach the server twice.
    private var isRepeatable: Bool {
      exchange.handling.mayBeRepeated ?? (exchange.request.method == .get || exchange.request.method == .head)
    }

    /// Whether libcurl may send the request again over this connection, after a kept connection has closed. It may do
    /// so once, and only over a connection without earlier requests. libcurl prefers other kept connections; in that
    /// case the exchange starts again if this is allowed.
    func mayBeSentAgain(over connection: CurlConnection?) -> Bool {
      isRepeatable && !isRepeated && upload == nil && (connection?.requests ?? 0) == 0
    }

    /// Whether a kept connection closed before the first byte of a response, and the request may be sent again.
    private func mayBeRepeated(after code: CURLcode) -> Bool {
      guard isRepeatable, !isRepeated, isReused == true, !parser.hasBegun, upload?.canBeginAnew != false,
        !exchange.call.isStopped
      else { return false }
      if let failure { return (failure as? TransportFailure)?.kind == .closedBeforeResponse }
      switch code {
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2: return true
      default: return false
      }
    }

    /// Whether the exchange must start again on a new connection.
    var needsFreshConnection: Bool { isRepeated || staleConnections > 1 || retirements > 1 }

    /// Whether the exchange may start again. This is so if the server did not process the request (GOAWAY) or rejected
    /// `Expect: 100-continue`, if a kept connection closed, or if the connection was stale: it had unread bytes, or had
    /// ended, before the request was sent.
    func canStartAnew(after code: CURLcode) -> Bool {
      if isNotTaken, code != CURLE_OPERATION_TIMEDOUT { return canBeGivenAgain() }
      if mayBeRepeated(after: code) {
        isRepeated = true
        exchange.handling.note?.repeated()
        isStale = false
        failure = nil
        forgetAnswer()
        expectsContinue = exchange.request.body?.expectsContinue == true
        return true
      }
      if isExpectationRefused, failure == nil {
        forgetAnswer()
        return true
      }
      guard isStale, failure == nil, staleConnections < Self.mostStaleConnections else { return false }
      isStale = false
      staleConnections += 1
      return true
    }

    // MARK: - GOAWAY

    func take(_ word: CurlDebugText) {
      switch word {
      case .stream(let stream): self.stream = stream
      case .leaving: isLeaving = true
      case .lastStream(let last): if !isLeaving { connection?.lastStream = last }
      }
    }

    /// Whether the server has not processed the request and never will, because it named an earlier stream as the last
    /// one (RFC 9113 section 6.8). The request may then be sent again, whatever its method.
    var isNotTaken: Bool {
      guard let stream, let last = connection?.lastStream, !parser.hasBegun else { return false }
      return stream > last
    }

    /// Starts a request again that the server did not process. Returns false if the body cannot be read again, or if
    /// this has happened too often.
    private func canBeGivenAgain() -> Bool {
      guard failure == nil, retirements < Self.mostStaleConnections, upload?.canBeginAnew != false,
        !exchange.call.isStopped
      else { return false }
      retirements += 1
      exchange.handling.note?.repeated()
      forgetAnswer()
      expectsContinue = exchange.request.body?.expectsContinue == true
      return true
    }
  }
#endif
