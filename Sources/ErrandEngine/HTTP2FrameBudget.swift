#if os(Linux)
  import ErrandHTTP

  /// Limits the frames of a server that carry no content of a response, such as SETTINGS, PING, empty DATA and
  /// CONTINUATION (RFC 9113 section 10.5). Each frame costs points. Points return with time, with transferred content,
  /// with the headers of responses and with the reset of an open stream. A server that uses up all points is flooding
  /// the client.
  struct HTTP2FrameBudget {
    /// The maximum number of points, and the number at the beginning.
    static let capacity = 2000
    /// The number of points that return each second.
    static let perSecond: Int64 = 100
    /// The price of a frame.
    static let frame = 1
    /// The length from which a DATA frame costs nothing. Many such frames may still arrive for streams that the client
    /// has cancelled, and they bring back no points.
    static let freeData = 1024
    /// The price of a CONTINUATION frame. Such frames can be large, and no limit of a stream applies to their number.
    /// The headers and the trailers of a response that are within the limits of its stream return their price.
    static let continuation = 20
    /// The points that return with each DATA frame that carries content, in both directions, with the end of each
    /// response, and if the client resets a stream before the end of its response.
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
      let returned = Int(min(nanoseconds / (1_000_000_000 / Self.perSecond), Int64(Self.capacity)))
      if returned > 0 {
        points = min(Self.capacity, points + returned)
        counted = now
      }
      points -= price
      return points >= 0
    }

    mutating func earn(_ gain: Int) { points = min(Self.capacity, points + gain) }
  }

  /// Counts the CONTINUATION frames in the bytes of a server, which may be split at any place. libnghttp2 does not
  /// report those of a stream that has ended, although it decompresses them.
  struct HTTP2ContinuationCounter {
    /// The number of bytes in the header of a frame (RFC 9113 section 4.1).
    private static let headerSize = 9
    /// The type of a CONTINUATION frame (RFC 9113 section 6.10).
    private static let continuation: UInt8 = 9

    /// The number of received bytes of the current frame's header.
    private var headerBytes = 0
    /// The length of the current frame's payload, as far as its header was received.
    private var length = 0

    /// Returns the number of frames whose type is in `bytes`.
    mutating func count(in bytes: UnsafeRawBufferPointer) -> Int {
      var found = 0
      var place = 0
      while place < bytes.count {
        if headerBytes == Self.headerSize {
          let passed = min(length, bytes.count - place)
          place += passed
          length -= passed
          if length == 0 { headerBytes = 0 }
          continue
        }
        if headerBytes < 3 { length = length << 8 | Int(bytes[place]) }
        if headerBytes == 3, bytes[place] == Self.continuation { found += 1 }
        headerBytes += 1
        place += 1
      }
      return found
    }
  }
#endif
