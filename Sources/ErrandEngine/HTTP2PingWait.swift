#if os(Linux)
  import ErrandHTTP

  /// The wait for the answer to a PING frame on an HTTP/2 connection. It performs no I/O.
  ///
  /// A server can answer only after PING has reached it. Before PING, it receives the bytes of uploads that wait in the
  /// connection and in the system, which may take longer than the wait. The wait therefore begins again when the system
  /// accepts PING, and while the server's system acknowledges bytes, until it has acknowledged PING. After that it begins
  /// once more at most, so a server whose process hangs is still found.
  struct HTTP2PingWait {
    /// The number of unacknowledged bytes up to PING that do not delay it: a new TCP connection sends as many without
    /// waiting for an acknowledgement (10 segments, RFC 6928).
    static let undelayed: UInt64 = 14_600

    /// The time at which the wait began last.
    private(set) var begun: MonotonicInstant
    /// The number of bytes that the server's system had acknowledged at that time. Nil if the wait cannot begin again,
    /// because nothing delays PING or the system does not know the number.
    private var acknowledged: UInt64?
    /// The number of bytes up to the end of PING. Nil if the system has not accepted PING.
    private var end: UInt64?

    /// Begins the wait when PING is passed to libnghttp2.
    init(now: MonotonicInstant, _ traffic: TCPTraffic?) {
      begun = now
      acknowledged = traffic?.acknowledged
    }

    /// Begins the wait again, because the system has accepted PING and `later` bytes after it.
    mutating func accepted(_ later: UInt64, now: MonotonicInstant, _ traffic: TCPTraffic?) {
      begun = now
      acknowledged = nil
      guard let traffic, traffic.unacknowledged > later, traffic.unacknowledged - later > Self.undelayed else { return }
      acknowledged = traffic.acknowledged
      end = traffic.acknowledged &+ (traffic.unacknowledged - later)
    }

    /// Begins the wait again after its time is over, if the server's system has acknowledged bytes since the wait began
    /// and had not acknowledged PING before. Returns false if the connection counts as dead.
    mutating func beginAgain(now: MonotonicInstant, _ traffic: TCPTraffic?) -> Bool {
      guard let traffic, let acknowledged, traffic.acknowledged > acknowledged else { return false }
      begun = now
      let hasArrived = end.map { $0 <= traffic.acknowledged } == true
      self.acknowledged = hasArrived ? nil : traffic.acknowledged
      return true
    }
  }

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
