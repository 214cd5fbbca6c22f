import ErrandCore
import ErrandJSON
import Foundation

/// The loop of the live page. It runs on one thread, which waits only in `poll`.
struct LiveServer {
  private let listener: LiveListener
  private let inbox: LiveInbox
  private let gate: LiveGate
  private let limits: LiveLimits
  private let record: () -> [FlightCall]
  private var connections: [LiveConnection] = []

  init(
    _ listener: LiveListener, _ inbox: LiveInbox, _ gate: LiveGate, _ limits: LiveLimits,
    record: @escaping () -> [FlightCall]
  ) {
    (self.listener, self.inbox, self.gate, self.limits, self.record) = (listener, inbox, gate, limits, record)
  }

  /// Serves until the inbox is stopped.
  mutating func run() {
    while true {
      let ready = waitForEvents()
      let now = ContinuousClock.now
      let news = inbox.take()
      if news.isStopped { return close(now) }
      serve(Array(ready.dropFirst(2)), news, now)
      if ready[1] != 0 { accept(now) }
    }
  }

  private mutating func accept(_ now: ContinuousClock.Instant) {
    if let descriptor = listener.accepted() {
      connections.append(LiveConnection(descriptor, limits, now: now))
    } else {
      // The process has no free descriptor, or the peer has left. Wait, so that the loop does not keep a processor busy.
      _ = LiveSocket.wait([(inbox.descriptor, LiveSocket.readable)], milliseconds: 5)
    }
  }

  /// Waits until a connection, the port or the inbox has an event, or the next deadline.
  private func waitForEvents() -> [Int16] {
    let accepts = connections.count < limits.connections ? LiveSocket.readable : 0
    let watched = [(inbox.descriptor, LiveSocket.readable), (listener.descriptor, accepts)]
    let next = connections.compactMap(\.deadline).min()
    return LiveSocket.wait(
      watched + connections.map { ($0.descriptor, $0.events) }, milliseconds: next.map(Self.milliseconds) ?? -1)
  }

  /// The time until a deadline, rounded up.
  private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
    let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
    return Int32(min(max(left.rounded(.up), 0), 60_000))
  }

  private mutating func serve(_ ready: [Int16], _ news: LiveInbox.Content, _ now: ContinuousClock.Instant) {
    for place in connections.indices {
      if ready[place] & ~LiveSocket.writable != 0 {
        connections[place].read(now: now) { head in
          let decision = gate.decision(head)
          return (decision, decision == .events ? record() : [])
        }
      }
      connections[place].add(news.calls, isOverfull: news.isOverfull, now: now)
      connections[place].write(now: now)
      connections[place].expire(now: now)
      if connections[place].phase == .closed { LiveSocket.end(connections[place].descriptor) }
    }
    connections.removeAll { $0.phase == .closed }
  }

  private mutating func close(_ now: ContinuousClock.Instant) {
    for place in connections.indices {
      connections[place].end("end", now)
      LiveSocket.end(connections[place].descriptor)
    }
    connections = []
    listener.end()
  }
}

/// One connection to the live page. The thread of the server calls it; no function blocks.
struct LiveConnection {
  enum Phase {
    /// Reads a request.
    case reading
    /// Sends a response that has an end.
    case answering
    /// Sends calls until the peer leaves.
    case streaming
    /// Has sent everything, and gives the peer time to read it (RFC 9112 section 9.6).
    case leaving
    case closed
  }

  let descriptor: Int32
  private(set) var phase = Phase.reading
  /// The time at which the connection is closed unless it makes progress; nil if it may wait without limit.
  private(set) var deadline: ContinuousClock.Instant?
  private let limits: LiveLimits
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  private var sent = 0
  /// The calls that have not been encoded yet, the next one last.
  private var pending: [FlightCall] = []
  /// The number of waiting calls that were in the record when the stream began. They do not count as a slow reader's.
  private var recorded = 0

