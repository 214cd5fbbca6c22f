#if os(Linux)
  import ErrandHTTP

  /// An HTTP/1.1 connection as a state machine (RFC 9112): which exchange it carries, how far the request and the
  /// response have come, and whether it may be kept. It performs no I/O.
  ///
  /// | phase | `submit` | bytes | end of the stream | `stop` |
  /// |---|---|---|---|---|
  /// | idle | busy | unasked: closed | closed | closed |
  /// | busy, nothing written | – | unasked: closed | closed, the request was not sent | closed |
  /// | busy | – | the response | closed: the response, or how it was lost | closed |
  /// | closed | – | – | – | – |
  ///
  /// A busy connection becomes idle or closed by ``finish()``, once the response is whole.
  struct ConnectionMachine {
    enum Phase: Sendable, Equatable { case idle, busy, closed }

    /// How far the request has come.
    enum Sending: Sendable, Equatable {
      /// The first write, which holds the head, has not gone out whole.
      case head
      /// The head has gone out; the server is asked before the body goes (RFC 9110 section 10.1.1).
      case awaitingContinue
      /// The body goes out.
      case body
      /// All of it has gone out.
      case finished
      /// The rest will never go out: the server does not want it, or the connection takes no more.
      case abandoned
    }

    /// What follows the first write of a request.
    enum Rest: Sendable, Equatable { case nothing, body, bodyAfterContinue }

    /// What stands at the front of received bytes.
    enum Step: Equatable {
      /// All of them were used, and nothing is complete.
      case more
      /// An informational response is in ``head``.
      case informational
      /// The final head is in ``head``.
      case head(BodyFraming)
      /// These of the bytes are content, their transfer coding removed.
      case content(Range<Int>)
      /// Bytes for which no request asked. The connection must not be used any more.
      case unasked
    }

    /// What the end of the stream means.
    enum Ending: Equatable {
      /// No exchange was under way.
      case idle
      /// Nothing of the request had been written: another connection can carry it, whatever its method.
      case unsent
      /// It is the end of the response.
      case response
      /// No line of the response had come.
      case beforeResponse
      /// The response broke off in its head.
      case inHead
      /// The response broke off in its body.
      case inBody
    }

    private enum Receiving: Equatable { case head, body, whole }

    private(set) var phase = Phase.idle
    private(set) var sending = Sending.finished
    /// The bytes of the present request that the system has taken.
    private(set) var bytesWritten: Int64 = 0
    /// The bytes of content that came, their transfer coding removed.
    private(set) var contentBytes: Int64 = 0

    private var rest = Rest.nothing
    private var receiving = Receiving.head
    private var framing = BodyFraming.none
    private var parser: HeadParser?
    private var chunks: ChunkParser?
    /// The beginning of a line of the head whose end has not come.
    private var line: [UInt8] = []
    private var lineLimit = 0
    /// Whether bytes came behind the end of the response.
    private var hasExcess = false

    // MARK: - The request

    /// Begins an exchange. False if the connection cannot carry one.
    mutating func submit(limits: ResponseLimits, isHeadRequest: Bool, rest: Rest) -> Bool {
      guard phase == .idle else { return false }
      phase = .busy
      sending = .head
      self.rest = rest
      (bytesWritten, contentBytes) = (0, 0)
      receiving = .head
      framing = .none
      parser = HeadParser(limits: limits, isHeadRequest: isHeadRequest, dialect: .http1)
      chunks = nil
      lineLimit = limits.headBytes
      hasExcess = false
      return true
    }

    /// The system has taken bytes of the request.
    mutating func wrote(_ count: Int) { bytesWritten += Int64(count) }

    /// The first write has gone out whole.
    mutating func wroteHead() {
      guard phase == .busy, sending == .head else { return }
      switch rest {
      case .nothing: sending = .finished
      case .body: sending = .body
      case .bodyAfterContinue: sending = .awaitingContinue
      }
    }

    /// The server has said that it wants the body, or has been silent for too long.
    mutating func proceed() { if sending == .awaitingContinue { sending = .body } }

    /// The body has gone out whole.
    mutating func wroteBody() { if sending == .body { sending = .finished } }

    /// Gives the rest of the request up. The response may still come.
    mutating func abandonRequest() { if sending != .finished { sending = .abandoned } }

    // MARK: - The response

    /// The last head, whole once a step says so.
    var head: ResponseHead { parser?.head ?? ResponseHead(status: 0) }
    /// The values of `Content-Encoding` in the last head, joined by commas.
    var contentEncoding: String { parser?.contentEncoding ?? "" }
    /// Whether a line of the response has come.
    var hasBegun: Bool { parser?.hasBegun == true }
    /// Whether the final head has come.
    var hasHead: Bool { receiving != .head }
    /// Whether the response has come whole.
    var isWhole: Bool { receiving == .whole }
    /// The bytes of the response that came, without the framing of a chunked body.
    var bytesReceived: Int64 { (parser?.totalBytes ?? 0) + contentBytes }

    /// The length that the head announced; nil if it announced none.
    var announcedLength: Int64? {
      switch framing {
      case .length(let length): length
      case .none: 0
      case .chunked, .untilClose: nil
      }
    }

    /// Whether the framing of the body cannot tell an empty body from one that was cut off.
    var mayBeCutOff: Bool { framing == .untilClose }

    /// The trailers, once the response is whole.
    mutating func takeTrailers() -> HTTPFields { chunks?.takeTrailers() ?? HTTPFields() }

    /// Looks at received bytes, which are not empty. Says what stands in front, and how many of the bytes belong to it.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(TransportFailure) -> (step: Step, used: Int) {
      guard phase == .busy, bytesWritten > 0 else {
        phase = phase == .idle ? .closed : phase
        return (.unasked, bytes.count)
      }
      switch receiving {
      case .head: return try receiveHead(bytes)
      case .body: return try receiveBody(bytes)
      case .whole:
        hasExcess = true
        return (.more, bytes.count)
      }
    }

    /// Takes back the end of the last content, which was not used and comes again.
    mutating func giveBack(_ count: Int) {
      guard count > 0 else { return }
      contentBytes -= Int64(count)
      chunks?.giveBack(count)
      receiving = .body
    }

    // MARK: - The end

    /// The stream has ended, in order or by a reset.
    mutating func ended(isReset: Bool) -> Ending {
      defer { phase = .closed }
      guard phase == .busy else { return .idle }
      if bytesWritten == 0 { return .unsent }
      switch receiving {
      case .head: return hasBegun ? .inHead : .beforeResponse
      case .body: return framing == .untilClose && !isReset ? .response : .inBody
      case .whole: return .response
      }
    }

    /// The exchange ends with the response. Returns whether the connection may be kept: the request and the response
    /// have passed whole, nothing came behind them, and the server keeps it open (RFC 9112 section 9.3).
    mutating func finish() -> Bool {
      let isKept =
        phase == .busy && sending == .finished && receiving == .whole && !hasExcess && framing != .untilClose
        && staysOpen
      phase = isKept ? .idle : .closed
      return isKept
    }

    /// Lets go of the response of an exchange that is over, so that a kept connection holds no memory for it.
    mutating func forgetResponse() {
      parser = nil
      chunks = nil
      line = []
    }

    /// The exchange ends without a response, or the connection is given up.
    mutating func stop() { phase = .closed }

    /// Whether the server leaves the connection open behind the response.
    private var staysOpen: Bool {
      guard let parser, !parser.announcedForbiddenBody, !parser.saysClose else { return false }
      return parser.head.version == .http1_1 || parser.saysKeepAlive
    }
  }

  extension ConnectionMachine {
    private mutating func receiveHead(
      _ bytes: UnsafeRawBufferPointer
    ) throws(TransportFailure) -> (step: Step, used: Int) {
      var used = 0
      while used < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
        guard let end = HeadLine.end(of: rest) else {
          line.append(contentsOf: rest)
          guard line.count <= lineLimit else {
            throw .tooLarge("the response headers are longer than \(lineLimit) bytes")
          }
          return (.more, bytes.count)
        }
        used += end
        switch try takeLine(UnsafeRawBufferPointer(rebasing: rest[..<end])) {
        case .nothing: continue
        case .informational:
          if head.status == 100 { proceed() }
          return (.informational, used)
        case .final(let framing):
          begin(framing)
          return (.head(framing), used)
        }
      }
      return (.more, used)
    }

    /// Takes the end of a line, together with its beginning that came before.
    private mutating func takeLine(_ end: UnsafeRawBufferPointer) throws(TransportFailure) -> HeadParser.Event {
      guard !line.isEmpty else { return try parser?.take(end) ?? .nothing }
      line.append(contentsOf: end)
      let whole = line
      line.removeAll(keepingCapacity: true)
      let result = whole.withUnsafeBytes { bytes in
        Result { () throws(TransportFailure) in try parser?.take(bytes) ?? .nothing }
      }
      return try result.get()
    }

    /// The final head has come.
    private mutating func begin(_ framing: BodyFraming) {
      self.framing = framing
      if line.capacity > 1024 { line = [] }
      receiving = framing == .none ? .whole : .body
      if framing == .chunked, let parser { chunks = ChunkParser(limits: parser.limits) }
      // The server answers without the body, or does not want it (RFC 9110 section 10.1.1, RFC 9112 section 9.3).
      if sending == .awaitingContinue || head.status >= 400 { abandonRequest() }
    }

    private mutating func receiveBody(
      _ bytes: UnsafeRawBufferPointer
    ) throws(TransportFailure) -> (step: Step, used: Int) {
      switch framing {
      case .none: return (.more, 0)
      case .untilClose:
        contentBytes += Int64(bytes.count)
        return (.content(0..<bytes.count), bytes.count)
      case .length(let length):
        let count = Int(min(Int64(bytes.count), length - contentBytes))
        contentBytes += Int64(count)
        if contentBytes == length { receiving = .whole }
        return (.content(0..<count), count)
      case .chunked: return try receiveChunks(bytes)
      }
    }

    private mutating func receiveChunks(
      _ bytes: UnsafeRawBufferPointer
    ) throws(TransportFailure) -> (step: Step, used: Int) {
      var used = 0
      while used < bytes.count, chunks?.isDone == false {
        switch try chunks?.next(UnsafeRawBufferPointer(rebasing: bytes[used...])) {
        case .framing(let count): used += count
        case .data(let count):
          contentBytes += Int64(count)
          return (.content(used..<(used + count)), used + count)
        case nil: return (.more, bytes.count)
        }
      }
      if chunks?.isDone == true { receiving = .whole }
      return (.more, used)
    }
  }
#endif
