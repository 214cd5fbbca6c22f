#if os(Linux)
  import CNGHTTP2
  import ErrandHTTP

  // The events of libnghttp2. It must not be called for more bytes during these calls; frames may be queued.
  extension HTTP2Connection {
    /// The bytes of a request body that were read for one frame.
    enum BodyPiece {
      /// The source has no bytes now, or the exchange has failed.
      case later
      case bytes(Int, isLast: Bool)
    }

    /// Handles the header of a frame. Returns false if the connection must end.
    func beganFrame(_ header: nghttp2_frame_hd) -> Bool {
      guard isOpen else { return false }
      guard UInt32(header.type) != NGHTTP2_PUSH_PROMISE.rawValue else {
        fault = "the server sent PUSH_PROMISE, which the client has disabled"
        return false
      }
      // `take(_:)` has counted the CONTINUATION frames, because libnghttp2 reports not all of them.
      if UInt32(header.type) == NGHTTP2_CONTINUATION.rawValue {
        sectionPrice += HTTP2FrameBudget.continuation
        return true
      }
      if UInt32(header.type) == NGHTTP2_DATA.rawValue, header.length >= HTTP2FrameBudget.freeData { return true }
      sectionPrice = HTTP2FrameBudget.frame
      if frames.spend(HTTP2FrameBudget.frame, now: loop.now) { return true }
      (fault, faultCode) = (EngineFailure.flood, NGHTTP2_ENHANCE_YOUR_CALM)
      return false
    }

    func beganHeaders(_ stream: Int32) { streams[stream]?.beginSection() }

    func receivedField(_ stream: Int32, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
      streams[stream]?.takeField(name, value)
    }

    /// Handles received content. The window of the connection is returned at once, because the bytes of a stream that
    /// its sink has paused wait in that stream's own memory. So no stream blocks another one.
    func receivedContent(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) {
      session?.returnConnectionWindow(bytes.count)
      frames.earn(HTTP2FrameBudget.content)
      streams[stream]?.takeContent(bytes)
    }

    func receivedFrame(_ frame: nghttp2_frame) {
      let header = frame.hd
      let flags = UInt32(header.flags)
      let endsStream = flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0
      switch UInt32(header.type) {
      case NGHTTP2_HEADERS.rawValue:
        hasResponded = true
        frames.earn(endsStream ? HTTP2FrameBudget.content : 0)
        if streams[header.stream_id]?.endSection(endsStream: endsStream) == true { frames.earn(sectionPrice) }
      case NGHTTP2_DATA.rawValue:
        if endsStream {
          frames.earn(HTTP2FrameBudget.content)
          streams[header.stream_id]?.endStream()
        }
      case NGHTTP2_RST_STREAM.rawValue:
        // A server can reset an open stream only once, so the number of requests limits the number of these frames.
        if streams[header.stream_id]?.isClosed == false { frames.earn(HTTP2FrameBudget.frame) }
      case NGHTTP2_SETTINGS.rawValue: if flags & NGHTTP2_FLAG_ACK.rawValue == 0 { noteSettings() }
      case NGHTTP2_GOAWAY.rawValue:
        // After this call, libnghttp2 closes the streams that the server has not processed.
        let code = frame.goaway.error_code
        if code != NGHTTP2_NO_ERROR.rawValue { goAwayCode = code }
        if code == HTTP2StreamMachine.http1Required { loop.requireHTTP1(of: origin) }
        retire()
        moveUnwrittenRequests()
      default: break
      }
    }

    /// The error because of which the server ends the connection, for the end of a message. Nil if it names none.
    var goAwayCause: String? {
      goAwayCode == 0 ? nil : "the server ended the connection with \(HTTP2Session.name(of: goAwayCode))"
    }

    /// Moves the newest requests to other connections if there are more streams than the server accepts. Only a request
    /// that libnghttp2 has not written moves: it would wait there until other streams end. A body that is used up cannot
    /// move.
    ///
    /// A server that accepts no stream at all does so for a short time (RFC 9113 section 6.5.2), and its next connection
    /// may do the same. Its requests wait here.
    func moveQueuedRequests() {
      guard mostStreams > 0, streams.count > mostStreams else { return }
      let queued = streams.values.filter { $0.start == nil && $0.exchange.upload?.canBeSentAgain != false }
      let newest = queued.sorted { $0.id > $1.id }.prefix(streams.count - mostStreams)
      for stream in newest { loop.sendAgain(stream.exchange, isKept: false) }
    }

    /// Moves the requests that libnghttp2 has not written to other connections, because the server has sent GOAWAY.
    /// libnghttp2 reports them only when it could write them: when the system accepts bytes again and, at the server's
    /// limit on concurrent streams, when another stream has ended.
    private func moveUnwrittenRequests() {
      for stream in streams.values.sorted(by: { $0.id < $1.id }) where stream.start == nil {
        stream.closed(code: HTTP2StreamMachine.refusedStream)
      }
    }

    /// Records why libnghttp2 ends the connection or a stream.
    func receivedInvalidFrame(_ error: Int32) { invalidFrame = HTTP2Session.text(error) }

    /// Handles a request that libnghttp2 does not send, because the server takes no new streams or the request is not
    /// valid.
    func notSent(_ header: nghttp2_frame_hd, error: Int32) {
      guard UInt32(header.type) == NGHTTP2_HEADERS.rawValue, let stream = streams[header.stream_id] else { return }
      switch error {
      case NGHTTP2_ERR_START_STREAM_NOT_ALLOWED.rawValue, NGHTTP2_ERR_SESSION_CLOSING.rawValue:
        stream.closed(code: HTTP2StreamMachine.refusedStream)
      default: stream.notSent(HTTP2Session.text(error))
      }
    }

    func closedStream(_ stream: Int32, code: UInt32) { streams[stream]?.closed(code: code) }

    func readBody(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> BodyPiece {
      guard let exchange = streams[stream]?.exchange else { return .later }
      do {
        switch try UploadFraming.read(of: exchange, into: buffer, loop) {
        case .later: return .later
        case .end: return .bytes(0, isLast: true)
        case .bytes(let count): return .bytes(count, isLast: exchange.upload?.hasEnded == true)
        }
      } catch {
        loop.fail(exchange, error)
        return .later
      }
    }
  }
#endif
