/// Sends one response of a ``LoopbackServer`` by executing the response's steps on a socket.
///
/// Bytes are collected in a buffer. The buffer is sent before every wait and at the end of the response, so that a
/// short response is one packet.
struct ResponseWriter {
  private let socket: LoopbackSocket
  private let answer: LoopbackAnswer
  private let isHead: Bool
  private var buffer: [UInt8] = []
  /// The number of content bytes in the buffer. They are the last bytes of the buffer, after the header section.
  private var bufferedBody = 0
  private var counted = 0
  private var hasAppliedFault = false
  private var hasSentPiece = false
  /// Whether the server has closed the sending side of the connection. If true, all further bytes of the response are
  /// dropped.
  private(set) var isHalfClosed = false

  /// - Parameter isHead: True for the response to a HEAD request, which is sent without content.
  init(_ answer: LoopbackAnswer, to socket: LoopbackSocket, isHead: Bool) {
    self.answer = answer
    self.socket = socket
    self.isHead = isHead
  }

  /// Executes all steps of the response. Throws a ``ConnectionEnd`` if the connection must end.
  mutating func run() throws {
    for step in answer.steps { try perform(step) }
    if let fault = answer.fault, !hasAppliedFault { try applyFault(fault) }
    try flush()
  }

  private mutating func perform(_ step: LoopbackAnswer.Step) throws {
    switch step {
    case .head(let status, let reason, let headers):
      try put(HTTPText.head(status: status, reason: reason, headers: headers), .everything)
    case .bytes(let bytes, let times): try put(bytes, .everything, times: times)
    case .body(let bytes, let times): if !isHead { try put(bytes, .body, times: times) }
    default:
      try flush()
      try performOnWire(step)
      if case .halfClose = step { isHalfClosed = true }
    }
  }

  private func performOnWire(_ step: LoopbackAnswer.Step) throws {
    switch step {
    case .head, .bytes, .body: break
    case .wait(let gate): try socket.pass(gate)
    case .reach(let gate): gate.arrive()
    case .pause(let duration): try socket.pause(duration)
    case .halfClose: socket.halfClose()
    case .close: throw ConnectionEnd.close
    case .reset: throw ConnectionEnd.reset
    }
  }

  private mutating func put(_ bytes: [UInt8], _ part: LoopbackAnswer.Part, times: Int?) throws {
    guard !bytes.isEmpty else { return }
    var left = times ?? .max
    while left > 0, !isHalfClosed {
      try put(bytes, part)
      if times != nil { left -= 1 }
    }
  }

  /// Writes bytes. If a simulated fault is inside these bytes, writes the bytes before the fault, executes the fault,
  /// and writes the remaining bytes. The remaining bytes are dropped if the fault has closed the sending side.
  private mutating func put(_ bytes: [UInt8], _ part: LoopbackAnswer.Part) throws {
    var rest = bytes[...]
    if let fault = answer.fault, !hasAppliedFault, part == .body || fault.part == .everything {
      let room = fault.after - counted
      counted += min(room, rest.count)
      if rest.count >= room {
        try emit(rest.prefix(room), part)
        rest = rest.dropFirst(room)
        try applyFault(fault)
      }
    }
    try emit(rest, part)
  }

  private mutating func applyFault(_ fault: LoopbackAnswer.Fault) throws {
    hasAppliedFault = true
    try perform(fault.step)
  }

  private mutating func emit(_ bytes: ArraySlice<UInt8>, _ part: LoopbackAnswer.Part) throws {
    if isHalfClosed { return }
    if let pace = answer.pace, part == .body || pace.part == .everything {
      try sendInPieces(bytes, part, pace)
    } else {
      buffer += bytes
      if part == .body { bufferedBody += bytes.count }
      if buffer.count >= 64 << 10 { try flush() }
    }
  }

  private mutating func sendInPieces(
    _ bytes: ArraySlice<UInt8>, _ part: LoopbackAnswer.Part, _ pace: LoopbackAnswer.Pace
  ) throws {
    try flush()
    var rest = bytes
    while !rest.isEmpty {
      if hasSentPiece { try performOnWire(pace.between) }
      hasSentPiece = true
      try send(rest.prefix(pace.size), body: part == .body ? rest.prefix(pace.size).count : 0)
      rest = rest.dropFirst(pace.size)
    }
  }

  private mutating func flush() throws {
    guard !buffer.isEmpty else { return }
    try send(buffer[...], body: bufferedBody)
    buffer.removeAll(keepingCapacity: true)
    bufferedBody = 0
  }

  /// Sends bytes. Only the last `body` bytes are content. Passes the number of sent content bytes to the response's
  /// closure `tally`, even if the client closes the connection before all bytes are sent.
  private func send(_ bytes: ArraySlice<UInt8>, body: Int) throws {
    let before = socket.sentCount
    defer {
      let sent = max(0, socket.sentCount - before - (bytes.count - body))
      if sent > 0 { answer.tally?(sent) }
    }
    try socket.send(bytes)
  }
}
