/// The response of a ``LoopbackServer`` to a request. It consists of steps that the server executes in order.
///
/// Most responses are created by one function, such as `ok`. Further functions add faults to a response:
///
/// ```swift
/// .ok("hello")
/// .json(#"{"nick":"x"}"#).delayed(.milliseconds(5))
/// .ok("hello").cut(after: 2)                         // announces five bytes, sends two, then closes
/// .ok("hello").setting("Content-Length", to: "-2")
/// .raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")
/// LoopbackAnswer([.head(status: 200, headers: ["Content-Length": "1"]), .wait(gate), .body([0x61])])
/// ```
///
/// The connection stays open after the last step if the request, the headers and the framing allow it (RFC 9112 section
/// 9.3); otherwise the server closes it.
public struct LoopbackAnswer: Sendable {
  /// One action of the server on the connection while it sends a response.
  public enum Step: Sendable {
    /// Sends a status line and header fields without validation or additions. If `reason` is nil, the server sends the
    /// standard reason phrase of the status.
    case head(status: Int, reason: String? = nil, headers: LoopbackHeaders = [:])
    /// Sends bytes unchanged, `times` times. If `times` is nil, the bytes are repeated until the client closes the
    /// connection.
    case bytes([UInt8], times: Int? = 1)
    /// Sends bytes of the content, `times` times. If `times` is nil, the bytes are repeated until the client closes the
    /// connection. In the response to a HEAD request, this step is omitted.
    case body([UInt8], times: Int? = 1)
    /// Sends all earlier bytes, then waits until the gate lets the connection pass. If the client closes its sending
    /// side during the wait, the connection ends.
    case wait(Gate)
    /// Sends all earlier bytes, then records an arrival at the gate and continues without waiting.
    case reach(Gate)
    /// Waits for this duration in real time. In most tests, the step `wait` is better, because a gate does not depend
    /// on the speed of the machine.
    case pause(Duration)
    /// Closes the server's sending side (FIN) and leaves the receiving side open. Bytes of later steps are dropped.
    case halfClose
    /// Closes the connection in an orderly way (FIN).
    case close
    /// Resets the connection (RST).
    case reset
  }

  /// A part of a response. A simulated fault counts only the bytes of this part, and a slow response sends only this
  /// part in pieces.
  public enum Part: Sendable {
    /// The content of the response as it is sent, including chunk framing.
    case body
    /// All bytes of the response, including the status line and the header fields.
    case everything
  }

  /// The actions with which the server sends this response, in order.
  public var steps: [Step]
  var fault: Fault?
  var pace: Pace?
  /// A closure that receives the number of content bytes, including their framing, after each write to the socket.
  var tally: (@Sendable (Int) -> Void)?

  /// A simulated fault: a step that the server executes after it has sent a number of bytes.
  struct Fault: Sendable {
    let after: Int
    let part: Part
    let step: Step
  }

  /// A division of the response into pieces of `size` bytes. The server executes the step `between` between two pieces.
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
  /// A response with status 200 and a text in UTF-8. If `fields` has no content type, the content type is plain text.
  public static func ok(_ text: String = "", fields: LoopbackHeaders = [:]) -> Self { self.text(text, fields: fields) }

  /// A response with a text in UTF-8. If `fields` has no content type, the content type is plain text.
  public static func text(_ text: String, status: Int = 200, fields: LoopbackHeaders = [:]) -> Self {
    framed(status, fields.typed("text/plain; charset=utf-8"), Array(text.utf8))
  }

  /// A response with a JSON text. If `fields` has no content type, the content type is `application/json`.
  public static func json(_ text: String, status: Int = 200, fields: LoopbackHeaders = [:]) -> Self {
    framed(status, fields.typed("application/json"), Array(text.utf8))
  }

  /// A response with the given status, header fields and text.
  ///
  /// `Content-Length` is added, with two exceptions: the header fields already frame the content, or the body is empty
  /// and the status is 1xx, 204 or 304. A body is always sent, even if the status does not allow content.
  public static func status(_ status: Int, fields: LoopbackHeaders = [:], body: String = "") -> Self {
    framed(status, fields, Array(body.utf8))
  }

  /// The same as ``status(_:fields:body:)``, for the package's own tests.
  package static func status(_ status: Int, headers: LoopbackHeaders, body: String = "") -> Self {
    self.status(status, fields: headers, body: body)
  }

  /// A response with bytes. If `fields` has no content type, the content type is `contentType`.
  public static func data(
    _ bytes: some Sequence<UInt8>, contentType: String = "application/octet-stream", status: Int = 200,
    fields: LoopbackHeaders = [:]
  ) -> Self {
    framed(status, fields.typed(contentType), Array(bytes))
  }

  /// A redirect. The `Location` field is sent unchanged; if `location` is nil, the field is omitted.
  public static func redirect(to location: String?, status: Int = 302) -> Self {
    var headers = LoopbackHeaders()
    headers["Location"] = location
    return self.status(status, headers: headers)
  }

  /// A response with status 200 in chunks, one for each element that is not empty, followed by trailer fields. If
  /// `isComplete` is false, the empty chunk that marks the end of the content and the trailer fields are omitted, and
  /// the connection closes.
  public static func chunked(_ chunks: [String], trailers: LoopbackHeaders = [:], isComplete: Bool = true) -> Self {
    chunked(chunks.map(\.utf8), trailers: trailers, isComplete: isComplete)
  }

  /// A response with status 200 in chunks of bytes, one for each element that is not empty, followed by trailer
  /// fields. If `isComplete` is false, the empty chunk that marks the end of the content and the trailer fields are
  /// omitted, and the connection closes.
  public static func chunked(
    _ chunks: some Sequence<some Sequence<UInt8>>, trailers: LoopbackHeaders = [:], isComplete: Bool = true
  ) -> Self {
    var steps: [Step] = [.head(status: 200, headers: ["Transfer-Encoding": "chunked"])]
    // A chunk of an empty element would be the end of the content.
    steps += chunks.map { Array($0) }.filter { !$0.isEmpty }.map { Step.body(HTTPText.chunk($0)) }
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

  /// A response that sends nothing. The connection closes when the gate opens, the client closes the connection, or the
  /// server stops.
  public static func stall(until gate: Gate = Gate()) -> Self {
    Self([.wait(gate), .close])
  }

  /// A response that closes the connection in an orderly way (FIN) without sending a byte.
  public static var closeBeforeAnswer: Self { Self([.close]) }

  /// A response that resets the connection (RST) without sending a byte.
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
