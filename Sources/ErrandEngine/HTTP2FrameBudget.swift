#if os(Linux)
  import ErrandHTTP

  /// Limits the frames of a server that carry no content of a response, such as SETTINGS, PING, empty DATA and
  /// CONTINUATION (RFC 9113 section 10.5). Each such frame costs points. Points return with time and with transferred
  /// content. A server that uses up all points is flooding the client.
  struct HTTP2FrameBudget {
    /// The maximum number of points, and the number at the beginning.
    static let capacity = 2000
    /// The number of points that return each second.
    static let perSecond = 100
    /// The price of a frame that carries no content.
    static let frame = 1
    /// The price of a CONTINUATION frame. Such frames can be large, and no limit of a stream applies to their number.
    static let continuation = 20
    /// The points that return with each DATA frame that carries content, in both directions, and with the end of each
    /// response.
    static let content = 4
    /// The number of sent bytes of a request body with which a point returns, so that a server can return its windows in
    /// small steps: those of the stream and of the connection for each kilobyte.
    static let sentBytesPerPoint = 512

    private var points = capacity
    private var counted: MonotonicInstant

    init(now: MonotonicInstant) { counted = now }

    /// Takes the price of a frame. Returns false if the points are used up.
    mutating func spend(_ price: Int, now: MonotonicInstant) -> Bool {
      let nanoseconds = max(0, now.nanoseconds &- counted.nanoseconds)
      let returned = Int(clamping: min(nanoseconds / 10_000_000, Int64(Self.capacity)))
      if returned > 0 {
        points = min(Self.capacity, points + returned)
        counted = now
      }
      points -= price
      return points >= 0
    }

    mutating func earn(_ gain: Int) { points = min(Self.capacity, points + gain) }
  }
#endif
