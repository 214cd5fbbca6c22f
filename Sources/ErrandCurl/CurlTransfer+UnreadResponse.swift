#if os(Linux)
  import ErrandHTTP

  extension CurlTransfer {
    /// Reads the response of a server that rejected an upload and closed the connection. If the server has not read all
    /// of the request, closing resets the connection. libcurl then reports a send failure and leaves the response
    /// unread.
    func readUnreadResponse() {
      guard upload != nil, failure == nil, !parser.hasBegun, exchange.request.url.scheme == .http,
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
