#if os(Linux)
  import ErrandHTTP

  /// The state machine of one HTTP/1.1 connection (RFC 9112). It tracks the progress of the request and the response,
  /// and decides whether the connection may be reused. It performs no I/O.
  ///
  /// Each row of the table is a phase of the connection, and each column is an event. The cells contain the next phase.
  /// A dash means that the event does not change the phase.
  ///
  /// | phase | `submit` | bytes arrive | end of the stream | `stop` |
  /// |---|---|---|---|---|
  /// | idle | busy | closed: no response was expected | closed | closed |
  /// | busy, nothing written | – | closed: no response was expected | closed: the request was not sent | closed |
  /// | busy | – | busy: the bytes are the response | closed: the end of the response, or a failure | closed |
  /// | closed | – | – | – | – |
  ///
  /// A busy connection becomes idle or closed by ``finish()``, when the response is complete.
  struct ConnectionMachine {
    enum Phase: Sendable, Equatable { case idle, busy, closed }

    /// The progress of sending the request.
    enum Sending: Sendable, Equatable {
      /// The first write, which contains the request headers, is not complete.
      case head
      /// The headers are sent. The body waits until the server sends status 100 (RFC 9110 section 10.1.1).
      case awaitingContinue
      /// The body is being sent.
      case body
      /// The whole request is sent.
      case finished
      /// The rest of the request is never sent: the server does not want the rest, or the connection accepts no more
      /// bytes.
      case abandoned
    }

    /// The part of a request that must be sent after the first write.
    enum Remainder: Sendable, Equatable { case nothing, body, bodyAfterContinue }

    /// The contents of the received bytes that a call of ``receive(_:)`` has used.
    enum Step: Equatable {
      /// The bytes contain no complete headers and no content. The caller continues with the next bytes.
      case more
      /// The headers of an informational response (status 1xx) are in ``head``.
      case informational
      /// The headers of the final response are in ``head``.
      case head(BodyFraming)
      /// The range of the received bytes that are content. The framing of a chunked body is outside this range.
      case content(Range<Int>)
      /// The server sent bytes although no request was sent. The connection must not be used any more.
      case unasked
    }

    /// The state of the exchange when the server ended the stream.
    enum Ending: Equatable {
      /// No exchange was in progress when the stream ended.
      case idle
      /// No byte of the request was written. Another connection can send the request, whatever its method is.
      case unsent
      /// The response is complete: it was complete before, or the end of the stream is the end of its body.
      case response
      /// The stream ended before the first line of the response.
      case beforeResponse
      /// The stream ended within the response headers.
      case inHead
      /// The stream ended within the response body.
      case inBody
    }

    private enum Receiving: Equatable { case head, body, whole }

    private(set) var phase = Phase.idle
    private(set) var sending = Sending.finished
    /// The number of bytes of the current request that the system has accepted.
    private(set) var bytesWritten: Int64 = 0
    /// The number of received content bytes, without the transfer coding.
    private(set) var contentBytes: Int64 = 0

    private var remainder = Remainder.nothing
    private var receiving = Receiving.head
    private var framing = BodyFraming.none
    private var parser: HeadParser?
    private var chunks: ChunkParser?
    /// The first bytes of a header line whose end has not arrived yet.
    private var line: [UInt8] = []
    private var lineLimit = 0
    /// True if bytes arrived after the end of the response.
    private var hasExcess = false

    // MARK: - The request

    /// Begins an exchange. Returns false if the connection is busy or closed.
    mutating func submit(
      limits: ResponseLimits, isHeadRequest: Bool, remainder: Remainder, isConnect: Bool = false
    ) -> Bool {
      guard phase == .idle else { return false }
      phase = .busy
      sending = .head
      self.remainder = remainder
      (bytesWritten, contentBytes) = (0, 0)
      receiving = .head
      framing = .none
      parser = HeadParser(limits: limits, isHeadRequest: isHeadRequest, dialect: .http1, isConnect: isConnect)
      chunks = nil
      lineLimit = limits.headBytes
      hasExcess = false
      return true
    }

    /// Records that the system has accepted bytes of the request.
    mutating func wrote(_ count: Int) { bytesWritten += Int64(count) }

    /// Records that the first write, which contains the request headers, is complete.
    mutating func wroteHead() {
      guard phase == .busy, sending == .head else { return }
      switch remainder {
      case .nothing: sending = .finished
      case .body: sending = .body
      case .bodyAfterContinue: sending = .awaitingContinue
      }
    }

    /// Allows the body to be sent: the server sent status 100, or the wait for status 100 was too long.
    mutating func proceed() { if sending == .awaitingContinue { sending = .body } }

    /// Records that the whole body is sent.
    mutating func wroteBody() { if sending == .body { sending = .finished } }

    /// Stops sending the request. The response may still arrive.
    mutating func abandonRequest() { if sending != .finished { sending = .abandoned } }

    // MARK: - The response

    /// The headers of the last response. They are complete after ``receive(_:)`` returned `.informational` or `.head`.
    var head: ResponseHead { parser?.head ?? ResponseHead(status: 0) }
    /// The values of `Content-Encoding` in the last response headers, joined by commas.
    var contentEncoding: String { parser?.contentEncoding ?? "" }
    /// True if the first line of the response has arrived.
    var hasBegun: Bool { parser?.hasBegun == true }
    /// True if the response is complete.
    var isWhole: Bool { receiving == .whole }
    /// The number of received bytes of the response, without the framing of a chunked body.
    var bytesReceived: Int64 { (parser?.totalBytes ?? 0) + contentBytes }

    /// The length of the body according to the headers. Nil if the headers do not state a length.
    var announcedLength: Int64? { framing.announcedLength }

    /// True if the body ends when the connection ends. The client then cannot distinguish a complete body from a body
    /// that was cut off.
    var mayBeCutOff: Bool { framing == .untilClose }

    /// Returns the trailers. They are complete when the response is complete.
    mutating func takeTrailers() -> HTTPFields { chunks?.takeTrailers() ?? HTTPFields() }

    /// Interprets received bytes, which must not be empty. Returns what the first bytes contain, and how many bytes
    /// were used.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(TransportFailure) -> (step: Step, used: Int) {
      guard phase == .busy, bytesWritten > 0 else {
        phase = phase == .idle ? .closed : phase
        return (.unasked, bytes.count)
      }
      switch receiving {
      case .head: return try receiveHead(bytes)
      case .body: return try receiveBody(bytes)
      case .whole: return dropExcess(bytes)
      }
    }

    /// Takes back the last `count` content bytes. The caller did not use them and passes them to ``receive(_:)`` again.
    mutating func giveBack(_ count: Int) {
      guard count > 0 else { return }
      contentBytes -= Int64(count)
      chunks?.giveBack(count)
      receiving = .body
    }

    /// Records that bytes arrived after the end of the response. The connection must then not be reused.
    mutating func noteExcess() { hasExcess = true }

    // MARK: - The end

    /// Records the end of the stream, and closes the state machine. `isReset` is true if the connection was reset.
    ///
    /// A body that ends with the connection is then incomplete (RFC 9112 section 8). An exception is the rejection of a
    /// request that was not sent completely: a server that does not read the rest resets the connection after such a
    /// response (section 9.6).
    mutating func ended(isReset: Bool) -> Ending {
      defer { phase = .closed }
      guard phase == .busy else { return .idle }
      if bytesWritten == 0 { return .unsent }
      switch receiving {
      case .head: return hasBegun ? .inHead : .beforeResponse
      case .body:
        let mayBeReset = sending == .abandoned && head.status >= 400
        return framing == .untilClose && (!isReset || mayBeReset) ? .response : .inBody
      case .whole: return .response
      }
    }

    /// Ends the exchange after its response. Returns true if the connection may be reused (RFC 9112 section 9.3):
    /// - the request and the response are complete,
    /// - no bytes arrived after the response,
    /// - the server keeps the connection open.
    mutating func finish() -> Bool {
      let isKept =
        phase == .busy && sending == .finished && receiving == .whole && !hasExcess && framing != .untilClose
        && staysOpen
      phase = isKept ? .idle : .closed
      return isKept
    }

    /// Frees the memory for the response of an exchange that has ended. An idle connection needs no such memory.
    mutating func forgetResponse() {
      parser = nil
      chunks = nil
      line = []
    }

    /// Ends the exchange without a response, or closes an idle connection.
    mutating func stop() { phase = .closed }

    /// True if the server keeps the connection open after the response.
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
            throw .tooLarge("the response headers are longer than \(lineLimit) bytes", raise: "headBytes")
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

    /// Parses a header line. `end` contains the last bytes of the line; earlier bytes are in ``line``.
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

    /// Starts receiving the body after the headers of the final response.
    private mutating func begin(_ framing: BodyFraming) {
      self.framing = framing
      if line.capacity > 1024 { line = [] }
      receiving = framing == .none ? .whole : .body
      if framing == .chunked, let parser { chunks = ChunkParser(limits: parser.limits) }
      // The rest of the request is not sent if the server responds without waiting for the body, or if the server
      // rejects the request (RFC 9110 section 10.1.1, RFC 9112 section 9.3).
      if sending == .awaitingContinue || head.status >= 400 { abandonRequest() }
    }

    private mutating func receiveBody(
      _ bytes: UnsafeRawBufferPointer
    ) throws(TransportFailure) -> (step: Step, used: Int) {
      switch framing {
      case .none: return dropExcess(bytes)
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

    /// Drops bytes that arrived after the end of the response.
    private mutating func dropExcess(_ bytes: UnsafeRawBufferPointer) -> (step: Step, used: Int) {
      noteExcess()
      return (.more, bytes.count)
    }

    private mutating func receiveChunks(
      _ bytes: UnsafeRawBufferPointer
    ) throws(TransportFailure) -> (step: Step, used: Int) {
      var used = 0
      while used < bytes.count, chunks?.isDone != true {
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
