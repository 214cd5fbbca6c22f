#if os(Linux)
  import ErrandHTTP

  /// The body of a request on its way to libcurl, opened when the first bytes are wanted.
  struct CurlUpload {
    private let body: HTTPBody
    private var source: (any BodySource)?
    /// The bytes that libcurl has taken.
    private(set) var sent: Int64 = 0
    private(set) var isWhole = false
    /// Whether libcurl waits for the source.
    var isPaused = false

    init(_ body: HTTPBody) {
      self.body = body
      if body.length == 0 { isWhole = true }
    }

    /// The bytes in all, where they are known.
    var total: Int64? { isWhole ? sent : body.length }

    /// Whether the request may be sent once more from its beginning.
    var canBeginAnew: Bool { !body.isUsedUp }

    /// libcurl asks for nothing where nothing is announced, so that this alone finds out that there is something by
    /// now.
    func expectEmpty() throws {
      guard body.length == 0, body.data == nil else { return }
      let opened = try body.open(BodyFlow {})
      _ = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try opened.read(into: $0) }
    }

    /// Lets go of the source; what is known of it stays.
    mutating func close() { source = nil }

    mutating func give(_ room: UnsafeMutableRawBufferPointer, _ flow: @autoclosure () -> BodyFlow) throws -> BodyRead {
      if isWhole { return .end }
      let opened = try source ?? body.open(flow())
      source = opened
      let read = try opened.read(into: room)
      switch read {
      case .bytes(let count):
        sent += Int64(count)
        isWhole = sent == body.length
      case .end: isWhole = true
      case .later: isPaused = true
      }
      if isWhole { source = nil }
      return read
    }
  }
#endif