  init(_ descriptor: Int32, _ limits: LiveLimits, now: ContinuousClock.Instant) {
    (self.descriptor, self.limits) = (descriptor, limits)
    deadline = now + limits.headTime
  }

  var events: Int16 { LiveSocket.readable | (hasOutput ? LiveSocket.writable : 0) }

  private var hasOutput: Bool { sent < output.count || !pending.isEmpty }

  /// Reads what has arrived. `decide` gets a whole request and returns the response, and the calls for a stream.
  mutating func read(now: ContinuousClock.Instant, decide: ([UInt8]) -> (LiveGate.Decision, [FlightCall])) {
    switch LiveSocket.receive(descriptor, most: 4_096) {
    case .nothing: return
    case .end: phase = .closed
    case .bytes(let bytes):
      guard phase == .reading else { return }
      input += bytes
      if let end = Self.endOfHead(input) {
        answer(decide(Array(input[..<end])), now)
      } else if input.count > limits.head {
        answer((.rejected(431, "Request Header Fields Too Large"), []), now)
      }
    }
  }

  private mutating func answer(
    _ answer: (decision: LiveGate.Decision, calls: [FlightCall]), _ now: ContinuousClock.Instant
  ) {
    input = []
    output = Array(LiveGate.response(answer.decision))
    phase = answer.decision == .events ? .streaming : .answering
    (pending, recorded) = (answer.calls.reversed(), answer.calls.count)
    deadline = now + limits.stallTime
  }

  /// Sends as much as the system accepts. In one turn it encodes a limited number of calls, so that one reader does not
  /// delay the others.
  mutating func write(now: ContinuousClock.Instant) {
    var encoded = 0
    while phase == .answering || phase == .streaming {
      if sent == output.count {
        if encoded == limits.callsPerTurn, !pending.isEmpty { return }
        encodeNext()
        encoded += 1
      }
      if output.isEmpty { return finishWriting(now) }
      guard let count = LiveSocket.transmit(descriptor, output[sent...]) else { return phase = .closed }
      if count == 0 { return }
      sent += count
      deadline = now + limits.stallTime
    }
  }

  /// Replaces the sent bytes by the event of the next call.
  private mutating func encodeNext() {
    (output, sent) = ([], 0)
    guard let call = pending.popLast() else { return }
    recorded = min(recorded, pending.count)
    // Serialising fails only for numbers that are not finite. An archive contains none.
    guard let json = try? JSONValue.array(call.harEntries).serialized() else { return encodeNext() }
    output = Array("data: ".utf8) + json + Array("\n\n".utf8)
  }

  private mutating func finishWriting(_ now: ContinuousClock.Instant) {
    if phase == .streaming { return deadline = nil }
    LiveSocket.finish(descriptor)
    (phase, deadline) = (.leaving, now + .seconds(1))
  }

  /// Adds new calls to a stream. A reader that is too slow gets no more calls, but an event that says so.
  mutating func add(_ calls: [FlightCall], isOverfull: Bool, now: ContinuousClock.Instant) {
    guard phase == .streaming, !calls.isEmpty || isOverfull else { return }
    if deadline == nil { deadline = now + limits.stallTime }
    if isOverfull || pending.count + calls.count > recorded + limits.queue { return end("overflow", now) }
    pending = calls.reversed() + pending
  }

  /// Ends a stream with an event.
  mutating func end(_ event: String, _ now: ContinuousClock.Instant) {
    guard phase == .streaming else { return }
    pending = []
    output = Array(output[sent...]) + Array("event: \(event)\ndata: \n\n".utf8)
    (sent, phase) = (0, .answering)
    write(now: now)
  }

  mutating func expire(now: ContinuousClock.Instant) {
    if let deadline, deadline <= now { phase = .closed }
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    let end = Array("\r\n\r\n".utf8)
    return bytes.indices.first { bytes[$0...].starts(with: end) }
  }
}
