import ErrandHTTP
import Foundation

/// The state machine of one exchange. It receives events and returns the next step. The caller performs the step.
///
/// | state | possible next states |
/// |---|---|
/// | waiting for the response headers | asking, receiving, over |
/// | asking the sink | receiving, over |
/// | receiving | receiving, over |
/// | over | none: later events have no effect |
///
/// While a sink pauses, the machine keeps the pieces that URLSession still delivers, and remembers the end of the body.
/// URLSession resumes when the sink has taken all kept pieces.
struct SessionMachine: Sendable {
  /// The place to which the bytes of the response body go.
  private enum Destination: Sendable {
    /// The bytes are kept in memory. The exchange fails if the body is longer than the limit.
    case memory(limit: Int)
    /// The bytes are kept in memory up to the limit. Further bytes are dropped.
    case beginning(limit: Int)
    case sink
    case discard
  }

  private enum State: Sendable {
    case waiting
    case asking
    case receiving(Destination)
    case over
  }

  /// The next step that the caller must perform.
  enum Step: Sendable {
    /// The caller does nothing until the next event of URLSession or of the sink.
    case rest
    /// The caller must ask the sink for the destination of the body.
    case ask(ResponseHead)
    /// The caller must pass this piece of the body to the sink.
    case write(Data)
    /// The caller must suspend the URLSession task, because the sink pauses.
    case pause
    /// The caller must resume the URLSession task, because the sink has taken all kept pieces.
    case resume
    /// The caller must tell the sink that the body is complete, and then call ``SessionMachine/sinkEnded()``.
    case endSink
    /// The caller must end the exchange with this response. If `cancels` is true, all wanted bytes have arrived before
    /// the end of the body, and the caller must also cancel the URLSession task.
    case succeed(ResponseHead, Data, cancels: Bool)
    /// The caller must end the exchange with this error. If `cancels` is true, the URLSession task has not ended yet,
    /// and the caller must also cancel the task.
    case fail(any Error, cancels: Bool)
  }

  /// The maximum number of bytes to read of a response body that is discarded. After that, the task is cancelled.
  private static let mostDiscarded: Int64 = 1 << 20

  private let limits: ResponseLimits
  private let dropsRedirectBodies: Bool
  private let hasSink: Bool
  private let isHeadRequest: Bool
  private let checksFraming: Bool
  private let splitsMixedReplace: Bool

  private var state = State.waiting
  private(set) var head: ResponseHead?
  private var memory = Data()
  /// The number of bytes of the response body received so far, after content decoding.
  private(set) var received: Int64 = 0
  /// Whether the response body is longer than the part that is kept in memory.
  private(set) var isCut = false
  private var backlog: [Data] = []
  private(set) var isPaused = false
  /// Whether the URLSession task is suspended. It stays suspended from the first pause of the sink until all kept
  /// pieces are passed to the sink.
  private var isSuspended = false
  private var hasBodyEnded = false

  init(_ exchange: Exchange, _ platform: SessionPlatform = .current) {
    checksFraming = platform.checksFraming
    splitsMixedReplace = platform.splitsMixedReplace
    limits = exchange.limits
    dropsRedirectBodies = exchange.handling.dropsRedirectBodies
    hasSink = exchange.sink != nil
    isHeadRequest = exchange.request.method == .head
  }

  var isOver: Bool {
    if case .over = state { true } else { false }
  }

  /// The announced length of the response body; nil if it cannot be compared with the number of received bytes.
  var announced: Int64? {
    guard let head else { return nil }
    if isHeadRequest || head.status == 204 || head.status == 304 { return 0 }
    return head.countableLength
  }

  // MARK: - Events of URLSession

  /// Called when URLSession has reported the final response headers. Returns the next step.
  mutating func take(_ head: ResponseHead) -> Step {
    guard case .waiting = state else { return later() }
    self.head = head
    if let fault = fault(of: head) { return fault }
    if hasSink {
      state = .asking
      return .ask(head)
    }
    let isDropped = dropsRedirectBodies && StatusRule.isRedirect(head.status)
    if isDropped { return receive(into: .discard) }
    let limit = limits.bodyBytes
    return receive(into: StatusRule.mayBeCut(head.status) ? .beginning(limit: limit) : .memory(limit: limit))
  }

  /// The step for further response headers of the same task. They precede the next part of a body of the type
  /// `multipart/x-mixed-replace`. Without the separators between the parts, the body would not be what the server sent.
  private mutating func later() -> Step {
    guard splitsMixedReplace, !isOver else { return .rest }
    return fail(
      .other,
      "URLSession delivers each part of a multipart/x-mixed-replace response as a response of its own; "
        + "use another transport for this request.")
  }

