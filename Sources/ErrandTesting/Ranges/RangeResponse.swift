import ErrandCore

/// The response of a ``RangeServer`` to a request for its file, and the range of the file that the response contains.
struct RangeResponse {
  /// The status of the response; 0 if the server closes the connection instead.
  let status: Int
  /// The range of the file in the content of the response; nil if the response has no content of the file.
  let range: Range<Int>?
  /// The response for the underlying ``LoopbackServer``.
  let answer: LoopbackAnswer

  init(to request: RecordedRequest, _ behaviour: RangeBehaviour) {
    switch behaviour.fault {
    case .status(let status, let headers):
      self.init(status: status, range: nil, answer: .status(status, headers: headers, body: "not now\n"))
      return
    case .closeBeforeResponse:
      self.init(status: 0, range: nil, answer: .closeBeforeAnswer)
      return
    case .cut, .reset, .stall, nil: break
    }
    let selection = RequestedRange(request).selection(by: behaviour)
    switch (selection, behaviour.deviation) {
    case (.whole, .unrequested(let part)): self = Self.part(part, behaviour)
    case (.whole, _): self = Self.whole(behaviour)
    case (.part(let part), _): self = Self.part(part, behaviour)
    case (.nothing, _): self = Self.nothing(behaviour)
    }
  }

  private init(status: Int, range: Range<Int>?, answer: LoopbackAnswer) {
    self.status = status
    self.range = range
    self.answer = answer
  }

  // MARK: Kinds of responses

  private static func whole(_ behaviour: RangeBehaviour) -> RangeResponse {
    var content = RangeContent(behaviour, range: 0..<behaviour.resource.size)
    if case .ignored = behaviour.ranges {} else { content.headers["Accept-Ranges"] = "bytes" }
    return RangeResponse(status: 200, range: content.range, answer: content.response(200))
  }

  private static func part(_ requested: Range<Int>, _ behaviour: RangeBehaviour) -> RangeResponse {
    let stated = stated(requested, behaviour)
    var content = RangeContent(behaviour, range: stated)
    content.headers["Content-Range"] = text(stated, total: behaviour.resource.size)
    var status = 206
    apply(behaviour.deviation, to: &content, stated, size: behaviour.resource.size, status: &status)
    return RangeResponse(status: status, range: content.range, answer: content.response(status))
  }

  private static func nothing(_ behaviour: RangeBehaviour) -> RangeResponse {
    var total: Int? = behaviour.resource.size
    if case .total(let other) = behaviour.deviation { total = other }
    var headers: LoopbackHeaders = ["Content-Range": "bytes */\(total.map(String.init) ?? "*")"]
    RangeValidatorFields(behaviour).add(to: &headers)
    if case .noContentRange = behaviour.deviation { headers["Content-Range"] = nil }
    let answer = LoopbackAnswer.status(416, headers: headers, body: "no such range\n")
    return RangeResponse(status: 416, range: nil, answer: answer)
  }

  // MARK: Wrong responses

  /// The range of the file that the response's `Content-Range` states. It differs from the requested range only for
  /// some kinds of ``RangeDeviation``.
  private static func stated(_ requested: Range<Int>, _ behaviour: RangeBehaviour) -> Range<Int> {
    switch behaviour.deviation {
    case .movedPart(let distance): moved(requested, by: distance, behaviour.resource.size)
    case .shortened(let length): requested.lowerBound..<min(requested.upperBound, requested.lowerBound + max(1, length))
    default: requested
    }
  }

  private static func apply(
    _ deviation: RangeDeviation?, to content: inout RangeContent, _ stated: Range<Int>, size: Int, status: inout Int
  ) {
    switch deviation {
    case .movedBytes(let distance): content.range = moved(stated, by: distance, size)
    case .noContentRange: content.headers["Content-Range"] = nil
    case .twoContentRanges:
      content.headers.add("Content-Range", text(moved(stated, by: stated.lowerBound > 0 ? -1 : 1, size), total: size))
    case .contentRange(let text): content.headers["Content-Range"] = text
    case .total(let total): content.headers["Content-Range"] = text(stated, total: total)
    case .entityTag(let tag): content.headers["ETag"] = tag
    case .contentEncoding(let coding): content.headers["Content-Encoding"] = coding
    case .multipart: content.isMultipart = true
    case .contentLength(let difference): content.surplus = difference
    case .overrun(let count):
      content.surplus = count
      content.framing = .close
    case .partAsWhole:
      status = 200
      content.headers["Content-Range"] = nil
    case .movedPart, .shortened, .unrequested, nil: break
    }
  }

