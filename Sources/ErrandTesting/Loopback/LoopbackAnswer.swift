/// The response of a ``LoopbackServer`` to a request. It consists of steps that the server executes in order.
///
/// One function creates most responses. Further functions add faults:
///
/// ```swift
/// .ok("hello")
/// .json(#"{"nick":"x"}"#).delayed(.milliseconds(5))
/// .ok("hello").cut(after: 2)                         // promises five bytes, sends two, closes
/// .ok("hello").setting("Content-Length", to: "-2")
/// .raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")
/// LoopbackAnswer([.head(status: 200, headers: ["Content-Length": "1"]), .wait(gate), .body([0x61])])
/// ```
///
/// The connection stays open after the last step if the request, the headers and the framing allow it
/// (RFC 9112 section 9.3); otherwise the server closes it.
public struct LoopbackAnswer: Sendable {
  /// One action on the connection.
  public enum Step: Sendable {
    /// Sends a status line and header fields without validation or additions. If `reason` is nil, the server sends the
    /// standard reason phrase of the status.
    case head(status: Int, reason: String? = nil, headers: LoopbackHeaders = [:])
    /// Sends bytes unchanged, `times` times. If `times` is nil, the bytes are repeated until the client closes the
    /// connection.
    case bytes([UInt8], times: Int? = 1)
    /// Sends bytes of the content, `times` times. In the response to a HEAD request, this step is omitted.
    case body([UInt8], times: Int? = 1)
    /// Sends all earlier bytes, then waits until the gate lets the connection pass. If the client closes its sending
    /// side during the wait, the connection ends.
    case wait(Gate)
    /// Sends all earlier bytes, then records an arrival at the gate and continues without waiting.
    case reach(Gate)
    /// Waits in real time. In tests, a gate is usually better.
    case pause(Duration)
    /// Closes the server's sending side (FIN) and leaves the receiving side open.
    case halfClose
    /// Closes the connection in an orderly way (FIN).
    case close
    /// Resets the connection (RST).
    case reset
  }

  /// The bytes of a response to which a fault or a pace applies.
  public enum Part: Sendable {
    /// The content as sent, including chunk framing.
    case body
    /// All bytes, including the headers.
    case everything
  }

  /// The steps in order.
  public var steps: [Step]
  var fault: Fault?
  var pace: Pace?
  /// Receives the number of content bytes, including their framing, after each write to the system.
  var tally: (@Sendable (Int) -> Void)?

  /// A step to execute after a number of bytes has been sent.
  struct Fault: Sendable {
    let after: Int
    let part: Part
    let step: Step
  }

  /// Sends bytes in pieces of a size, and executes a step between two pieces.
  struct Pace: Sendable {
    let size: Int
    let part: Part
    let between: Step
  }

  /// Creates a response from steps.
  public init(_ steps: [Step]) {
    self.steps = steps
  }
}

// MARK: - Complete responses

extension LoopbackAnswer {
  /// A response with status 200 and a text in UTF-8.
  public static func ok(_ text: String = "") -> Self {
    status(200, headers: ["Content-Type": "text/plain; charset=utf-8"], body: text)
  }

  /// A response with a JSON text and the content type `application/json`.
  public static func json(_ text: String, status: Int = 200) -> Self {
    self.status(status, headers: ["Content-Type": "application/json"], body: text)
  }

  /// A response with the given status, header fields and text.
  ///
  /// `Content-Length` is added unless the header fields already frame the content. For a status 1xx, 204 or 304 with an
  /// empty body, it is not added. If a response with such a status has a body, the body is sent nevertheless.
  public static func status(_ status: Int, headers: LoopbackHeaders = [:], body: String = "") -> Self {
    framed(status, headers, Array(body.utf8))
  }

  /// A response with bytes and a content type.
  public static func data(
    _ bytes: some Sequence<UInt8>, contentType: String = "application/octet-stream", status: Int = 200
  ) -> Self {
    framed(status, ["Content-Type": contentType], Array(bytes))
  }

