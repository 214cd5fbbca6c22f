#if os(Linux)
  import ErrandHTTP

  /// The state machine of the response on one HTTP/2 stream (RFC 9113 section 8.1). It checks the order of the header
  /// sections, the content and the trailers. It performs no I/O.
  ///
  /// Each row of the table is a phase of the response, and each column is an event. The cells contain the next phase.
  /// An error means that the response is malformed.
  ///
  /// | phase | header section 1xx | other header section | content | end of the stream |
  /// |---|---|---|---|---|
  /// | head | head | body | error | error, except with a final header section |
  /// | body | error | trailers | body | whole, or an error if bytes of `Content-Length` are missing |
  /// | trailers | – | – | – | whole, at the end of the trailer section |
  /// | whole | error | error | error | – |
  struct HTTP2StreamMachine {
    /// The contents of a header section that has ended.
    enum Section: Equatable {
      /// The headers of an informational response (status 1xx) are in ``head``.
      case informational
      /// The headers of the final response are in ``head``.
      case head(BodyFraming)
      /// The trailers, which end the response.
      case trailers
    }

    /// The meaning of the end of a stream that was closed before the response was complete.
    enum Reset: Equatable {
      /// The server guarantees that it has not processed the request (RFC 9113 section 8.7).
      case unprocessed
      /// The server processes the request only over HTTP/1.1 (RFC 9113 section 7).
      case http1Required
      /// The response is complete. The server only does not want the rest of the request.
      case response
      /// The exchange failed.
      case failure
    }

    private enum Phase: Equatable { case head, body, trailers, whole }

    /// The error code with which a server rejects a stream that it has not processed (RFC 9113 section 7).
    static let refusedStream: UInt32 = 7
    /// The error code with which a server asks for HTTP/1.1 (RFC 9113 section 7).
    static let http1Required: UInt32 = 13

    private var phase = Phase.head
    private var fields: HTTP2FieldReader
    /// The number of content bytes according to the headers. Nil if the headers do not state a length.
    private(set) var announcedLength: Int64?
    /// The number of received content bytes.
    private(set) var contentBytes: Int64 = 0

    init(limits: ResponseLimits, isHeadRequest: Bool) {
      fields = HTTP2FieldReader(limits: limits, isHeadRequest: isHeadRequest)
    }

    /// The headers of the last response. They are complete after ``endSection(endsStream:)`` returned `.informational`
    /// or `.head`.
    var head: ResponseHead { fields.parser.head }
    /// The values of `Content-Encoding` in the last response headers, joined by commas.
    var contentEncoding: String { fields.parser.contentEncoding }
    /// True if the first field of the response has arrived.
    var hasBegun: Bool { fields.parser.hasBegun }
    /// True if the response is complete.
    var isWhole: Bool { phase == .whole }
    /// The number of received bytes of the response: the fields after decompression, and the content.
    var bytesReceived: Int64 { fields.parser.totalBytes + contentBytes }

    /// Returns the trailers. They are complete when the response is complete.
    mutating func takeTrailers() -> HTTPFields { fields.takeTrailers() }

    // MARK: - The response

    /// Begins a header section.
    mutating func beginSection() throws(TransportFailure) {
      switch phase {
      case .head: fields.begin(.head)
      case .body:
        fields.begin(.trailers)
        phase = .trailers
      case .trailers, .whole: throw .malformed("a header section follows the end of the response")
      }
    }

    /// Takes one field of the current header section.
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(TransportFailure) {
      try fields.take(name, value)
    }

    /// Ends the current header section. `endsStream` is true if no frame follows on the stream.
    mutating func endSection(endsStream: Bool) throws(TransportFailure) -> Section {
      if phase == .trailers {
        guard endsStream else { throw .malformed("the trailers are not the end of the response") }
        try endContent()
        return .trailers
      }
      guard let framing = try fields.endHead() else {
        if endsStream { throw .malformed("the response ends with an informational response") }
        return .informational
      }
      phase = .body
      announcedLength = framing.announcedLength
      guard endsStream else { return .head(framing) }
      try endContent()
      return .head(.none)
    }

    /// Records received content.
    mutating func takeContent(_ count: Int) throws(TransportFailure) {
      guard phase == .body else { throw .malformed("content arrived before the headers or after the trailers") }
      contentBytes += Int64(count)
      guard contentBytes <= announcedLength ?? .max else {
        throw .malformed("the response has more content than its headers allow")
      }
    }

    /// Records the end of the stream after content.
    mutating func endStream() throws(TransportFailure) {
      switch phase {
      case .head: throw .malformed("the response ended before its headers")
      case .trailers: throw .malformed("the response ended within its trailers")
      case .body: try endContent()
      case .whole: break
      }
    }

    private mutating func endContent() throws(TransportFailure) {
      guard announcedLength == nil || announcedLength == contentBytes else {
        throw .malformed("the response has less content than Content-Length announces")
      }
      phase = .whole
    }

    // MARK: - The end

    /// The meaning of the end of the stream with an error code, before the exchange has ended.
    func reset(code: UInt32) -> Reset {
      if phase == .whole { return .response }
      if hasBegun { return .failure }
      switch code {
      case Self.refusedStream: return .unprocessed
      case Self.http1Required: return .http1Required
      default: return .failure
      }
    }

    /// The meaning of the end of the connection. `isWritten` is true if the system has accepted bytes of the request.
    func ending(isWritten: Bool) -> ConnectionMachine.Ending {
      if phase == .whole { return .response }
      if !isWritten { return .unsent }
      if phase != .head { return .inBody }
      return hasBegun ? .inHead : .beforeResponse
    }
  }
#endif
