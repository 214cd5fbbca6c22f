/// The response of a ``RangeServer`` to a request for its file, and the range of the file that the response contains.
struct RangeResponse {
  /// The status of the response; 0 if the server closes the connection instead.
  let status: Int
  /// The range of the file in the content of the response; nil if the response has no content of the file.
  let range: Range<Int>?
  /// The response for the underlying ``LoopbackServer``.
  let answer: LoopbackAnswer

  /// Creates the response to a request, as the behaviour requires.
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
