#if os(Linux)
  import ErrandHTTP

  // The search for servers that have fallen silent.
  extension HTTP2Connection {
    /// The time at which the connection counts as dead if no byte arrives. Nil if no PING frame is unanswered.
    var pingEnd: MonotonicInstant? { pingWait.map { $0.begun.advanced(by: loop.configuration.pingWait) } }

    /// True if the server has not answered a PING frame in time.
    var isOverdue: Bool { pingEnd.map { $0 <= loop.now } ?? false }

    /// Ends the connection if the server has not answered a PING frame in time, unless the frame may still be on its way.
    func endIfOverdue() {
      guard isOverdue, pingWait?.beginAgain(now: loop.now, socket.traffic) == false else { return }
      lost(isReset: true, isSilent: true)
    }

    /// Sends a PING frame unless one is unanswered, and schedules the check of the connection.
    func ping() {
      guard isOpen, pingWait == nil else { return }
      session?.ping()
      pingWait = HTTP2PingWait(now: loop.now, socket.traffic)
      for stream in streams.values { loop.expectWatch(of: stream.exchange) }
      loop.flushLater(self)
    }

    /// Records that the system has accepted a PING frame, if that is so.
    func notePing() {
      guard let end = pingFrameEnd, written >= end else { return }
      pingFrameEnd = nil
      pingWait?.accepted(UInt64(written - end), now: loop.now, socket.traffic)
    }
  }
#endif
