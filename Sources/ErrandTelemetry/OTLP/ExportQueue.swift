/// The spans that wait to be sent, and the decision when to send them. It is a pure state machine; ``OTLPExporter``
/// guards it with a lock and carries out its actions.
struct ExportQueue: Sendable {
  /// What the exporter must do after a change.
  enum Action: Sendable, Hashable {
    /// Nothing.
    case none
    /// Set a timer for the interval, and call ``timerFired()`` when it fires.
    case setTimer
    /// Send what waits, until ``next()`` returns nothing.
    case send
  }

  /// The limits of an export.
  struct Limits: Sendable, Hashable {
    /// The number of spans at which they are sent without waiting for the timer.
    var batch: Int
    /// The largest number of spans that wait. Further spans are dropped.
    var queue: Int
  }

  let limits: Limits
  private(set) var waiting: [Span] = []
  /// The number of spans that were dropped because the queue was full or closed.
  private(set) var dropped = 0
  private(set) var isSending = false
  private var isTimerSet = false
  private(set) var isClosed = false
  /// The number of the first waiting spans that must be sent even if they fill no batch. Spans that arrive later do not
  /// belong to them, so that sending ends under a constant load and batches stay full.
  private var due = 0
  /// The number of spans that ``next()`` has returned.
  private(set) var taken = 0
  /// The number of spans that the queue has accepted.
  var accepted: Int { taken &+ waiting.count }

  init(_ limits: Limits) { self.limits = limits }

  /// Adds a span, or drops it if the queue is full or closed.
  mutating func add(_ span: Span) -> Action {
    guard !isClosed, waiting.count < limits.queue else {
      dropped += 1
      return .none
    }
    waiting.append(span)
    if waiting.count >= limits.batch { return begin() }
    if isTimerSet || isSending { return .none }
    isTimerSet = true
    return .setTimer
  }

  /// The interval has passed.
  mutating func timerFired() -> Action {
    isTimerSet = false
    return flush()
  }

  /// Sends the spans of this moment, whatever their number.
  mutating func flush() -> Action {
    due = waiting.count
    return begin()
  }

  /// No more spans are accepted.
  mutating func close() { isClosed = true }

  private mutating func begin() -> Action {
    if isSending { return .none }
    isSending = true
    return .send
  }

  /// The next spans to send, removed from the queue; empty if sending ends now.
  mutating func next() -> [Span] {
    guard !waiting.isEmpty, due > 0 || waiting.count >= limits.batch else {
      isSending = false
      return []
    }
    let batch = Array(waiting.prefix(max(limits.batch, 1)))
    waiting.removeFirst(batch.count)
    due = max(due - batch.count, 0)
    taken &+= batch.count
    return batch
  }

  /// The timer that is needed for the spans that wait after sending has ended.
  mutating func timerIfNeeded() -> Action {
    if waiting.isEmpty || isTimerSet || isSending { return .none }
    isTimerSet = true
    return .setTimer
  }
}

/// Divides encoded spans among requests.
enum ExportSplit {
  /// The ranges of spans whose bodies have at most `limit` bytes each. A single span that is longer is in no range.
  static func ranges(_ sizes: [Int], limit: Int) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var (start, bytes) = (0, 0)
    for (place, size) in sizes.enumerated() {
      if size > limit || bytes + size + 1 > limit {
        if start < place { ranges.append(start..<place) }
        (start, bytes) = (size > limit ? place + 1 : place, 0)
      }
      if size <= limit { bytes += size + 1 }
    }
    if start < sizes.count { ranges.append(start..<sizes.count) }
    return ranges
  }
}