  private mutating func fault(of head: ResponseHead) -> Step? {
    if head.status == 101 {
      return fail(
        .malformedResponse,
        "The response violates the rules of HTTP: it switches protocols, which the request did not ask for.")
    }
    if head.status < 200 {
      return fail(
        .other, "URLSession treated the informational response \(head.status) as final; use another transport.")
    }
    guard head.fields.count <= limits.fieldCount else {
      return fail(
        .tooLarge,
        "The response exceeds the limits: it has more than \(limits.fieldCount) fields; "
          + "raise `limits.fieldCount` to allow more.")
    }
    guard head.measure <= limits.headBytes else {
      return fail(
        .tooLarge,
        "The response exceeds the limits: its header section is longer than \(limits.headBytes) bytes; "
          + "raise `limits.headBytes` to allow more.")
    }
    if checksFraming, let fault = SessionFraming.fault(of: head) {
      return fail(.malformedResponse, "The response violates the rules of HTTP: \(fault).")
    }
    return nil
  }

  /// The step for a body that content decoding has expanded too much. Nil for a discarded body, and if the coded length
  /// is unknown.
  private mutating func expansionFault(_ destination: Destination) -> Step? {
    if case .discard = destination { return nil }
    guard let coded = head?.codedLength else { return nil }
    do {
      try limits.expansion?.check(decoded: received, coded: coded)
      return nil
    } catch {
      return fail(error, cancels: true)
    }
  }

  /// Called when a piece of the response body has arrived. URLSession has already decoded its content coding. Returns
  /// the next step.
  mutating func take(_ piece: Data) -> Step {
    guard case .receiving(let destination) = state else { return .rest }
    received += Int64(piece.count)
    if let fault = expansionFault(destination) { return fault }
    switch destination {
    case .discard: return received > Self.mostDiscarded ? succeed(cancels: true) : .rest
    case .beginning(let limit):
      memory.append(piece.prefix(max(limit - memory.count, 0)))
      isCut = received > Int64(limit)
      return received > Int64(limit) ? succeed(cancels: true) : .rest
    case .memory(let limit):
      guard piece.count <= limit - memory.count else { return aboveLimit(limit) }
      memory.append(piece)
      return .rest
    case .sink:
      guard !isPaused else {
        backlog.append(piece)
        return .rest
      }
      return .write(piece)
    }
  }

  /// Called when URLSession has reported the end of the response body. Returns the next step.
  mutating func finish() -> Step {
    switch state {
    case .over: return .rest
    case .waiting, .asking:
      return fail(.malformedResponse, "URLSession ended the task without a response.", cancels: false)
    case .receiving:
      hasBodyEnded = true
      return isPaused ? .rest : end()
    }
  }

  /// Ends the exchange with an error of URLSession or of the sink, or because the call was stopped. Returns the next
  /// step. If `cancels` is true, this step also cancels the URLSession task, unless the task has ended.
  mutating func fail(_ error: any Error, cancels: Bool) -> Step {
    if case .over = state { return .rest }
    close()
    return .fail(error, cancels: cancels && !hasBodyEnded)
  }

  // MARK: - Events of the sink

  /// Called when the sink has chosen the destination of the body. Returns the next step.
  mutating func open(_ disposition: BodyDisposition) -> Step {
    switch disposition {
    case .memory(let limit): receive(into: .beginning(limit: limit))
    case .sink: receive(into: .sink)
    case .discard: receive(into: .discard)
    }
  }

  private mutating func receive(into destination: Destination) -> Step {
    switch state {
    case .waiting, .asking: state = .receiving(destination)
    case .receiving, .over: return .rest
    }
    if case .memory(let limit) = destination, let announced, announced > Int64(limit) { return aboveLimit(limit) }
    return .rest
  }

  /// Called when the sink has taken a piece of the body. If `goesOn` is false, the sink pauses the body. Returns the
  /// next step.
  mutating func wrote(goesOn: Bool) -> Step {
    guard !isOver else { return .rest }
    if goesOn { return next() }
    isPaused = true
    if isSuspended { return .rest }
    isSuspended = true
    return .pause
  }

  /// Called when the sink ends its pause and can take more pieces. Returns the next step.
  mutating func resume() -> Step {
    guard !isOver, isPaused else { return .rest }
    isPaused = false
    return next()
  }

  /// Called when the sink has received the whole body. Returns the next step.
  mutating func sinkEnded() -> Step { isOver ? .rest : succeed() }

  // MARK: -

  /// Returns the step that passes the next kept piece to the sink. If no piece is kept, the step ends the body, or
  /// resumes URLSession if it is suspended.
  private mutating func next() -> Step {
    if !backlog.isEmpty { return .write(backlog.removeFirst()) }
    if hasBodyEnded { return end() }
    guard isSuspended else { return .rest }
    isSuspended = false
    return .resume
  }

  private mutating func end() -> Step {
    if let announced, received < announced {
      return fail(.truncated, "The response body ended before its announced end.", cancels: false)
    }
    if case .receiving(.sink) = state { return .endSink }
    return succeed()
  }

  private mutating func succeed(cancels: Bool = false) -> Step {
    guard let head else { return .rest }
    let body = memory
    close()
    return .succeed(head, body, cancels: cancels)
  }

  private mutating func aboveLimit(_ limit: Int) -> Step {
    fail(TransportFailure.bodyTooLarge(limit), cancels: true)
  }

  private mutating func fail(_ kind: TransportFailure.Kind, _ text: String, cancels: Bool = true) -> Step {
    fail(TransportFailure(kind, text), cancels: cancels)
  }

  private mutating func close() {
    state = .over
    memory = Data()
    backlog = []
  }
}
