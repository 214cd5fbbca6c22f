import CNGHTTP2

/// Frames of an HTTP/2 server, through the connection of the engine with libnghttp2.
enum HTTP2Targets {
  /// The size of the larger pieces. A burst of this size cannot contain so many frames that libnghttp2 gives up before
  /// the client can acknowledge them.
  private static let largest = 8 << 10
  /// The number of bytes that arrive in pieces of the chosen size. Later pieces are larger, so that long inputs are fast.
  private static let finelySplit = 4 << 10

  /// The first byte decides the size of the pieces, the form of the input, the end of the connection and the method. The
  /// second byte decides about the second request and the sink. The rest is what the server sends: its bytes, or records
  /// from which frames are built. The size of the pieces must make no difference.
  static func http2(_ input: FuzzInput) {
    guard let (first, more) = input.choice, let (second, rest) = more.choice else { return }
    let choice = HTTP2Link.Choice(
      isHead: first & 0x80 != 0, hasSecond: second & 8 != 0, hasSink: second & 1 != 0, pauses: second & 2 != 0,
      continuesLate: second & 4 != 0)
    let isReset = first & 0x40 != 0
    let frames = first & 0x20 != 0 ? HTTP2Frames(records: rest.bytes) : HTTP2Frames(raw: rest.bytes)
    guard let whole = run(frames, choice, isReset: isReset, piece: largest),
      let pieces = run(frames, choice, isReset: isReset, piece: Int(first & 0x1F) + 1)
    else { return }
    check(whole.outcomes == pieces.outcomes, "the size of pieces makes no difference: \(whole) and \(pieces)")
  }

  private static func run(
    _ frames: HTTP2Frames, _ choice: HTTP2Link.Choice, isReset: Bool, piece: Int
  ) -> (outcomes: [HTTP2Link.Outcome], explanation: String)? {
    guard let link = HTTP2Link(choice) else { return nil }
    frames.bytes.withUnsafeBytes { bytes in
      var start = 0
      while start < bytes.count, link.isOpen {
        let size = start < finelySplit ? piece : min(max(piece * 64, 1024), largest)
        let end = min(start + size, bytes.count)
        link.receive(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        start = end
      }
    }
    link.finish(isReset: isReset)
    checkSent(link, frames)
    let outcomes = link.exchanges.indices.map { link.outcome(of: $0) }
    for (place, outcome) in outcomes.enumerated() {
      checkOutcome(outcome, frames, stream: place * 2 + 1)
      checkSink(link.sinks[place], frames, stream: place * 2 + 1)
    }
    return (outcomes, link.explanation)
  }

  /// Nothing in a response is made up.
  private static func checkOutcome(_ outcome: HTTP2Link.Outcome, _ frames: HTTP2Frames, stream: Int) {
    switch outcome {
    case .moved: check(stream > 1 || frames.mayRefuse, "a request is sent again only if the server rejected it")
    case .failed: break
    case .response(let status, let fields, let content, let trailers, let isCut):
      check((200...999).contains(status), "a response has a final status")
      check(isCut || frames.ended.contains(stream), "a response is complete")
      check(fields.count <= 8 && trailers.count <= 8, "the number of fields is limited")
      for field in fields + trailers {
        check(field.utf8.allSatisfy { ![0, 0x0A, 0x0D].contains($0) }, "a field is one line")
      }
      if !fields.contains(where: { $0.lowercased().hasPrefix("content-encoding:") }) {
        check(frames.content[stream, default: []].starts(with: content), "no byte is made up")
      }
    }
  }

  private static func checkSink(_ sink: HTTP2Sink?, _ frames: HTTP2Frames, stream: Int) {
    guard let sink, sink.isPlain else { return }
    check(frames.content[stream, default: []].starts(with: sink.content), "no byte is made up")
  }

  /// The client sends frames that it may send, and no more than the server caused.
  private static func checkSent(_ link: HTTP2Link, _ frames: HTTP2Frames) {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    check(link.sent.starts(with: preface), "the client begins with its preface")
    check(link.sent.count <= 4096 + 20 * frames.bytes.count, "the client sends a bounded number of bytes")
    var requests = 0
    var windows: [Int: Int] = [:]
    for frame in HTTP2Frames.split(link.sent, from: preface.count) {
      switch UInt32(frame.kind) {
      case NGHTTP2_HEADERS.rawValue: requests += 1
      case NGHTTP2_WINDOW_UPDATE.rawValue: windows[frame.stream, default: 0] += frame.number
      case NGHTTP2_SETTINGS.rawValue, NGHTTP2_PING.rawValue, NGHTTP2_RST_STREAM.rawValue, NGHTTP2_GOAWAY.rawValue: break
      default: check(false, "the client sends no other frame than those it needs")
      }
    }
    check(requests <= link.exchanges.count, "a request is sent once")
    for (stream, count) in windows where stream > 0 {
      let most = frames.content[stream, default: []].count + frames.padding[stream, default: 0]
      check(count <= most, "a window is returned once")
    }
  }
}