  /// The range moved by a distance. The length stays the same, unless the moved range would end after the end of the
  /// file.
  private static func moved(_ part: Range<Int>, by distance: Int, _ size: Int) -> Range<Int> {
    let start = min(max(0, part.lowerBound + distance), max(0, size - 1))
    return start..<min(size, start + part.count)
  }

  static func text(_ part: Range<Int>, total: Int?) -> String {
    "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(total.map(String.init) ?? "*")"
  }
}

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

/// The header fields with the validators of the file's version.
struct RangeValidatorFields {
  /// The entity tag; nil if the server sends none. A weak entity tag has the prefix `W/`.
  let entityTag: String?
  /// The date of the last change of the file; nil if the server does not send it. The date is computed from the file's
  /// seed, so a new version of the file has another date.
  let lastModified: String?
  /// The value of the field `Date` of the response; nil if the server does not send this field.
  let date: String?

  init(_ behaviour: RangeBehaviour) {
    let tag = behaviour.resource.entityTag
    let changed = Int64(behaviour.resource.seed % 10_000) * 86_400_000
    let seconds: Int?
    switch behaviour.validators {
    case .strongTag: (entityTag, seconds) = (tag, nil)
    case .weakTag: (entityTag, seconds) = ("W/\(tag)", nil)
    case .lastModified(let distance): (entityTag, seconds) = (nil, distance)
    case .both(let distance): (entityTag, seconds) = (tag, distance)
    case .none: (entityTag, seconds) = (nil, nil)
    }
    lastModified = seconds.map { _ in HTTPDate.text(milliseconds: changed) }
    date = seconds.map { HTTPDate.text(milliseconds: changed + Int64(clamping: $0) * 1_000) }
  }

  func add(to headers: inout LoopbackHeaders) {
    headers["ETag"] = entityTag
    headers["Last-Modified"] = lastModified
    headers["Date"] = date
  }
}

/// Parses the range of a file that a request asks for.
struct RequestedRange {
  enum Selection: Equatable {
    case whole
    case part(Range<Int>)
    /// The requested range contains no byte of the file.
    case nothing
  }

  private let range: String?
  private let ifRange: String?

  init(_ request: RecordedRequest) {
    range = request.method == "GET" ? request.headers["Range"] : nil
    ifRange = request.headers["If-Range"]
  }

  /// The bytes that a server with the given behaviour sends in response to the request.
  func selection(by behaviour: RangeBehaviour) -> Selection {
    guard let range, meetsIfRange(behaviour) else { return .whole }
    switch behaviour.ranges {
    case .honoured: return Self.parse(range, size: behaviour.resource.size)
    case .ignored: return .whole
    case .refused: return .nothing
    }
  }

  private func meetsIfRange(_ behaviour: RangeBehaviour) -> Bool {
    guard let ifRange else { return true }
    switch behaviour.ifRange {
    case .ignored: return true
    case .neverMet: return false
    case .honoured:
      let validators = RangeValidatorFields(behaviour)
      return ifRange.hasPrefix("\"") ? ifRange == validators.entityTag : ifRange == validators.lastModified
    }
  }

  /// Parses a single byte range (RFC 9110 section 14.1.2). If the text has several ranges or is invalid, the result is
  /// the whole file, because a server may ignore such a field.
  static func parse(_ text: String, size: Int) -> Selection {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return .whole }
    let ends = parts[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2 else { return .whole }
    switch (ends[0].isEmpty, ends[1].isEmpty) {
    case (true, false):
      guard let length = number(ends[1]) else { return .whole }
      return part(max(0, size - length)..<size)
    case (false, true):
      guard let first = number(ends[0]) else { return .whole }
      return part(min(first, size)..<size)
    case (false, false):
      guard let first = number(ends[0]), let last = number(ends[1]), first <= last else { return .whole }
      return part(min(first, size)..<(last < size ? last + 1 : size))
    case (true, true): return .whole
    }
  }

  private static func part(_ range: Range<Int>) -> Selection { range.isEmpty ? .nothing : .part(range) }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy(ASCII.isDigit) ? Int(text) : nil
  }
}