  /// A redirect. The `Location` field is sent unchanged; if `location` is nil, the field is omitted.
  public static func redirect(to location: String?, status: Int = 302) -> Self {
    var headers = LoopbackHeaders()
    headers["Location"] = location
    return self.status(status, headers: headers)
  }

  /// A response with status 200 in chunks, one for each element, followed by trailer fields. If `isComplete` is false,
  /// the last chunk is omitted and the connection closes.
  public static func chunked(_ chunks: [String], trailers: LoopbackHeaders = [:], isComplete: Bool = true) -> Self {
    chunked(chunks.map(\.utf8), trailers: trailers, isComplete: isComplete)
  }

  /// A response with status 200 in chunks of bytes, one for each element, followed by trailer fields. If `isComplete`
  /// is false, the last chunk is omitted and the connection closes.
  public static func chunked(
    _ chunks: some Sequence<some Sequence<UInt8>>, trailers: LoopbackHeaders = [:], isComplete: Bool = true
  ) -> Self {
    var steps: [Step] = [.head(status: 200, headers: ["Transfer-Encoding": "chunked"])]
    steps += chunks.map { .body(HTTPText.chunk(Array($0))) }
    steps.append(isComplete ? .body(HTTPText.lastChunk(trailers)) : .close)
    return Self(steps)
  }

  /// A response with status 200 and `count` bytes. The bytes are generated while they are sent, so that even a gibibyte
  /// needs little memory; see ``generatedByte(at:)``.
  public static func generated(count: Int) -> Self {
    let block = HTTPText.generatedBlock
    return Self([
      .head(status: 200, headers: ["Content-Length": String(count)]),
      .body(block, times: max(0, count) / block.count),
      .body(Array(block.prefix(max(0, count) % block.count))),
    ])
  }

  /// The byte at an offset of a generated or endless response: the offset modulo 251.
  public static func generatedByte(at offset: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: abs(offset % 251))
  }

  /// A response with status 200 and content that continues until the client closes the connection or the server stops.
  ///
  /// - Parameter chunked: Whether the content is sent in chunks. If false, the content has no framing and ends with the
  ///   connection.
  public static func endless(chunked: Bool = false) -> Self {
    let block = HTTPText.generatedBlock
    return chunked
      ? Self([
        .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .body(HTTPText.chunk(block), times: nil),
      ])
      : Self([.head(status: 200), .body(block, times: nil)])
  }

  /// A response that is exactly this text in UTF-8. The connection closes afterwards unless `thenCloses` is false.
  public static func raw(_ text: String, thenCloses: Bool = true) -> Self {
    raw(text.utf8, thenCloses: thenCloses)
  }

  /// A response that is exactly these bytes. The connection closes afterwards unless `thenCloses` is false.
  public static func raw(_ bytes: some Sequence<UInt8>, thenCloses: Bool = true) -> Self {
    Self([.bytes(Array(bytes))] + (thenCloses ? [.close] : []))
  }

  /// Sends nothing. The connection closes when the gate opens, the client closes the connection, or the server stops.
  public static func stall(until gate: Gate = Gate()) -> Self {
    Self([.wait(gate), .close])
  }

  /// Closes the connection in an orderly way (FIN) without sending a byte.
  public static var closeBeforeAnswer: Self { Self([.close]) }

  /// Resets the connection (RST) without sending a byte.
  public static var resetBeforeAnswer: Self { Self([.reset]) }

  private static func framed(_ status: Int, _ headers: LoopbackHeaders, _ body: [UInt8]) -> Self {
    var headers = headers
    let isFramed = headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
    if !isFramed, !body.isEmpty || HTTPText.mayHaveContent(status) {
      headers["Content-Length"] = String(body.count)
    }
    return Self([.head(status: status, headers: headers), .body(body)])
  }
}
