/// Builds the header fields and the content of a response with bytes of a file.
struct RangeContent {
  private static let boundary = "errand-boundary"
  private let behaviour: RangeBehaviour
  /// The range of the file that the content contains.
  var piece: Range<Int>
  /// The header fields, except framing fields.
  var headers: LoopbackHeaders
  /// The framing of the content.
  var framing: RangeBehaviour.Framing
  /// The number of bytes that are sent in addition to the range. If it is negative, fewer bytes are sent.
  var surplus = 0
  /// Whether the content is sent as `multipart/byteranges`.
  var isMultipart = false

  init(_ behaviour: RangeBehaviour, piece: Range<Int>) {
    self.behaviour = behaviour
    self.piece = piece
    framing = behaviour.framing
    headers = behaviour.fields
    if headers["Content-Type"] == nil { headers["Content-Type"] = "application/octet-stream" }
    RangeValidatorFields(behaviour).add(to: &headers)
  }

  /// The response, including the simulated faults.
  func answer(_ status: Int) -> LoopbackAnswer {
    var headers = headers
    headers["Content-Digest"] = behaviour.contentDigest?(piece) ?? headers["Content-Digest"]
    let runs = isMultipart ? packed(&headers) : plainRuns
    var steps: [LoopbackAnswer.Step]
    switch framing {
    case .length:
      headers["Content-Length"] = String(runs.reduce(0) { $0 + $1.bytes.count * $1.times })
      steps = runs.map { .body($0.bytes, times: $0.times) }
    case .chunked:
      headers["Transfer-Encoding"] = "chunked"
      steps = runs.map { .body(HTTPText.chunk($0.bytes), times: $0.times) } + [.body(HTTPText.lastChunk([:]))]
    case .close: steps = runs.map { .body($0.bytes, times: $0.times) }
    }
    return faulty(LoopbackAnswer([.head(status: status, headers: headers)] + steps))
  }

  private var plainRuns: [RangeResource.Run] {
    let runs = behaviour.resource.runs(in: piece.lowerBound..<(piece.upperBound + min(0, max(-piece.count, surplus))))
    let extra = [UInt8](repeating: 0x21, count: max(0, surplus))
    return extra.isEmpty ? runs : runs + [.init(bytes: extra, times: 1)]
  }

  /// The bytes as the only part of a multipart body (RFC 9110 section 14.6). It also changes the header fields
  /// accordingly.
  private func packed(_ headers: inout LoopbackHeaders) -> [RangeResource.Run] {
    let range = headers["Content-Range"] ?? ""
    headers["Content-Range"] = nil
    headers["Content-Type"] = "multipart/byteranges; boundary=\(Self.boundary)"
    let start = "--\(Self.boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: \(range)\r\n\r\n"
    let end = "\r\n--\(Self.boundary)--\r\n"
    return [.init(bytes: Array(start.utf8), times: 1)] + plainRuns + [.init(bytes: Array(end.utf8), times: 1)]
  }

  private func faulty(_ answer: LoopbackAnswer) -> LoopbackAnswer {
    var answer = answer
    if let trickle = behaviour.trickle { answer = answer.dripped(trickle.size, of: .body, through: trickle.gate) }
    switch behaviour.fault {
    case .cut(let count): return answer.cut(after: count)
    case .reset(let count): return answer.reset(after: count)
    case .stall(let count, let gate): return answer.stalled(after: count, until: gate)
    case .status, .closeBeforeAnswer, nil: return answer
    }
  }
}
