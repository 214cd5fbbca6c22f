/// Builds the header fields and the content of a response with bytes of a file.
struct RangeContent {
  private static let boundary = "errand-boundary"
  private let behaviour: RangeBehaviour
  /// The range of the file whose bytes are sent as the content of the response.
  var range: Range<Int>
  /// The header fields of the response, except the fields for the framing of the content, such as `Content-Length`.
  var headers: LoopbackHeaders
  /// The way in which the response shows the end of its content.
  var framing: RangeBehaviour.Framing
  /// The number of bytes that are sent in addition to the bytes of the range. If the number is negative, the last bytes
  /// of the range are not sent.
  var surplus = 0
  /// Whether the content is sent as `multipart/byteranges`.
  var isMultipart = false

  init(_ behaviour: RangeBehaviour, range: Range<Int>) {
    self.behaviour = behaviour
    self.range = range
    framing = behaviour.framing
    headers = behaviour.fields
    if headers["Content-Type"] == nil { headers["Content-Type"] = "application/octet-stream" }
    RangeValidatorFields(behaviour).add(to: &headers)
  }

  /// The response, including the simulated faults.
  func response(_ status: Int) -> LoopbackAnswer {
    var headers = headers
    headers["Content-Digest"] = behaviour.contentDigest?(range) ?? headers["Content-Digest"]
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
    return addingFaults(to: LoopbackAnswer([.head(status: status, headers: headers)] + steps))
  }

  private var plainRuns: [RangeResource.Run] {
    let runs = behaviour.resource.runs(in: range.lowerBound..<(range.upperBound + min(0, max(-range.count, surplus))))
    let extra = [UInt8](repeating: 0x21, count: max(0, surplus))
    return extra.isEmpty ? runs : runs + [.init(bytes: extra, times: 1)]
  }

  /// The bytes of the response as the only part of a multipart body (RFC 9110 section 14.6). The function also removes
  /// `Content-Range` from `headers` and sets the content type of a multipart body.
  private func packed(_ headers: inout LoopbackHeaders) -> [RangeResource.Run] {
    let range = headers["Content-Range"] ?? ""
    headers["Content-Range"] = nil
    headers["Content-Type"] = "multipart/byteranges; boundary=\(Self.boundary)"
    let start = "--\(Self.boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: \(range)\r\n\r\n"
    let end = "\r\n--\(Self.boundary)--\r\n"
    return [.init(bytes: Array(start.utf8), times: 1)] + plainRuns + [.init(bytes: Array(end.utf8), times: 1)]
  }

  private func addingFaults(to answer: LoopbackAnswer) -> LoopbackAnswer {
    var answer = answer
    if let pace = behaviour.pace { answer = answer.dripped(pace.size, of: .body, through: pace.gate) }
    switch behaviour.fault {
    case .cut(let count): return answer.cut(after: count)
    case .reset(let count): return answer.reset(after: count)
    case .stall(let count, let gate): return answer.stalled(after: count, until: gate)
    case .status, .closeBeforeResponse, nil: return answer
    }
  }
}
