import ErrandHTTP
import Foundation

/// What becomes of one exchange, as a machine that is told what happens and says what is to be done. It calls nobody.
///
/// | state | may follow |
/// |---|---|
/// | waiting for the head | asking, receiving, over |
/// | asking the sink | receiving, over |
/// | receiving | receiving, over |
/// | over | nothing: whatever is told then has no effect |
///
/// While a sink pauses, pieces that URLSession has under way are kept, and so is the end. URLSession goes on when the
/// sink has taken them all.
struct SessionMachine: Sendable {
  /// Where the body goes.
  private enum Destination: Sendable {
    /// More than this fails the exchange.
    case memory(limit: Int)
    /// More than this is left behind.
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

  /// What is to be done next.
  enum Step: Sendable {
    /// Nothing: something else has to happen.
    case rest
    /// Ask the sink where the body goes.
    case ask(ResponseHead)
    /// Hand the sink this piece.
    case write(Data)
    /// Keep URLSession from bringing more.
    case pause
    /// Let it go on.
    case goOn
    /// Tell the sink that it has all, then say ``SessionMachine/sinkEnded()``.
    case endSink
    /// The answer is whole, or as much of it as is wanted: then the task is ended.
    case succeed(ResponseHead, Data, cancels: Bool)
    /// End the task, where it is not over by itself, and throw.
    case fail(any Error, cancels: Bool)
  }

  /// How many bytes of a body that nobody wants are read.
  private static let mostDiscarded: Int64 = 1 << 20

  private let limits: ResponseLimits
  private let dropsRedirectBodies: Bool
  private let hasSink: Bool
  private let isHeadRequest: Bool
  private let checksFraming: Bool

  private var state = State.waiting
  private(set) var head: ResponseHead?
  private var memory = Data()
  /// The bytes of the body that came.
  private(set) var received: Int64 = 0
  /// Whether more came than is kept.
  private(set) var isCut = false
  private var backlog: [Data] = []
  private(set) var isPaused = false
  /// Whether URLSession is kept from bringing more: from the first pause until nothing is left in the backlog.
  private var isSuspended = false
  private var hasCome = false

  init(_ exchange: Exchange, _ platform: SessionPlatform = .current) {
    checksFraming = platform.checksFraming
    limits = exchange.limits
    dropsRedirectBodies = exchange.handling.dropsRedirectBodies
    hasSink = exchange.sink != nil
    isHeadRequest = exchange.request.method == .head
  }

  /// Whether the exchange has ended.
  var isOver: Bool {
    if case .over = state { true } else { false }
  }

  /// The length that the head announces; nil where it cannot be counted against.
  var announced: Int64? {
    guard let head else { return nil }
    if isHeadRequest || head.status == 204 || head.status == 304 { return 0 }
    return head.countableLength
  }

  // MARK: - What URLSession tells

  /// The final head came.
  mutating func take(_ head: ResponseHead) -> Step {
    guard case .waiting = state else { return .rest }
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

  private mutating func fault(of head: ResponseHead) -> Step? {
    if head.status == 101 {
      return fail(.malformedResponse, "The answer breaks the rules of HTTP: it switches protocols without being asked.")
    }
    if head.status < 200 {
      return fail(
        .other, "URLSession took the informational answer \(head.status) for the final one; take another transport.")
    }
    guard head.fields.count <= limits.fieldCount else {
      return fail(
        .tooLarge, "The answer is larger than the limits allow: it has more than \(limits.fieldCount) fields.")
    }
    guard head.measure <= limits.headBytes else {
      return fail(
        .tooLarge, "The answer is larger than the limits allow: its head is longer than \(limits.headBytes) bytes.")
    }
    if checksFraming, let fault = SessionFraming.fault(of: head) {
      return fail(.malformedResponse, "The answer breaks the rules of HTTP: \(fault).")
    }
    return nil
  }

  private mutating func fault(ofBodyCodedIn bytes: Int64) -> Step? {
    do {
      try limits.expansion?.check(decoded: received, coded: bytes)
      return nil
    } catch {
      return fail(error, cancels: true)
    }
  }

  /// A piece of the body came, its content coding undone.
  mutating func take(_ piece: Data) -> Step {
    guard case .receiving(let destination) = state else { return .rest }
    received += Int64(piece.count)
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
      if let coded = head?.codedLength, let fault = fault(ofBodyCodedIn: coded) { return fault }
      guard !isPaused else {
        backlog.append(piece)
        return .rest
      }
      return .write(piece)
    }
  }

  /// URLSession says that all has come.
  mutating func finish() -> Step {
    switch state {
    case .over: return .rest
    case .waiting, .asking:
      return fail(.malformedResponse, "URLSession brought an end without an answer.", cancels: false)
    case .receiving:
      hasCome = true
      return isPaused ? .rest : end()
    }
  }

  /// The exchange ends with an error: URLSession's, the sink's, or a stop.
  mutating func fail(_ error: any Error, cancels: Bool) -> Step {
    if case .over = state { return .rest }
    close()
    return .fail(error, cancels: cancels)
  }

  // MARK: - What the sink says

  /// Where the body goes.
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

  /// It took a piece, and pauses where `goesOn` is false.
  mutating func wrote(goesOn: Bool) -> Step {
    guard !isOver else { return .rest }
    if goesOn { return next() }
    isPaused = true
    if isSuspended { return .rest }
    isSuspended = true
    return .pause
  }

  /// It can take more.
  mutating func resume() -> Step {
    guard !isOver, isPaused else { return .rest }
    isPaused = false
    return next()
  }

  /// It has put away all.
  mutating func sinkEnded() -> Step { isOver ? .rest : succeed() }

  // MARK: -

  /// What was kept while the sink paused, then what URLSession has still to bring.
  private mutating func next() -> Step {
    if !backlog.isEmpty { return .write(backlog.removeFirst()) }
    if hasCome { return end() }
    guard isSuspended else { return .rest }
    isSuspended = false
    return .goOn
  }

  private mutating func end() -> Step {
    if let announced, received < announced {
      return fail(.truncated, "The body of the answer ended before its announced end.", cancels: false)
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
