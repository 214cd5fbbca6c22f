/// The response of a ``RangeServer`` to a request for its file, and the range of the file that the response contains.
struct RangeAnswer {
  /// The status.
  let status: Int
  /// The range of the file in the content of the response; nil if the response has no content of the file.
  let piece: Range<Int>?
  /// The response itself.
  let answer: LoopbackAnswer

  /// Creates the response to a request.
  init(to request: RecordedRequest, _ behaviour: RangeBehaviour) {
    switch behaviour.fault {
    case .status(let status, let headers):
      self.init(status: status, piece: nil, answer: .status(status, headers: headers, body: "not now\n"))
      return
    case .closeBeforeAnswer:
      self.init(status: 0, piece: nil, answer: .closeBeforeAnswer)
      return
    case .cut, .reset, .stall, nil: break
    }
    let wanted = RangeQuestion(request).wanted(of: behaviour)
    switch (wanted, behaviour.lie) {
    case (.whole, .unasked(let part)): self = Self.part(part, behaviour)
    case (.whole, _): self = Self.whole(behaviour)
    case (.part(let part), _): self = Self.part(part, behaviour)
    case (.nothing, _): self = Self.nothing(behaviour)
    }
  }

  private init(status: Int, piece: Range<Int>?, answer: LoopbackAnswer) {
    self.status = status
    self.piece = piece
    self.answer = answer
  }

  // MARK: Kinds of responses

  private static func whole(_ behaviour: RangeBehaviour) -> RangeAnswer {
    var content = RangeContent(behaviour, piece: 0..<behaviour.resource.size)
    if case .ignored = behaviour.ranges {} else { content.headers["Accept-Ranges"] = "bytes" }
    return RangeAnswer(status: 200, piece: content.piece, answer: content.answer(200))
  }

  private static func part(_ asked: Range<Int>, _ behaviour: RangeBehaviour) -> RangeAnswer {
    let said = said(asked, behaviour)
    var content = RangeContent(behaviour, piece: said)
    content.headers["Content-Range"] = text(said, total: behaviour.resource.size)
    var status = 206
    apply(behaviour.lie, to: &content, said, size: behaviour.resource.size, status: &status)
    return RangeAnswer(status: status, piece: content.piece, answer: content.answer(status))
  }

  private static func nothing(_ behaviour: RangeBehaviour) -> RangeAnswer {
    var total: Int? = behaviour.resource.size
    if case .total(let other) = behaviour.lie { total = other }
    var headers: LoopbackHeaders = ["Content-Range": "bytes */\(total.map(String.init) ?? "*")"]
    RangeValidatorFields(behaviour).add(to: &headers)
    if case .noContentRange = behaviour.lie { headers["Content-Range"] = nil }
    let answer = LoopbackAnswer.status(416, headers: headers, body: "no such range\n")
    return RangeAnswer(status: 416, piece: nil, answer: answer)
  }

  // MARK: Wrong responses

  /// The range that the response's `Content-Range` states.
  private static func said(_ asked: Range<Int>, _ behaviour: RangeBehaviour) -> Range<Int> {
    switch behaviour.lie {
    case .movedPart(let distance): moved(asked, by: distance, behaviour.resource.size)
    case .shortened(let length): asked.lowerBound..<min(asked.upperBound, asked.lowerBound + max(1, length))
    default: asked
    }
  }

  private static func apply(
    _ lie: RangeLie?, to content: inout RangeContent, _ said: Range<Int>, size: Int, status: inout Int
  ) {
    switch lie {
    case .movedBytes(let distance): content.piece = moved(said, by: distance, size)
    case .noContentRange: content.headers["Content-Range"] = nil
    case .twoContentRanges:
      content.headers.add("Content-Range", text(moved(said, by: said.lowerBound > 0 ? -1 : 1, size), total: size))
    case .contentRange(let text): content.headers["Content-Range"] = text
    case .total(let total): content.headers["Content-Range"] = text(said, total: total)
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
    case .movedPart, .shortened, .unasked, nil: break
    }
  }

  /// A range of the same length, moved by a distance and limited to the file.
  private static func moved(_ part: Range<Int>, by distance: Int, _ size: Int) -> Range<Int> {
    let start = min(max(0, part.lowerBound + distance), max(0, size - 1))
    return start..<min(size, start + part.count)
  }

  static func text(_ part: Range<Int>, total: Int?) -> String {
    "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(total.map(String.init) ?? "*")"
  }
}
