#if os(Linux)
  import ErrandHTTP

  extension CurlTransfer {
    /// Reads the answer of a server that has refused an upload and closed. Its closing resets the connection where a
    /// part of the request is unread, libcurl finds that it cannot send, and leaves lying what had come before.
    func readLastWords() {
      guard upload != nil, failure == nil, !parser.hasBegun, exchange.request.url.scheme == .http,
        loop.dialect(for: .http) == .http1, let words = connection?.lastWords
      else { return }
      words.withUnsafeBytes { takeLastWords($0) }
      // What cannot be read as an answer is none: the failure of the sending stands.
      if failure != nil { forgetAnswer() }
      failure = nil
    }

    private func takeLastWords(_ words: UnsafeRawBufferPointer) {
      var rest = words[...]
      while !parser.isFinal, let feed = rest.firstIndex(of: 0x0A) {
        let line = UnsafeRawBufferPointer(rebasing: rest[...feed])
        guard takeHeadLine(line) == line.count else { return }
        rest = rest[(feed + 1)...]
      }
      if parser.isFinal, !rest.isEmpty { _ = takeBody(UnsafeRawBufferPointer(rebasing: rest)) }
    }
  }
#endif
