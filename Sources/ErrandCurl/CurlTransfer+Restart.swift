#if os(Linux)
  import CCurl
  import ErrandHTTP

  /// The rules for starting an exchange again, and for requests that must not be sent twice.
  extension CurlTransfer {
    /// Whether libcurl may send the request again over a connection, because the previous connection of this transfer
    /// has closed. libcurl may do so once, and only over a connection without earlier requests. If libcurl chooses a
    /// connection with earlier requests, the transfer ends, and the exchange may start again.
    func mayBeSentAgain(over connection: CurlConnection?) -> Bool {
      exchange.isRepeatable && !isRepeated && upload == nil && (connection?.requests ?? 0) == 0
    }

    /// Whether the request may be sent again because a reused connection closed before the first byte of the response.
    private func mayBeRepeated(after code: CURLcode) -> Bool {
      guard exchange.isRepeatable, !isRepeated, isReused == true, !parser.hasBegun, upload?.canBeSentAgain != false,
        !exchange.call.isStopped
      else { return false }
      if let failure { return (failure as? TransportFailure)?.kind == .closedBeforeResponse }
      switch code {
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2: return true
      default: return false
      }
    }

    /// Whether the exchange must use a new connection instead of an idle connection.
    var needsFreshConnection: Bool { isRepeated || staleConnections > 1 || retirements > 1 }

    /// Prepares a new start of the exchange after libcurl has ended the transfer. Returns false if the exchange must
    /// not start again. A new start is allowed in five cases:
    /// - The proxy asks for another answer.
    /// - The server did not process the request (GOAWAY).
    /// - The server rejected `Expect: 100-continue`.
    /// - A reused connection closed before the response.
    /// - The connection had unread bytes or had ended before the request was sent.
    func prepareRestart(after code: CURLcode) -> Bool {
      if code != CURLE_OK { readUnreadResponse() }
      if proxy.isChallenged, failure == nil, !exchange.call.isStopped {
        discardResponse()
        return true
      }
      if isUnprocessed, code != CURLE_OPERATION_TIMEDOUT { return prepareUnprocessedRestart() }
      if mayBeRepeated(after: code) {
        isRepeated = true
        exchange.handling.observer?.repeated()
        isStale = false
        failure = nil
        discardResponse()
        return true
      }
      if isExpectationRefused, failure == nil {
        discardResponse()
        return true
      }
      guard isStale, failure == nil, staleConnections < Self.mostStaleConnections else { return false }
      isStale = false
      staleConnections += 1
      return true
    }

    // MARK: - GOAWAY

    func take(_ message: CurlDebugText) {
      switch message {
      case .stream(let stream): self.stream = stream
      case .leaving: isLeaving = true
      case .lastStream(let last): if !isLeaving { connection?.lastStream = last }
      }
    }

    /// Whether the server guarantees that it does not process the request: its GOAWAY frame names an earlier stream as
    /// the last one (RFC 9113 section 6.8). The request may then be sent again, whatever its method is.
    var isUnprocessed: Bool {
      guard let stream, let last = connection?.lastStream, !parser.hasBegun else { return false }
      return stream > last
    }

    /// Prepares a new start of a request that the server did not process. Returns false if the body cannot be read
    /// again, or if the request was already started again too often.
    private func prepareUnprocessedRestart() -> Bool {
      guard failure == nil, retirements < Self.mostStaleConnections, upload?.canBeSentAgain != false,
        !exchange.call.isStopped
      else { return false }
      retirements += 1
      exchange.handling.observer?.repeated()
      discardResponse()
      return true
    }
  }

  extension CurlTransfer {
    /// Reads the response of a server that rejected an upload and closed the connection. If the server has not read all
    /// of the request, closing resets the connection. libcurl then reports a send failure and leaves the response
    /// unread. Unread bytes on a stale connection belong to no request.
    private func readUnreadResponse() {
      guard upload != nil, failure == nil, !isStale, !parser.hasBegun, exchange.request.url.scheme == .http,
        loop.dialect(for: .http) == .http1, let unread = connection?.unreadBytes
      else { return }
      unread.withUnsafeBytes { takeUnreadResponse($0) }
      // If the bytes are not a valid response, the send failure remains the result.
      if failure != nil { discardResponse() }
      failure = nil
    }

    private func takeUnreadResponse(_ bytes: UnsafeRawBufferPointer) {
      var rest = bytes[...]
      while !parser.isFinal, let feed = rest.firstIndex(of: 0x0A) {
        let line = UnsafeRawBufferPointer(rebasing: rest[...feed])
        guard takeHeadLine(line) == line.count else { return }
        rest = rest[(feed + 1)...]
      }
      if parser.isFinal, !rest.isEmpty { _ = takeBody(UnsafeRawBufferPointer(rebasing: rest)) }
    }
  }
#endif
