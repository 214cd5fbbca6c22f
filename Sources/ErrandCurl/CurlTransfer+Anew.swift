#if os(Linux)
  import CCurl
  import ErrandHTTP

  /// When an exchange begins anew, and what is never sent twice.
  extension CurlTransfer {
    /// Whether the server may get it twice.
    private var isRepeatable: Bool {
      exchange.handling.mayBeRepeated ?? (exchange.request.method == .get || exchange.request.method == .head)
    }

    /// libcurl sends a request again when a kept connection dies under it, over the next kept one where there is one.
    /// It may do so once, over a connection that nobody used. Otherwise the exchange begins anew, if it may.
    func mayBeSentAgain(over connection: CurlConnection?) -> Bool {
      isRepeatable && !isRepeated && upload == nil && (connection?.requests ?? 0) == 0
    }

    /// Whether a kept connection died before a byte of the answer, and the request may be sent once more.
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

    /// Whether it has to begin anew on a connection that nobody used before.
    var needsFreshConnection: Bool { isRepeated || staleConnections > 1 || retirements > 1 }

    /// Whether the exchange may begin anew: its connection was stale before a byte was sent, or the server refused to
    /// be asked before the body, or a kept connection died under it.
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

    // MARK: - A connection that is retired

    func take(_ word: CurlWord) {
      switch word {
      case .stream(let stream): self.stream = stream
      case .leaving: isLeaving = true
      case .lastStream(let last): if !isLeaving { connection?.lastStream = last }
      }
    }

    /// Whether the server has said that it did not take the request and never will, by naming an earlier stream as the
    /// last one (RFC 9113 section 6.8): whatever the method, it may be sent again.
    var isNotTaken: Bool {
      guard let stream, let last = connection?.lastStream, !parser.hasBegun else { return false }
      return stream > last
    }

    /// Begins anew with what was not taken, if its body can be read again, and servers have not done so too often.
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
