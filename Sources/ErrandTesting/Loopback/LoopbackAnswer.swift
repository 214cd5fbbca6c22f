/// What a ``LoopbackServer`` does when a request has come: a value made of ordered steps.
///
/// Most answers are one word, faults are said behind it:
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
/// The connection stays open after the last step if the request, the head and the framing allow it
/// (RFC 9112 section 9.3); otherwise the server closes it.
public struct LoopbackAnswer: Sendable {
  /// One thing to do on the connection.
  public enum Step: Sendable {
    /// Sends a status line and header fields; nothing in them is checked or added. Without a reason the usual one is sent.
    case head(status: Int, reason: String? = nil, headers: LoopbackHeaders = [:])
    /// Sends bytes as they are, as often as said; nil means until the client leaves.
    case bytes([UInt8], times: Int? = 1)
    /// Sends bytes of the content, as often as said; left out of the answer to a HEAD request.
    case body([UInt8], times: Int? = 1)
    /// Waits until the gate lets pass. What was said before is on the wire by then. A client that closes its
    /// sending side meanwhile counts as gone, and the connection ends.
    case wait(Gate)
    /// Tells the gate that this point is reached, and goes on. What was said before is on the wire by then.
    case reach(Gate)
    /// Waits by the clock. Prefer a gate in tests.
    case pause(Duration)
    /// Ends the server's sending side (FIN) and leaves the receiving side open.
    case halfClose
    /// Closes the connection in order (FIN).
    case close
    /// Resets the connection (RST).
    case reset
  }

  /// Which bytes a fault counts.
  public enum Part: Sendable {
    /// The content as it stands on the wire, chunk framing included.
    case body
    /// All bytes, head included.
    case everything
  }

  /// The steps in order.
  public var steps: [Step]
  var fault: Fault?
  var pace: Pace?
  /// Told how many bytes of the content have been handed to the system, as they are.
  var tally: (@Sendable (Int) -> Void)?

  /// What happens behind a number of bytes.
  struct Fault: Sendable {
    let after: Int
    let part: Part
    let step: Step
  }

  /// How bytes are split, and what is between the pieces.
  struct Pace: Sendable {
    let size: Int
    let part: Part
    let between: Step
  }

  /// Makes an answer of steps.
  public init(_ steps: [Step]) {
    self.steps = steps
  }
}

// MARK: - Whole answers

extension LoopbackAnswer {
  /// 200 with plain text in UTF-8.
  public static func ok(_ text: String = "") -> Self {
    status(200, headers: ["Content-Type": "text/plain; charset=utf-8"], body: text)
  }

  /// JSON text with its content type.
  public static func json(_ text: String, status: Int = 200) -> Self {
    self.status(status, headers: ["Content-Type": "application/json"], body: text)
  }

  /// Any status with header fields and a text.
  ///
  /// `Content-Length` is added unless the headers frame the content themselves, and left out for an empty 1xx,
  /// 204 or 304; a body given with one of these is sent all the same.
  public static func status(_ status: Int, headers: LoopbackHeaders = [:], body: String = "") -> Self {
    framed(status, headers, Array(body.utf8))
  }

  /// Bytes with a content type.
  public static func data(
    _ bytes: some Sequence<UInt8>, contentType: String = "application/octet-stream", status: Int = 200
  ) -> Self {
    framed(status, ["Content-Type": contentType], Array(bytes))
  }

  /// A redirect by `Location`, which is sent as given; nil leaves it out.
  public static func redirect(to location: String?, status: Int = 302) -> Self {
    var headers = LoopbackHeaders()
    headers["Location"] = location
    return self.status(status, headers: headers)
  }

  /// Content in chunks, one for each element, and then trailer fields. `isComplete: false` leaves out the last chunk
  /// and closes the connection instead.
  public static func chunked(_ chunks: [String], trailers: LoopbackHeaders = [:], isComplete: Bool = true) -> Self {
    chunked(chunks.map(\.utf8), trailers: trailers, isComplete: isComplete)
  }

  /// Content in chunks of bytes, one for each element, and then trailer fields. `isComplete: false` leaves out the
  /// last chunk and closes the connection instead.
  public static func chunked(
    _ chunks: some Sequence<some Sequence<UInt8>>, trailers: LoopbackHeaders = [:], isComplete: Bool = true
  ) -> Self {
    var steps: [Step] = [.head(status: 200, headers: ["Transfer-Encoding": "chunked"])]
    steps += chunks.map { .body(HTTPText.chunk(Array($0))) }
    steps.append(isComplete ? .body(HTTPText.lastChunk(trailers)) : .close)
    return Self(steps)
  }

  /// 200 with `count` bytes made while they are sent, so that a gibibyte costs no memory; see ``generatedByte(at:)``.
  public static func generated(count: Int) -> Self {
    let block = HTTPText.generatedBlock
    return Self([
      .head(status: 200, headers: ["Content-Length": String(count)]),
      .body(block, times: max(0, count) / block.count),
      .body(Array(block.prefix(max(0, count) % block.count))),
    ])
  }

  /// The byte at an offset of ``generated(count:)`` and ``endless(chunked:)``: the offset modulo 251.
  public static func generatedByte(at offset: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: abs(offset % 251))
  }

  /// 200 with content that goes on until the client leaves or the server stops.
  ///
  /// - Parameter chunked: True frames it in chunks; false announces no length at all.
  public static func endless(chunked: Bool = false) -> Self {
    let block = HTTPText.generatedBlock
    return chunked
      ? Self([
        .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .body(HTTPText.chunk(block), times: nil),
      ])
      : Self([.head(status: 200), .body(block, times: nil)])
  }

  /// Text as it is, in UTF-8, with no byte added; then closes unless told otherwise.
  public static func raw(_ text: String, thenCloses: Bool = true) -> Self {
    raw(text.utf8, thenCloses: thenCloses)
  }

  /// Bytes as they are, with no byte added; then closes unless told otherwise.
  public static func raw(_ bytes: some Sequence<UInt8>, thenCloses: Bool = true) -> Self {
    Self([.bytes(Array(bytes))] + (thenCloses ? [.close] : []))
  }

  /// Silence: nothing is said until the gate opens, the client leaves or the server stops; then closes.
  public static func stall(until gate: Gate = Gate()) -> Self {
    Self([.wait(gate), .close])
  }

  /// Closes in order without a byte.
  public static var closeBeforeAnswer: Self { Self([.close]) }

  /// Resets without a byte.
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
